"""What all crews of a pool share."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Condition, RLock

from dashboard.jobs.engine import StartWorker
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.watchdog import Watchdog
from dashboard.jobs.worker_state import WorkerState
from dashboard.limits import Timeouts


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all crews of a pool share.

    Args:
        size: how many workers a crew has.
        start_worker: starts one of them.
        scheduler: where computations come from and where they finish.
        lock: guards all of these, and is the lock of both conditions.
        wakeup: there is work, or a worker must end.
        job_ended: notified whenever jobs have ended.
        timeouts: how long to wait for a worker.
        head_start: see :class:`~dashboard.jobs.crew.Starts`.
        workers: those of all crews that live.
        watchdog: of all these workers.
    """

    size: int
    start_worker: StartWorker
    scheduler: Scheduler
    lock: RLock
    wakeup: Condition
    job_ended: Condition
    timeouts: Timeouts
    head_start: float
    workers: list[WorkerState]
    watchdog: Watchdog
