"""The pool in which trainings run: what a page's job may not do, a training may."""

import math
from threading import RLock
from types import SimpleNamespace

import pytest

from dashboard.jobs import pool as module
from dashboard.jobs.backend import Wait
from dashboard.jobs.training_jobs import TrainingJobs, training_pool
from dashboard.records.request import Request, Result


@pytest.fixture
def made(monkeypatch):
    """A training pool without processes, and what its supervisor was given."""
    given = {}

    class Supervisor:
        def __init__(self, setup):
            given.update(vars(setup))

        def wake(self):
            pass

        def look_again(self):
            pass

        def close(self):
            pass

    for variable in ("ATTENTION_TRAINERS", "ATTENTION_SILENCE_LIMIT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(module, "Supervisor", Supervisor)
    pool = training_pool()
    yield pool, given
    pool.close()


def test_a_training_may_take_days(made):
    pool, given = made
    pool.submit(Request.make("training", model="bahdanau", scoring="additive"))
    (computation,) = given["scheduler"].queue
    assert computation.time_limit == math.inf
    assert given["timeouts"].silence >= 600  # an epoch's sentences are scored without a report


def test_trainers_give_way_to_pages(made):
    _, given = made
    (options,) = given["start_worker"].args
    assert options.nice > 0


def test_the_setting_says_how_long_a_trainer_may_be_silent(made, monkeypatch):
    monkeypatch.setenv("ATTENTION_SILENCE_LIMIT", "7")
    training_pool().close()
    assert made[1]["timeouts"].silence == 7


def test_a_training_that_runs_has_no_place_and_reloading_tries_all_plugins(monkeypatch):
    waits, reloads = {"1": None, "2": Wait(before=0), "3": Wait(before=1)}, []
    pool = SimpleNamespace(
        submit=lambda request, client: str(request.seed), wait_ahead=waits.get,
        reload=lambda **how: reloads.append(how),
    )  # fmt: skip
    monkeypatch.setattr(TrainingJobs, "_watch", lambda *_: None)
    jobs = TrainingJobs(lambda: pool, lambda *_: None, RLock())
    jobs.reload()
    assert jobs.places() == {}
    for seed, id in enumerate("abc", 1):
        jobs.submit(id, Request.make("training", seed=seed))
    assert jobs.places() == {"a": None, "b": 0, "c": 1}
    jobs.reload()
    assert reloads == [{"retry_quarantined": True}]


def test_the_same_training_may_be_done_again(made):
    pool, given = made
    request, scheduler = Request.make("training", model="bahdanau"), given["scheduler"]
    first = pool.submit(request)
    scheduler.finish(scheduler.queue.take(), "done", size=1, result=Result())
    assert pool.wait(first, 0).stage == "done"
    second = pool.submit(request)
    assert second != first
    assert pool.wait(second, 0) is None  # it waits to be computed


def test_a_training_never_gives_way_to_another(made):
    pool, given = made
    queue = given["scheduler"].queue
    queue.workers = 2
    for seed in range(3):
        pool.submit(Request.make("training", seed=seed), client="ada")
    for taken in (queue.take(), queue.take()):
        taken.started = -1e9
    assert queue.in_the_way() is None
