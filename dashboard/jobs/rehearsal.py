"""How a crew comes to serve: its starts, its rehearsal, and the plugins that it leaves out.

The caller of everything here holds the pool's lock.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.jobs.backend import FinalStage
from dashboard.jobs.job import Computation
from dashboard.jobs.process import PluginSource
from dashboard.jobs.watchdog import WorkerState

_MAX_FAILURES = 3


class Starts:
    """The starts of a crew's workers.

    ``head_start``: the first worker has the machine to itself until it has taken no new job for so
    many seconds, since it waits or has a long one; at most four times as long.
    """

    def __init__(self, head_start: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._head_start, self._clock = head_start, clock
        self._accepted: list[float] = []  # when a worker took the first job, and the last
        self._failures = 0  # in a row

    @property
    def given_up(self) -> bool:
        """Whether so many workers in a row could not be started that no other is."""
        return self._failures >= _MAX_FAILURES

    def note_job(self, *, counts: bool) -> None:
        """A worker has accepted a job; it ``counts`` if the worker is one of those that stay."""
        self._failures = 0
        if counts:
            self._accepted = [*self._accepted[:1], self._clock()]

    def note_failure(self) -> None:
        """A worker could not be started, or ended before it accepted a job."""
        self._failures += 1

    def try_again(self) -> None:
        """Start workers again if that was given up."""
        if self.given_up:
            self._failures = 0

    def begin(self) -> None:
        """All workers are replaced, so one is the first again."""
        self._accepted = []

    def seconds_until_next(self) -> float:
        """Until one more worker may start beside the first; infinite before its first job."""
        if not self._accepted:
            return math.inf
        latest = self._accepted[0] + 4 * self._head_start
        return min(self._accepted[-1] + self._head_start, latest) - self._clock()


class Quarantine(dict[tuple[str, str], str]):
    """Why plugins, each by its name and its distribution's, ended a worker that loaded them.

    Later workers start without them.
    """

    def add(self, source: PluginSource, reason: str) -> bool:
        """Keep the plugin out of later workers; False if it already is."""
        key = (source.plugin, source.distribution)
        new = key not in self
        self.setdefault(key, reason)
        return new

    def arguments(self) -> Sequence[str]:
        """Return the command-line arguments that name the plugins to a worker."""
        entries = [
            {"plugin": plugin, "distribution": distribution, "reason": reason}
            for (plugin, distribution), reason in self.items()
        ]
        return ["--quarantined", json.dumps(entries)] if entries else []


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a computation has ended: ``size`` of its result in bytes, ``fields`` of its event."""

    stage: FinalStage
    size: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)


class Rehearsal:
    """One computation that each worker makes; the first result counts, and any failure.

    Attributes:
        ending: the first result, or a failure; None until then.
    """

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.ending: Ending | None = None

    @property
    def failed(self) -> bool:
        """Whether a worker could not do it."""
        return self.ending is not None and self.ending.stage != "done"

    def part(self, workers: Iterable[WorkerState]) -> Computation:
        """Return what a worker must compute: what has the job, unless that is in hand."""
        running = any(each.computation is self.computation for each in workers)
        if not running and self.ending is None:
            return self.computation
        copy = Computation(self.computation.request)
        copy.time_limit = self.computation.time_limit
        return copy

    def note(self, computation: Computation, ending: Ending) -> None:
        """Take note of how one worker's computation has ended."""
        if ending.stage != "done":
            self.ending = ending
            if computation is not self.computation:
                self.computation.stopping = self.computation.stopping or computation.stopping
                self.computation.failure = computation.failure
        elif self.computation.stopping:
            self.ending = Ending(stage="cancelled")
        elif self.ending is None:
            self.ending = ending

    def start_again(self) -> None:
        """Forget a result, since later workers will find something else."""
        if not self.failed:
            self.ending = None
