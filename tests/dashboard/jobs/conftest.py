"""Pools whose workers run the fake tasks beside this file."""

import functools
from pathlib import Path

import pytest

from dashboard.jobs.pool import LocalPool
from dashboard.records.request import Request

GRACE = 0.5
PATIENCE = 120  # seconds; a busy machine may start a process slowly


@pytest.fixture(scope="module")
def make_pool():
    """Pools of one cold worker by default, closed at the end of the module."""
    pools = []

    @functools.wraps(LocalPool)
    def make(workers=1, *, environment=None, **settings):
        settings = {
            "tasks": "fake_tasks", "warm": False, "grace": GRACE, "head_start": 0.0, **settings
        }  # fmt: skip
        variables = {"PYTHONPATH": str(Path(__file__).parent), **(environment or {})}
        pools.append(LocalPool(workers, environment=variables, **settings))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


@pytest.fixture(scope="module")
def pool(make_pool):
    """Two workers for all tests of a module, whatever they do to them."""
    return make_pool(2)


@pytest.fixture(scope="module")
def single(make_pool):
    """One worker, where the order of jobs or the worker's identity matters."""
    return make_pool()


@pytest.fixture
def request_for():
    """``request_for("sleep", seconds=3)``, with the scoring ``gaussian``."""

    def make(task, scoring="gaussian", **options):
        return Request.make(task, scoring=scoring, options=options)

    return make


@pytest.fixture
def outcome(pool, request_for):
    """Submit a task to the shared pool and wait for its final event."""

    def run(task, *, time_limit=None, **options):
        job = pool.submit(request_for(task, **options), time_limit=time_limit)
        event = pool.wait(job, timeout=PATIENCE)
        assert event is not None, f"{task} never ended"
        return event

    return run
