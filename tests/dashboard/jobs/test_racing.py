from __future__ import annotations

import pytest

from dashboard.jobs.backend import Capacity, Event
from dashboard.jobs.racing import Racing


class Pool:
    """Two trainers that end when they are told to."""

    def __init__(self):
        self.asked, self.ends, self.clients = [], {}, []

    def capacity(self):
        return Capacity(workers=0, running=0, queued=0)  # none has started yet

    def submit(self, request, client=""):
        self.asked.append(request)
        self.clients.append(client)
        return str(len(self.asked))

    def wait(self, job, seconds):
        assert seconds == 0
        return self.ends.get(job)

    def cancel(self, job):
        self.ends.setdefault(job, Event(number=2, stage="cancelled"))


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def racing(pool, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAINERS", "2")
    return Racing(lambda: pool)


def test_every_trainer_works_on_a_race(racing, pool):
    racing.start("mine", "me")
    racing.start("mine", "me")
    assert [request.data for request in pool.asked] == ["mine", "mine"]
    hours = {"limit.seconds": 3600 * 6.0}
    assert [dict(request.options) for request in pool.asked] == [
        {"show": "run", "trainer": 0, **hours}, {"show": "run", "trainer": 1, **hours},
    ]  # fmt: skip
    assert pool.clients == ["me", "me"]


def test_it_runs_until_the_last_trainer_has_ended_and_goes_on_when_asked(racing, pool):
    assert not racing.running("mine")
    racing.start("mine")
    pool.ends["1"] = Event(number=2, stage="done")
    assert racing.running("mine")
    pool.ends["2"] = Event(number=2, stage="failed", note="no room")
    assert not racing.running("mine")
    assert racing.failure("mine").note == "no room"
    racing.start("mine")
    assert racing.running("mine")
    assert racing.failure("mine") is None
    assert len(pool.asked) == 4


def test_a_trainer_that_failed_is_said_once_the_others_have_ended(racing, pool):
    racing.start("mine")
    pool.ends["1"] = Event(number=2, stage="failed", note="no room")
    assert racing.failure("mine") is None
    pool.ends["2"] = Event(number=2, stage="done")
    assert racing.failure("mine").note == "no room"


def test_a_race_is_stopped_by_name_and_no_other_is(racing):
    racing.start("mine", "me")
    racing.start("yours", "you")
    racing.stop("mine")
    racing.stop("unknown")
    assert not racing.running("mine")
    assert racing.running("yours")
    assert racing.failure("mine") is None


def test_a_race_is_stopping_until_its_trainings_have_ended(racing, pool, monkeypatch):
    monkeypatch.setattr(pool, "cancel", lambda job: None)  # it takes a while
    racing.start("mine")
    assert not racing.stopping("mine")
    racing.stop("mine")
    assert racing.stopping("mine")
    pool.ends = dict.fromkeys("12", Event(number=2, stage="cancelled"))
    assert not racing.stopping("mine")
    racing.start("mine")
    assert not racing.stopping("mine")


def test_nobody_runs_two_at_once(racing, pool):
    racing.start("first", "me")
    with pytest.raises(ValueError, match="your race first runs already"):
        racing.start("second", "me")
    racing.start("third", "you")
    racing.stop("first")
    racing.start("second", "me")
    assert {request.data for request in pool.asked} == {"first", "second", "third"}


def test_no_more_races_run_than_there_are_trainers(racing, pool):
    racing.start("first", "me")
    racing.start("second", "you")
    with pytest.raises(ValueError, match="2 races run already"):
        racing.start("third", "them")
    racing.stop("second")
    racing.start("third", "them")
    assert racing.running("third")


def test_a_run_that_the_pool_has_forgotten_has_ended(racing, pool, monkeypatch):
    racing.start("mine", "me")

    def forgotten(job, seconds):
        raise KeyError(job)

    monkeypatch.setattr(pool, "wait", forgotten)
    assert not racing.running("mine")
    assert racing.failure("mine") is None
