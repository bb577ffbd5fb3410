"""What an engine offers to a page, whether it runs workers on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dashboard.runs.request import Request
from dashboard.runs.result import Result

Stage = Literal["queued", "started", "progress", "done", "failed", "cancelled"]
FINAL: frozenset[Stage] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened to a job.

    Args:
        number: counts from 1 within the job.
        stage: ``failed`` covers refused input, a raising plugin, a crash, a time limit.
        fraction: of the work done, 0 to 1, where known.
        note: one sentence for the reader; on failure what was wrong and what would be right.
        facts: live figures, such as a loss (``progress``), or ``{"culprit": ...}`` (``failed``).
        result: only with ``done``.
    """

    number: int
    stage: Stage
    fraction: float | None = None
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How many jobs can run at once, how many do, how many wait."""

    workers: int
    running: int
    queued: int


class JobBackend(Protocol):
    """Jobs of any number of sessions. Every method may be called from any thread."""

    def submit(self, request: Request, *, time_limit: float | None = None) -> str:
        """Queue the request; a job id (128 random bits). ``time_limit`` in seconds of running."""

    def events(self, job: str, after: int = 0) -> list[Event]:
        """The job's events numbered above ``after``; KeyError for an unknown job."""

    def wait(self, job: str, timeout: float) -> Event | None:
        """The job's final event, or None when ``timeout`` seconds passed without one."""

    def cancel(self, job: str) -> None:
        """Ask the job to stop; kill its worker if it does not within a grace period."""

    def capacity(self) -> Capacity:
        """How busy the workers are."""

    def reload(self, *, pardon: bool = False) -> None:
        """Replace the workers, so that newly installed plugins are found.

        ``pardon`` tries plugins again that took a worker down while they were loaded.
        """

    def close(self) -> None:
        """Stop all workers; running jobs are cancelled."""
