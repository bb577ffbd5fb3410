"""What all crews of a pool share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, RLock

from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.timeouts import Timeouts
from dashboard.jobs.watchdog import Watchdog
from dashboard.jobs.worker_state import WorkerState


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all crews of a pool share.

    Args:
        size: how many workers a crew has.
        command: starts a worker.
        environment: a worker's variables.
        scheduler: where computations come from and where they finish.
        lock: guards all of these, and is the lock of both conditions.
        wakeup: there is work, or a worker must end.
        job_ended: notified whenever jobs have ended.
        timeouts: how long to wait for a worker.
        head_start: see :class:`~dashboard.jobs.starts.Starts`.
        workers: those of all crews that live.
        watchdog: of all these workers.
    """

    size: int
    command: Sequence[str]
    environment: Mapping[str, str]
    scheduler: Scheduler
    lock: RLock
    wakeup: Condition
    job_ended: Condition
    timeouts: Timeouts
    head_start: float
    workers: list[WorkerState]
    watchdog: Watchdog
