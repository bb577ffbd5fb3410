import math
import time

import pytest

from dashboard.jobs.job import MOST_COST, USUAL_COST
from dashboard.jobs.scheduler import Scheduler
from dashboard.records.request import Request, Result


@pytest.fixture
def scheduler():
    return Scheduler(1000, 2, max_jobs=5, max_bytes=200)


def numbered(n):
    return Request.make("echo", options={"n": n})


def finish(scheduler, n, size=1):
    job = scheduler.submit(numbered(n), 7.0)
    scheduler.finish(scheduler.queue.take(), "done", size, result=Result())
    return job


def test_equal_requests_share_a_computation_but_not_a_job(scheduler):
    first, second = scheduler.submit(numbered(2), 7.0), scheduler.submit(numbered(2), 7.0)
    other = scheduler.submit(numbered(3), 7.0)
    assert len({first.id, second.id, other.id}) == 3
    assert len(scheduler.queue) == 2
    scheduler.finish(scheduler.queue.take(), "done", 1, result=Result())
    assert first.final.stage == second.final.stage == "done"
    assert other.final is None


def test_a_finished_request_is_answered_without_a_computation(scheduler):
    finish(scheduler, 2)
    job = scheduler.submit(numbered(2), 7.0)
    assert job.final.stage == "done"
    assert job.final.number == 1
    assert not len(scheduler.queue)
    assert scheduler.find(job.id) is job


def test_a_failure_is_not_cached(scheduler):
    scheduler.submit(numbered(2), 7.0)
    scheduler.finish(scheduler.queue.take(), "failed", note="why")
    assert scheduler.submit(numbered(2), 7.0).final is None
    assert len(scheduler.queue) == 1


def test_the_oldest_finished_jobs_are_forgotten_by_number(scheduler):
    waiting = scheduler.submit(numbered(0), 7.0)
    zero = scheduler.queue.take()
    jobs = [finish(scheduler, n) for n in range(2, 9)]
    for job in jobs[:2]:
        with pytest.raises(KeyError, match="may have been forgotten"):
            scheduler.find(job.id)
    assert all(scheduler.find(job.id) is job for job in jobs[2:])
    assert scheduler.find(waiting.id) is waiting
    scheduler.finish(zero, "failed")


def test_the_oldest_finished_jobs_are_forgotten_by_size_but_never_the_newest(scheduler):
    first, second, third = (finish(scheduler, n, size=97) for n in (2, 3, 5))
    with pytest.raises(KeyError):
        scheduler.find(first.id)
    assert scheduler.find(second.id) is second
    huge = finish(scheduler, 7, size=499)
    assert scheduler.find(huge.id) is huge
    with pytest.raises(KeyError):
        scheduler.find(third.id)


def test_an_answer_from_the_cache_counts_with_its_size(scheduler):
    first = finish(scheduler, 2, size=97)
    answers = [scheduler.submit(numbered(2), 7.0) for _ in range(2)]
    with pytest.raises(KeyError):
        scheduler.find(first.id)
    assert scheduler.find(answers[0].id) is answers[0]


def test_a_result_of_what_was_cancelled_takes_no_room(scheduler):
    first = finish(scheduler, 2, size=97)
    for number in (3, 5):
        scheduler.submit(numbered(number), 7.0)
        computation = scheduler.queue.take()
        computation.stopping = "cancelled"
        scheduler.finish(computation, "done", 97, result=Result())
    assert scheduler.find(first.id) is first


def test_the_end_of_a_cancelled_job_says_why_whether_it_waited_or_ran(scheduler):
    waits, runs = scheduler.submit(numbered(2), 7.0), scheduler.submit(numbered(3), 7.0)
    scheduler.cancel(waits.id, {"abandoned": True})
    running = scheduler.queue.take()
    assert scheduler.cancel(runs.id, {"abandoned": True}) is running
    running.stopping = "cancelled"
    scheduler.finish(running, "cancelled")
    assert waits.final.facts == runs.final.facts == {"abandoned": True}


