"""Patience with workers, on a clock that stands still until it is moved."""

import math
import threading

import pytest

from dashboard.engine import deadlines as module
from dashboard.engine.deadlines import Deadlines
from dashboard.engine.ledger import Ledger
from dashboard.engine.post import Patience, Post
from dashboard.engine.quarantine import Suspect
from dashboard.runs.request import Request

PATIENCE = Patience(start=101, grace=5, silence=61, plugin=31)
TIME_LIMIT = 127
STACK = 'Stack (most recent call first):\n  File "/site/kernel.py", line 7 in forward\n'


class Worker:
    """Remembers what it is told."""

    def __init__(self):
        self.told = []

    def send(self, header):
        self.told.append(header["say"])

    def dump(self):
        self.told.append("dump")

    def kill(self):
        self.told.append("kill")


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
def post(clock):
    """A worker that accepted a job just now."""
    ledger = Ledger(0)
    ledger.submit(Request.make("regression", scoring="cosine"), TIME_LIMIT)
    task = ledger.queue.popleft()
    task.started = clock.now
    return Post(worker=Worker(), generation=0, task=task, heard=clock.now)


@pytest.fixture
def deadlines(post):
    return Deadlines([post], PATIENCE, Ledger(0), threading.RLock())


@pytest.fixture
def after(clock, post, deadlines):
    """Move the clock, look after the worker; seconds until the next look, and what it was told."""

    def look(seconds):
        clock.now += seconds
        deadlines._expire(post)
        told, post.worker.told = post.worker.told, []
        return post.deadline - clock.now, told

    return look


def test_every_sign_of_life_starts_the_clock_anew(clock, post, after):
    assert after(60) == (1, [])
    post.heard = clock.now
    assert after(47) == (14, [])
    post.heard = clock.now
    assert after(13) == (TIME_LIMIT - 120, [])  # the time limit comes before silence


def test_a_silent_job_says_where_it_is_is_asked_to_stop_and_killed(post, after):
    assert after(61) == (5, ["dump", "stop"])
    post.task.explain(STACK, {"kernels": ["/site/kernel.py"]})
    note, facts = post.task.fault
    assert "for 61 s without a sign of life in kernels and was stopped (kernel.py, line 7" in note
    assert facts["culprit"] == "kernels"
    assert after(5) == (math.inf, ["kill"])


def test_a_job_over_its_time_limit_says_so_even_if_it_reports(clock, post, after):
    for _ in range(3):
        post.heard = clock.now
        after(41)
    post.heard = clock.now
    assert after(4) == (5, ["dump", "stop"])
    post.task.explain("", {})
    assert post.task.fault[1] == {"time_limit": TIME_LIMIT}


def test_while_a_plugin_is_loaded_only_its_limit_counts(clock, post, deadlines, after):
    post.suspect = Suspect("p", "d")
    post.heard = clock.now + 53
    clock.now += 53
    deadlines.follow(post)
    assert post.deadline == clock.now + 31
    assert after(30) == (1, [])
    seconds, told = after(1)
    assert (seconds < 1, told, post.condemned) == (True, ["dump"], True)
    assert after(seconds) == (math.inf, ["kill"])


def test_what_a_worker_says_does_not_prolong_its_grace(clock, post, deadlines):
    deadlines.stop(post, "cancelled")
    post.suspect, post.heard = Suspect("p", "d"), clock.now
    deadlines.follow(post)
    assert post.deadline == clock.now + 5
    assert post.worker.told == ["stop"]


def test_a_worker_that_does_not_start_or_accept_is_killed(post, after):
    post.task.started = None
    assert after(101) == (math.inf, ["kill"])
    post.task = None
    assert after(1) == (math.inf, ["kill"])
