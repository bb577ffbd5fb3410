"""New workers are prepared beside the old ones, which serve until they are replaced at once."""

import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard import limits
from dashboard.records.request import Request

PATIENCE = 120  # seconds; a busy machine may start a process slowly
CATALOGUE = Request.make("catalogue")


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


class Gate:
    """What the workers of a pool find in their folder, and what they wrote there."""

    def __init__(self, folder):
        self.folder = folder
        self.write("code", "old")

    def write(self, name, text=""):
        (self.folder / name).write_text(text)

    def remove(self, name):
        (self.folder / name).unlink()

    def pids(self, name):
        path = self.folder / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)


@pytest.fixture
def gated(make_local_pool, gate):
    """A pool whose workers all live."""
    made = []

    def make(workers=1):
        folder = {"PYTHONPATH": str(Path(__file__).parent), "GATE": str(gate.folder)}
        pool = make_local_pool(workers, tasks="gated_tasks", environment=folder)
        made.append(pool)
        assert pool.wait(pool.submit(Request.make("uncacheable")), PATIENCE).stage == "done"
        until(lambda: len(gate.pids("loaded")) == workers)  # a process alone has no code yet
        return pool

    yield make
    for pool in made:  # now, so that no worker of theirs competes with the next test's
        pool.close()


@pytest.fixture
def ask(request_for):
    """The process that answers a request which no other has asked."""
    numbers = iter(range(10_000))

    def one(pool, task="echo", **options):
        event = pool.wait(pool.submit(request_for(task, n=next(numbers), **options)), PATIENCE)
        assert event.stage == "done", event.note
        return event.result.facts["pid"]

    return one


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def watched(pool):
    """The numbers of workers that the pool had at any moment of the context."""
    found, over = [], threading.Event()

    def watch():
        while not over.is_set():
            found.append(pool.capacity().workers)
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def test_the_old_workers_answer_until_all_new_ones_are_ready(gated, gate, ask):
    pool = gated(2)
    old = set(pool.capacity().processes)
    gate.write("code", "new")
    gate.write("closed")
    with watched(pool) as workers:
        job = pool.renew(CATALOGUE)
        until(lambda: gate.pids("begun"))
        assert {ask(pool) for _ in range(6)} <= old
        assert pool.wait(job, 0) is None
        gate.remove("closed")
        event = pool.wait(job, PATIENCE)
        new = {ask(pool) for _ in range(6)}
        until(lambda: not any(map(lives, old)))
    assert event.result.facts["code"] == "new"
    assert len(set(gate.pids("done"))) == 2
    assert new <= set(gate.pids("done"))
    assert min(workers) >= 2
    assert max(workers) == 2  # a worker that prepares itself does no job
    assert set(pool.capacity().processes) == set(gate.pids("done"))


def test_no_result_of_an_old_worker_is_given_for_a_new_ones(gated, gate, request_for, tmp_path):
    pool, echo = gated(), request_for("echo", n="same")
    sleep = request_for("count", file=str(tmp_path / "ran"), seconds=4.0)
    old = pool.wait(pool.submit(echo), PATIENCE).result.facts["pid"]
    gate.write("closed")
    job = pool.renew(CATALOGUE)
    until(lambda: gate.pids("begun"))
    assert pool.wait(pool.submit(echo), 0).result.facts["pid"] == old  # from the cache
    running = pool.submit(sleep)
    until(lambda: pool.capacity().running)
    gate.remove("closed")
    assert pool.wait(job, PATIENCE).stage == "done"
    assert pool.wait(running, 0) is None
    again = pool.submit(sleep)
    assert pool.wait(pool.submit(echo), PATIENCE).result.facts["pid"] != old
    assert pool.wait(running, PATIENCE).stage == "done"
    assert pool.wait(again, PATIENCE).stage == "done"
    assert (tmp_path / "ran").read_text() == "ran\nran\n"
    until(lambda: not lives(old))


def test_running_jobs_of_old_workers_hinder_no_new_one(gated, request_for, ask):
    pool = gated(2)
    old = set(pool.capacity().processes)
    requests = [request_for("sleep", seconds=PATIENCE, n=n) for n in range(2)]
    long = [pool.submit(request, client="a", work=99.0) for request in requests]
    until(lambda: pool.capacity().running == 2)
    assert pool.wait(pool.renew(CATALOGUE), PATIENCE).stage == "done"
    assert ask(pool) not in old
    assert [[event.stage for event in pool.events(job)] for job in long] == [
        ["queued", "started"]
    ] * 2  # none gave way
    assert [load.seconds is not None for load in pool.loads()] == [True, True]
    assert pool.capacity().workers == 4  # two of them finish what they have
    for job in long:
        pool.cancel(job)
    assert [pool.wait(job, PATIENCE).stage for job in long] == ["cancelled"] * 2
    until(lambda: not any(map(lives, old)))
    assert pool.capacity().workers == 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("broken", "no worker starts: ImportError: the new code cannot be imported"),
        ("failing", "the plugins cannot be listed"),
        ("crashing", "about to crash"),
    ],
)
def test_the_old_workers_stay_where_new_ones_cannot(gated, gate, ask, fault, words):
    pool = gated(2)
    old = set(pool.capacity().processes)
    gate.write(fault)
    with watched(pool) as workers:
        job = pool.renew(CATALOGUE)
        event = pool.wait(job, PATIENCE)
        assert event.stage == "failed"
        assert words in event.note
        until(lambda: set(pool.capacity().processes) == old)
        assert {ask(pool) for _ in range(4)} <= old
    assert min(workers) == 2
    gate.remove(fault)
    assert pool.wait(pool.renew(CATALOGUE), PATIENCE).stage == "done"