def test_cancelling_a_queued_job_takes_it_out_of_the_queue(scheduler):
    job = scheduler.submit(numbered(2), 7.0)
    assert scheduler.cancel(job.id) is None
    assert job.final.stage == "cancelled"
    assert not len(scheduler.queue)
    assert scheduler.submit(numbered(2), 7.0).final is None


def test_cancelling_one_of_two_leaves_the_other_queued(scheduler):
    first, second = scheduler.submit(numbered(2), 7.0), scheduler.submit(numbered(2), 7.0)
    assert scheduler.cancel(first.id) is None
    assert first.final.stage == "cancelled"
    assert second.final is None
    assert [job.id for job in scheduler.queue.next().jobs] == [second.id]


def test_a_job_alone_with_a_running_computation_must_wait_for_its_end(scheduler):
    job = scheduler.submit(numbered(2), 7.0)
    running = scheduler.queue.take()
    assert scheduler.cancel(job.id) is running
    assert job.final is None


def test_cancelling_what_is_finished_or_unknown_changes_nothing(scheduler):
    job = finish(scheduler, 2)
    assert scheduler.cancel(job.id) is None
    assert scheduler.cancel("unknown") is None
    assert job.final.stage == "done"


def test_a_cancelled_computation_ends_as_cancelled_whatever_its_worker_answered(scheduler):
    job = scheduler.submit(numbered(2), 7.0)
    computation = scheduler.queue.take()
    computation.stopping = "cancelled"
    scheduler.finish(computation, "done", 1, result=Result())
    assert (job.final.stage, job.final.result) == ("cancelled", None)


@pytest.mark.parametrize("answer", ["cancelled", "failed"])
def test_a_computation_over_its_time_limit_fails_with_a_note(scheduler, answer):
    job = scheduler.submit(numbered(2), 7.0)
    computation = scheduler.queue.take()
    computation.stopping = "failed"
    scheduler.finish(computation, answer)
    assert job.final.stage == "failed"
    assert "took longer than 7 s and was stopped" in job.final.note
    assert job.final.facts == {"time_limit": 7.0}


def test_a_computation_that_is_no_longer_shared_is_not_joined_or_cached(scheduler):
    job = scheduler.submit(numbered(2), 7.0)
    old = scheduler.queue.take()
    scheduler.stop_sharing(old)
    newer = scheduler.submit(numbered(2), 7.0)
    scheduler.finish(old, "done", 1, result=Result())
    assert job.final.stage == "done"
    assert newer.final is None
    assert scheduler.submit(numbered(2), 7.0).final is None
    assert len(scheduler.queue) == 1


@pytest.mark.parametrize(
    ("long_work", "work", "cost"),
    [
        (5.0, 0.0, 0.17),
        (5.0, 0.5, 0.5),
        (5.0, 2.0, MOST_COST),
        (math.inf, 0.0, USUAL_COST),
        (math.inf, 2.0, USUAL_COST),
    ],
)
def test_a_computation_costs_what_is_known_of_it_where_costs_count(long_work, work, cost):
    scheduler = Scheduler(0, long_work=long_work)
    for seconds in (0.01, 0.17, 170.0):  # too far apart to promise anything
        scheduler.durations.note(numbered(2), 0.0, seconds)
    scheduler.submit(numbered(2), 7.0, "ada", work)
    assert scheduler.queue.next().cost == cost


def test_only_what_is_done_says_how_long_such_a_request_takes(scheduler):
    for stage, known in (("failed", False), ("done", True)):
        scheduler.submit(numbered(2), 7.0)
        taken = scheduler.queue.take()
        taken.started = time.monotonic() - 5.0
        scheduler.finish(taken, stage, **({"result": Result()} if known else {"note": "no"}))
        assert (scheduler.durations.typical(numbered(2), 0.0) > 0) is known
