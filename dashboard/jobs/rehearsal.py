"""What the workers of a new crew compute before they serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.jobs.backend import FinalStage
from dashboard.jobs.job import Computation
from dashboard.jobs.worker_state import WorkerState


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a computation has ended.

    Args:
        stage: done, failed or cancelled.
        size: of the result, in bytes.
        fields: of the final event.
    """

    stage: FinalStage
    size: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)


class Rehearsal:
    """One computation that each worker makes; the first result counts, and any failure.

    The caller holds the pool's lock.

    Args:
        computation: with the job that gets the result.

    Attributes:
        ending: the first result, or a failure; None until then.
        failed: whether ``ending`` is a failure.
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
