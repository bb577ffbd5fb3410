"""Fair work with real workers: turns, sessions that are gone, long computations that give way."""

import time

from dashboard.jobs.backend import Wait
from dashboard.jobs.fair_queue import LONG_WORK
from dashboard.jobs.pool import Sweeper

PATIENCE = 120  # seconds
LONG = 2 * LONG_WORK


def started(pool, *jobs):
    """Wait until they run."""
    end = time.monotonic() + PATIENCE
    while not all(any(e.stage == "started" for e in pool.events(job)) for job in jobs):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_another_session_is_served_between_the_requests_of_one(single, request_for):
    first = single.submit(request_for("sleep", seconds=0.5), client="a")
    started(single, first)
    many = [single.submit(request_for("uncacheable", n=n), client="a") for n in range(3)]
    other = single.submit(request_for("uncacheable", n=7), client="b")
    times = [single.wait(job, PATIENCE).result.facts["time"] for job in (*many, other)]
    assert times[0] < times[3] < times[1] < times[2]


def test_who_waits_is_told_how_many_are_before(single, request_for):
    running = single.submit(request_for("sleep", seconds=60), client="a")
    started(single, running)
    before = [single.submit(request_for("echo", n=n), client="ab"[n]) for n in range(2)]
    mine = single.submit(request_for("echo", n=2), client="c")
    assert single.wait_ahead(mine) == Wait(before=2)
    assert single.wait_ahead(running) is None
    for job in (*before, mine, running):
        single.cancel(job)
    single.wait(running, PATIENCE)


def test_jobs_of_a_closed_tab_end_and_those_that_others_share_go_on(pool, request_for, tmp_path):
    there, gate = {"b"}, tmp_path / "open"
    shared = request_for("count_until", file=str(tmp_path / "ran"), gate=str(gate))
    of_a = pool.submit(shared, client="a")
    of_b = pool.submit(shared, client="b")
    alone = pool.submit(request_for("sleep", seconds=60), client="a")
    queued = pool.submit(request_for("sleep", seconds=61), client="a")
    started(pool, of_a, alone)
    assert pool.clients() == ["a", "b"]
    sweeper = Sweeper(pool, lambda client: client in there, 0.05)
    sweeper.start()
    events = [pool.wait(job, PATIENCE) for job in (of_a, alone, queued)]
    sweeper.close()
    assert [event.stage for event in events] == ["cancelled"] * 3
    assert all(event.facts == {"abandoned": True} for event in events)
    gate.touch()
    assert pool.wait(of_b, PATIENCE).stage == "done"
    assert pool.clients() == []


def test_a_page_that_is_loaded_again_in_time_keeps_its_computation(pool, request_for, tmp_path):
    request = request_for("count", file=str(tmp_path / "ran"), seconds=0.8)
    before = pool.submit(request, client="tab")
    started(pool, before)
    after = pool.submit(request, client="tab, loaded again")
    pool.leave("tab")
    assert pool.wait(before, 0).stage == "cancelled"
    assert pool.wait(after, PATIENCE).stage == "done"
    assert (tmp_path / "ran").read_text() == "ran\n"


def test_long_ones_give_way_to_a_short_one_and_are_done_afterwards(
    make_pool, request_for, tmp_path
):
    pool = make_pool(2)
    files = [tmp_path / "first", tmp_path / "second"]
    long = []
    for file in files:
        request = request_for("count_until", file=str(file), gate=str(tmp_path / "open"))
        long.append(pool.submit(request, client="a", work=LONG))
        started(pool, long[-1])
    short = pool.submit(request_for("echo", n=11), client="b")
    assert pool.wait(short, PATIENCE).stage == "done"
    assert [pool.wait(job, 0) for job in long] == [None, None]
    (tmp_path / "open").touch()
    assert [pool.wait(job, PATIENCE).stage for job in long] == ["done", "done"]
    assert [file.read_text() for file in files] == ["ran\n", "ran\nran\n"]
    stages = [event.stage for event in pool.events(long[1])]
    assert stages == ["queued", "started", "queued", "started", "done"]


def test_one_that_does_not_stop_is_killed_and_queued_again(make_pool, request_for):
    limit = 2 * PATIENCE  # a busy cluster takes a minute for another worker
    pool = make_pool(2, silence=limit)
    long = [
        pool.submit(request_for("hang", n=n), client="a", work=LONG, time_limit=limit)
        for n in range(2)
    ]
    started(pool, *long)
    short = pool.submit(request_for("echo", n=13), client="b")
    assert pool.wait(short, PATIENCE).stage == "done"
    assert [pool.wait(job, 0) for job in long] == [None, None]
    for job in long:
        pool.cancel(job)
    assert {pool.wait(job, PATIENCE).stage for job in long} == {"cancelled"}


def test_a_result_that_is_there_or_on_its_way_is_known(pool, request_for):
    request = request_for("echo", n=17)
    assert not pool.has(request)
    job = pool.submit(request)
    assert pool.has(request)
    pool.wait(job, PATIENCE)
    assert pool.has(request)


def test_how_long_it_takes_is_estimated_from_what_was_done(pool, request_for):
    asked = [(request_for("sleep", scoring="cosine", seconds=1.2), 4.0)] * 3
    assert pool.estimate(asked) is None
    took = 0.0
    for n in range(2):
        request, began = request_for("sleep", scoring="cosine", seconds=0.6, n=n), time.monotonic()
        pool.wait(pool.submit(request, work=2.0), PATIENCE)
        took = max(took, time.monotonic() - began)
    # Three times twice of what one of them took, on two workers. Each slept for 0.6 s, less the
    # time until its pool heard that it had begun.
    assert 1.5 < pool.estimate(asked) <= 3 * took
