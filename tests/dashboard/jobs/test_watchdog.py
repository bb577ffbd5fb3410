"""The timeouts of workers, on a clock that stands still until it is moved."""

import math
import threading

import pytest

from dashboard.jobs import watchdog as module
from dashboard.jobs.process import PluginSource
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.watchdog import Timeouts, Watchdog, WorkerState
from dashboard.records.request import Request

TIMEOUTS = Timeouts(start=101, grace=5, silence=61, plugin=31)
TIME_LIMIT = 127
STACK = 'Stack (most recent call first):\n  File "/site/kernel.py", line 7 in forward\n'


class Process:
    """Records what is done to it."""

    def __init__(self):
        self.actions = []

    def send(self, header):
        self.actions.append(header["type"])

    def dump_stack(self):
        self.actions.append("dump")

    def kill(self):
        self.actions.append("kill")


class Clock:
    now = 1009.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


@pytest.fixture
def worker(clock):
    """A worker that accepted a job just now."""
    scheduler = Scheduler(0)
    scheduler.submit(Request.make("regression", scoring="cosine"), TIME_LIMIT)
    computation = scheduler.queue.take()
    computation.started = clock.now
    return WorkerState(process=Process(), computation=computation, last_message=clock.now)


@pytest.fixture
def watchdog(worker):
    return Watchdog([worker], TIMEOUTS, Scheduler(0), threading.RLock())


@pytest.fixture
def after(clock, worker, watchdog):
    """Move the clock and check the worker; seconds to the next check, and what was done to it."""

    def check(seconds):
        clock.now += seconds
        watchdog._check(worker)
        actions, worker.process.actions = worker.process.actions, []
        return worker.check_at - clock.now, actions

    return check


def test_every_message_restarts_the_silence_timeout(clock, worker, after):
    assert after(60) == (1, [])
    worker.last_message = clock.now
    assert after(47) == (14, [])
    worker.last_message = clock.now
    assert after(13) == (TIME_LIMIT - 120, [])  # the time limit comes before silence


def test_a_silent_job_dumps_its_stack_is_asked_to_stop_and_killed(worker, after):
    assert after(61) == (5, ["dump", "stop"])
    worker.computation.describe_failure(STACK, {"kernels": ["/site/kernel.py"]})
    note, facts = worker.computation.failure
    assert "for 61 s without a sign of life in kernels and was stopped (kernel.py, line 7" in note
    assert facts["culprit"] == "kernels"
    assert after(5) == (math.inf, ["kill"])


def test_a_job_over_its_time_limit_is_stopped_even_if_it_reports(clock, worker, after):
    for _ in range(3):
        worker.last_message = clock.now
        after(41)
    worker.last_message = clock.now
    assert after(4) == (5, ["dump", "stop"])
    worker.computation.describe_failure("", {})
    assert worker.computation.failure[1] == {"time_limit": TIME_LIMIT}


def test_while_a_plugin_is_loaded_only_its_limit_counts(clock, worker, watchdog, after):
    worker.loading = PluginSource("p", "d")
    worker.last_message = clock.now + 53
    clock.now += 53
    watchdog.follow(worker)
    assert worker.check_at == clock.now + 31
    assert after(30) == (1, [])
    seconds, actions = after(1)
    assert (seconds < 1, actions, worker.plugin_timed_out) == (True, ["dump"], True)
    assert after(seconds) == (math.inf, ["kill"])


def test_a_message_does_not_prolong_the_grace_period(clock, worker, watchdog):
    watchdog.stop(worker, worker.computation, "cancelled")
    worker.loading, worker.last_message = PluginSource("p", "d"), clock.now
    watchdog.follow(worker)
    assert worker.check_at == clock.now + 5
    assert worker.process.actions == ["stop"]


def test_what_gives_way_has_two_seconds_as_somebody_waits(clock, worker, watchdog, after):
    worker.computation.giving_way = True
    watchdog.give_way(worker, worker.computation)
    watchdog.follow(worker)  # a message does not prolong it
    assert (worker.check_at - clock.now, worker.process.actions) == (2, ["stop"])
    worker.process.actions = []
    assert after(2) == (math.inf, ["kill"])


def test_what_did_not_begin_is_not_asked_to_stop(worker, watchdog):
    worker.computation.started = None
    watchdog.stop(worker, worker.computation, "cancelled")
    assert worker.process.actions == []


def test_a_worker_that_does_not_start_or_accept_is_killed(worker, after):
    worker.computation.started = None
    assert after(101) == (math.inf, ["kill"])
    worker.computation = None
    assert after(1) == (math.inf, ["kill"])


def test_an_equal_request_does_not_join_a_job_that_is_being_stopped(clock):
    scheduler, request = Scheduler(0), Request.make("regression", scoring="cosine")
    scheduler.submit(request, TIME_LIMIT)
    stopped = scheduler.queue.take()
    stopped.started = clock.now
    worker = WorkerState(process=Process(), computation=stopped)
    watchdog = Watchdog([worker], TIMEOUTS, scheduler, threading.RLock())
    watchdog.stop(worker, stopped, "cancelled")
    again = scheduler.submit(request, TIME_LIMIT)
    (computation,) = scheduler.queue
    assert computation is not stopped
    assert [job.id for job in computation.jobs] == [again.id]