def test_new_workers_that_take_too_long_are_given_up(gated, gate, ask, monkeypatch):
    pool = gated()
    (old,) = pool.capacity().processes
    monkeypatch.setattr(pool, "_time_limit", 0.3)
    gate.write("closed")
    event = pool.wait(pool.renew(CATALOGUE), PATIENCE)
    assert event.stage == "failed"
    assert "0.3 s" in event.note
    assert ask(pool) == old


def test_one_renewal_at_a_time_and_it_can_be_cancelled(gated, gate, ask):
    pool = gated()
    (old,) = pool.capacity().processes
    gate.write("closed")
    job = pool.renew(CATALOGUE)
    with pytest.raises(RuntimeError, match="being renewed"):
        pool.renew(CATALOGUE)
    until(lambda: gate.pids("begun"))
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"
    assert ask(pool) == old
    until(lambda: pool.capacity().processes == (old,))


def test_a_renewal_is_cancelled_before_it_has_a_worker(gated, request_for):
    pool = gated()
    long = pool.submit(request_for("sleep", seconds=PATIENCE))
    until(lambda: pool.capacity().running)
    assert pool.wait(pool.renew(CATALOGUE), PATIENCE).stage == "done"
    second = pool.renew(CATALOGUE)
    pool.cancel(second)
    assert pool.wait(second, 0).stage == "cancelled"
    pool.cancel(long)
    assert pool.wait(pool.renew(CATALOGUE), PATIENCE).stage == "done"


def test_there_are_never_more_than_two_generations(gated, request_for):
    pool = gated()
    long = pool.submit(request_for("sleep", seconds=PATIENCE))
    until(lambda: pool.capacity().running)
    assert pool.wait(pool.renew(CATALOGUE), PATIENCE).stage == "done"
    two = set(pool.capacity().processes)
    job = pool.renew(CATALOGUE)
    assert "finishing their jobs" in pool.events(job)[-1].note
    time.sleep(0.3)
    assert set(pool.capacity().processes) == two
    pool.cancel(long)
    assert pool.wait(job, PATIENCE).stage == "done"


def test_where_memory_is_short_workers_are_replaced_one_by_one(
    gated, gate, ask, request_for, monkeypatch
):
    pool = gated(3)
    old = set(pool.capacity().processes)
    long = pool.submit(request_for("sleep", seconds=PATIENCE))
    until(lambda: pool.capacity().running)
    monkeypatch.setattr(limits, "free_memory", lambda: 1500.0)
    most = []
    with watched(pool) as workers:
        job = pool.renew(CATALOGUE)
        while pool.wait(job, 0.01) is None:
            most.append(len(pool.capacity().processes))
        assert ask(pool) not in old
        until(lambda: len(set(pool.capacity().processes) - old) == 2)
        time.sleep(0.3)
        assert len(pool.capacity().processes) == 3  # the third waits for the one that is busy
        pool.cancel(long)
        until(lambda: len(set(pool.capacity().processes) - old) == 3)
    assert max(most) == 4
    assert min(workers) >= 1
    assert len(gate.pids("done")) == 1


def test_a_plugin_that_ends_new_workers_is_left_out_of_them(make_pool):
    pool = make_pool(2, tasks="plugin_tasks")
    load = Request.make("load", options={"plugins": "fine crash"})
    event = pool.wait(pool.renew(load), PATIENCE)
    assert event.result.facts["loaded"] == ["fine"]
    assert pool.wait(pool.submit(load), PATIENCE).result.facts["loaded"] == ["fine"]
    kept = pool._supervisor._crew.quarantine.arguments()
    fine = Request.make("load", options={"plugins": "fine"})
    assert pool.wait(pool.renew(fine), PATIENCE).stage == "done"
    assert pool._supervisor._crew.quarantine.arguments() == kept
    assert pool.wait(pool.renew(fine, retry_quarantined=True), PATIENCE).stage == "done"
    assert pool._supervisor._crew.quarantine.arguments() == []
    pool.close()


def test_a_pool_is_closed_while_it_renews_its_workers(gated, gate):
    pool = gated()
    gate.write("closed")
    job = pool.renew(CATALOGUE)
    until(lambda: gate.pids("begun"))
    found = pool.capacity().processes
    pool.close()
    assert pool.wait(job, 0).stage == "cancelled"
    until(lambda: not any(map(lives, found)))
    with pytest.raises(RuntimeError, match="closed"):
        pool.renew(CATALOGUE)
