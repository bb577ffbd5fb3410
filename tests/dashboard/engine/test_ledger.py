import pytest

from dashboard.engine.ledger import Ledger
from dashboard.runs.request import Request
from dashboard.runs.result import Result


@pytest.fixture
def ledger():
    return Ledger(1000, jobs_kept=5, bytes_kept=200)


def numbered(n):
    return Request.make("echo", options={"n": n})


def finish(ledger, n, size=1):
    job = ledger.submit(numbered(n), 7.0)
    ledger.conclude(ledger.queue.popleft(), "done", size, result=Result())
    return job


def test_equal_requests_share_a_computation_but_not_a_job(ledger):
    first, second = ledger.submit(numbered(2), 7.0), ledger.submit(numbered(2), 7.0)
    other = ledger.submit(numbered(3), 7.0)
    assert len({first.id, second.id, other.id}) == 3
    assert len(ledger.queue) == 2
    ledger.conclude(ledger.queue.popleft(), "done", 1, result=Result())
    assert first.final.stage == second.final.stage == "done"
    assert other.final is None


def test_a_finished_request_is_answered_without_a_computation(ledger):
    finish(ledger, 2)
    job = ledger.submit(numbered(2), 7.0)
    assert job.final.stage == "done"
    assert job.final.number == 1
    assert not ledger.queue
    assert ledger.find(job.id) is job


def test_a_failure_is_not_kept(ledger):
    ledger.submit(numbered(2), 7.0)
    ledger.conclude(ledger.queue.popleft(), "failed", note="why")
    assert ledger.submit(numbered(2), 7.0).final is None
    assert len(ledger.queue) == 1


def test_the_oldest_finished_jobs_are_forgotten_by_number(ledger):
    waiting = ledger.submit(numbered(0), 7.0)
    zero = ledger.queue.popleft()
    jobs = [finish(ledger, n) for n in range(2, 9)]
    for job in jobs[:2]:
        with pytest.raises(KeyError, match="may have been forgotten"):
            ledger.find(job.id)
    assert all(ledger.find(job.id) is job for job in jobs[2:])
    assert ledger.find(waiting.id) is waiting
    ledger.conclude(zero, "failed")


def test_the_oldest_finished_jobs_are_forgotten_by_size_but_never_the_newest(ledger):
    first, second, third = (finish(ledger, n, size=97) for n in (2, 3, 5))
    with pytest.raises(KeyError):
        ledger.find(first.id)
    assert ledger.find(second.id) is second
    huge = finish(ledger, 7, size=499)
    assert ledger.find(huge.id) is huge
    with pytest.raises(KeyError):
        ledger.find(third.id)


def test_cancelling_a_queued_job_takes_it_out_of_the_queue(ledger):
    job = ledger.submit(numbered(2), 7.0)
    assert ledger.cancel(job.id) is None
    assert job.final.stage == "cancelled"
    assert not ledger.queue
    assert ledger.submit(numbered(2), 7.0).final is None


def test_cancelling_one_of_two_leaves_the_other_queued(ledger):
    first, second = ledger.submit(numbered(2), 7.0), ledger.submit(numbered(2), 7.0)
    assert ledger.cancel(first.id) is None
    assert first.final.stage == "cancelled"
    assert second.final is None
    assert [job.id for job in ledger.queue[0].jobs] == [second.id]


def test_a_job_alone_with_a_running_computation_must_wait_for_its_end(ledger):
    job = ledger.submit(numbered(2), 7.0)
    running = ledger.queue.popleft()
    assert ledger.cancel(job.id) is running
    assert job.final is None


def test_cancelling_what_is_finished_or_unknown_changes_nothing(ledger):
    job = finish(ledger, 2)
    assert ledger.cancel(job.id) is None
    assert ledger.cancel("unknown") is None
    assert job.final.stage == "done"


def test_a_stopped_computation_ends_as_promised_whatever_its_worker_said(ledger):
    job = ledger.submit(numbered(2), 7.0)
    computation = ledger.queue.popleft()
    computation.stopping = "cancelled"
    ledger.conclude(computation, "done", 1, result=Result())
    assert (job.final.stage, job.final.result) == ("cancelled", None)


@pytest.mark.parametrize("said", ["cancelled", "failed"])
def test_a_computation_over_its_time_limit_says_so(ledger, said):
    job = ledger.submit(numbered(2), 7.0)
    computation = ledger.queue.popleft()
    computation.stopping = "failed"
    ledger.conclude(computation, said)
    assert job.final.stage == "failed"
    assert "took longer than 7 s and was stopped" in job.final.note
    assert job.final.facts == {"time_limit": 7.0}


def test_a_secluded_computation_is_not_joined_and_its_result_not_kept(ledger):
    job = ledger.submit(numbered(2), 7.0)
    old = ledger.queue.popleft()
    ledger.seclude(old)
    newer = ledger.submit(numbered(2), 7.0)
    ledger.conclude(old, "done", 1, result=Result())
    assert job.final.stage == "done"
    assert newer.final is None
    assert ledger.submit(numbered(2), 7.0).final is None
    assert len(ledger.queue) == 1
