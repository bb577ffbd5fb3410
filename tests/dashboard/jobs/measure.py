"""How fast the pool is: ``python tests/dashboard/jobs/measure.py`` from the project root.

Prints milliseconds: until a worker is ready and warm, a warm round trip, cancelling a task that
obeys and one that does not, replacing a killed worker.
"""

import statistics
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[2]))

from dashboard.jobs.pool import LocalPool, PoolOptions  # noqa: E402
from dashboard.records.request import Request  # noqa: E402

GRACE = 0.2


def since(began):
    """Milliseconds."""
    return (time.perf_counter() - began) * 1000


def finish(pool, task, **options):
    """Milliseconds from the submission of a job to its end."""
    began = time.perf_counter()
    job = pool.submit(Request.make(task, options=options))
    if pool.wait(job, 60) is None:
        raise RuntimeError(f"{task} did not end in 60 s")
    return since(began)


def stop(pool, task, **options):
    """Milliseconds from the cancellation of a running job to its end."""
    job = pool.submit(Request.make(task, options=options))
    while len(pool.events(job)) < 2:
        time.sleep(0.001)
    time.sleep(0.05)
    began = time.perf_counter()
    pool.cancel(job)
    pool.wait(job, 60)
    return since(began)


def measure():
    """Name and milliseconds of each figure."""
    for warm in (False, True):
        began = time.perf_counter()
        environment = {"PYTHONPATH": str(FOLDER)}
        pool = LocalPool(
            PoolOptions(
                workers=1, tasks="fake_tasks", warm=warm, grace=GRACE, environment=environment
            )
        )
        finish(pool, "echo", n=0)
        yield f"first job of a new pool, {'with' if warm else 'without'} torch", since(began)
        if not warm:
            pool.close()
    trips = [finish(pool, "uncacheable", n=n) for n in range(100)]
    yield "warm round trip, median of 100", statistics.median(trips)
    yield "warm round trip, slowest of 100", max(trips)
    yield (
        "8 MB of table",
        statistics.median(finish(pool, "table", rows=1_000_000 + n) for n in range(5)),
    )
    yield "answer from memory", statistics.median(finish(pool, "echo", n=0) for _ in range(100))
    yield (
        "cancel, obeyed",
        statistics.median(stop(pool, "sleep", seconds=60 + n) for n in range(11)),
    )
    kills = []
    for n in range(5):
        kills.append(stop(pool, "hang", n=n) - GRACE * 1000)
        finish(pool, "uncacheable")
    yield "kill, beyond the grace period", statistics.median(kills)
    yield "crash to failed event", finish(pool, "segfault")
    yield "next job after a crash, its worker replaced and warmed", finish(pool, "uncacheable")
    pool.close()


if __name__ == "__main__":
    for name, milliseconds in measure():
        print(f"{milliseconds:9.2f} ms  {name}", flush=True)
