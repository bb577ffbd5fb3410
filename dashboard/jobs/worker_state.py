"""A pool's record of one worker: its process, its computation, its next timeout."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from dashboard.jobs import errors
from dashboard.jobs.engine import Worker
from dashboard.jobs.job import Computation, FailureBuilder
from dashboard.jobs.quarantine import PluginSource
from dashboard.language import gettext_noop
from dashboard.limits import Timeouts


@dataclass(eq=False, kw_only=True)
class WorkerState:
    """A live worker. All times are monotonic seconds.

    Args:
        process: the worker itself.
        check_at: when the watchdog checks the worker next.
        computation: what the worker runs.
        has_accepted: whether the worker has ever accepted a job.
        last_message: when its last message arrived.
        loading: the plugin that it is loading.
        plugin_timed_out: whether the worker is killed because of that plugin.
        outdated: whether it ends after its job, since another replaces it.
        rehearsed: whether it has done its part of a rehearsal.
    """

    process: Worker
    check_at: float = math.inf
    computation: Computation | None = None
    has_accepted: bool = False
    last_message: float = 0.0
    loading: PluginSource | None = None
    plugin_timed_out: bool = False
    outdated: bool = False
    rehearsed: bool = False

    @property
    def must_end(self) -> bool:
        """Whether it must not be given another computation."""
        return self.outdated or self.process.ended

    @property
    def running(self) -> Computation | None:
        """The computation, if the worker has accepted it and nothing has stopped it yet."""
        computation = self.computation
        if computation is None or computation.started is None or computation.giving_way:
            return None
        return None if computation.stopping or self.plugin_timed_out else computation

    def remaining(self, timeouts: Timeouts, now: float) -> float:
        """Return the seconds until the computation, or the plugin that it loads, times out."""
        if self.loading:
            return self.last_message + timeouts.plugin - now
        silent_at = self.last_message + timeouts.silence
        return min(_time_limit(self.computation), silent_at) - now

    def timeout_failure(
        self, computation: Computation, timeouts: Timeouts, now: float
    ) -> FailureBuilder:
        """Return what describes the timeout: the job's time limit, or silence."""
        if _time_limit(computation) <= now:
            return partial(errors.timed_out, computation.request, computation.time_limit)
        return partial(errors.unresponsive, computation.request, timeouts.silence)

    def plugin_failure(
        self, timeouts: Timeouts, code: int | None, stderr: str, origins: errors.Origins
    ) -> str:
        """Return why the plugin that the worker was loading is quarantined.

        Args:
            timeouts: of the pool.
            code: the worker's exit code.
            stderr: what the worker wrote during the job.
            origins: where the modules of plugins lie.
        """
        if self.plugin_timed_out:
            return errors.plugin_timed_out(timeouts.plugin, stderr, origins)
        ending = errors.ending(code, stderr, origins)
        return gettext_noop("the process that loaded it {ending}", ending=ending)


def _time_limit(computation: Computation | None) -> float:
    """Return when the computation reaches its time limit; infinity if it has not started."""
    if computation is None or computation.started is None:
        return math.inf
    return computation.started + computation.time_limit
