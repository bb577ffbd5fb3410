"""Pools whose workers run the fake tasks beside this file, here and on a Ray cluster."""

from contextlib import contextmanager
from pathlib import Path

import pytest
from support.ray_cluster import ray_cluster

from dashboard.jobs.engine import LocalEngine
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import Request

GRACE = 0.5
LEASE = 3.0
PATIENCE = 120  # seconds; a busy machine may start a process slowly


@contextmanager
def _pools(engine):
    pools = []

    def make(workers=1, *, environment=None, **settings):
        settings = {
            "tasks": "fake_tasks", "warm": False, "grace": GRACE, "head_start": 0.0,
            **settings,
        }  # fmt: skip
        variables = {"PYTHONPATH": str(Path(__file__).parent), **(environment or {})}
        options = PoolOptions(workers=workers, environment=variables, **settings)
        pools.append(LocalPool(options, engine))
        return pools[-1]

    try:
        yield make
    finally:
        for pool in pools:
            pool.close()


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster with room for the workers of all pools of a module."""
    with ray_cluster(cpus=100) as made:
        yield made


@pytest.fixture(scope="module", params=["local", pytest.param("ray", marks=pytest.mark.ray)])
def engine(request):
    """What starts the workers: every test that asks for a pool runs with each."""
    if request.param == "local":
        return LocalEngine()
    cluster = request.getfixturevalue("cluster")
    from dashboard.jobs.ray_engine import RayEngine

    return RayEngine(cluster.address, lease=LEASE)


@pytest.fixture(scope="module")
def make_pool(engine):
    """Pools of one cold worker by default, closed at the end of the module."""
    with _pools(engine) as make:
        yield make


@pytest.fixture(scope="module")
def make_local_pool():
    """The same for tests of what a process of this machine alone does."""
    with _pools(LocalEngine()) as make:
        yield make


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
