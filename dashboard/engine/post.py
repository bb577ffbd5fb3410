"""A worker of a pool: what it does, whom it runs, and how long to be patient with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from dashboard.engine import faults
from dashboard.engine.jobs import Computation, Verdict
from dashboard.engine.process import WorkerProcess
from dashboard.engine.quarantine import Suspect


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Limits in seconds.

    Args:
        start: in which a worker must start, and take a job that it is given.
        grace: between the wish that a job stop and the end of its worker.
        silence: that a job may compute without a report.
        plugin: in which a plugin must be loaded.
    """

    start: float
    grace: float
    silence: float
    plugin: float


@dataclass(eq=False, kw_only=True)
class Post:
    """A living worker. All times are monotonic seconds.

    Args:
        generation: workers of an earlier one are replaced.
        deadline: when to look after it.
        task: what it works on.
        proven: it has accepted a job.
        heard: when it last said something.
        suspect: the plugin that it loads.
        condemned: it will be killed because of the suspect.
    """

    worker: WorkerProcess
    generation: int
    deadline: float = math.inf
    task: Computation | None = None
    proven: bool = False
    heard: float = 0.0
    suspect: Suspect | None = None
    condemned: bool = False

    def can_wait(self) -> bool:
        """Whether its job runs and may still end by itself; else nothing is left but to kill."""
        task = self.task
        return bool(task and task.started and not task.stopping and not self.condemned)

    def left(self, patience: Patience, now: float) -> float:
        """Seconds until patience with the running job, or with the suspect in it, ends."""
        if self.suspect:
            return self.heard + patience.plugin - now
        ends = (self.task.started + self.task.time_limit, self.heard + patience.silence)
        return min(ends) - now

    def verdict(self, patience: Patience, now: float) -> Verdict:
        """Why the running job must stop: it is over its limit, or has not been heard of."""
        task = self.task
        if task.started + task.time_limit <= now:
            return partial(faults.took_too_long, task.request, task.time_limit)
        return partial(faults.silent, task.request, patience.silence)
