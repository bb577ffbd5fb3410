"""The interface between pages and workers, whether these run on this machine or on a cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dashboard.records.request import Request, Result

FinalStage = Literal["done", "failed", "cancelled"]
Stage = Literal["queued", "started", "progress"] | FinalStage
FINAL: frozenset[Stage] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened to a job.

    Args:
        number: counts from 1 within the job.
        stage: ``failed`` covers refused input, a raising plugin, a crash and a timeout.
        fraction: of the work done, 0 to 1, where known.
        note: one sentence for the reader; on failure what was wrong and what would be right.
        facts: live figures, such as a loss (``progress``), or ``{"culprit": ...}`` (``failed``).
    """

    number: int
    stage: Stage
    fraction: float | None = None
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    result: Result | None = None


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The load of a backend: how many live workers there are, each for one job at once.

    ``running`` of them run one, ``queued`` computations wait, ``processes`` are the workers' ids.
    """

    workers: int
    running: int
    queued: int
    processes: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class Wait:
    """What a queued job waits for, and the seconds until it is started; None where not known."""

    before: int
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Load:
    """A computation that runs or waits; ``seconds`` that it has run, None while it waits."""

    name: str
    clients: int
    seconds: float | None


class JobBackend(Protocol):
    """Runs the jobs of any number of sessions. Every method may be called from any thread.

    Those that take a job's id raise ``KeyError`` if it is unknown, except those that end it.
    """

    def submit(
        self, request: Request, *, client: str = "", work: float = 0.0,
        time_limit: float | None = None,
    ) -> str:  # fmt: skip
        """Queue a request and return its job id, 128 random bits in hexadecimal.

        Clients are served in turn; empty for the server itself. ``work`` is what it costs, see
        :mod:`dashboard.records.request`; 0 where that is not known.
        """
        ...

    def has(self, request: Request) -> bool:
        """Whether the result is in memory, or is being computed or queued already."""
        ...

    def estimate(self, asked: Iterable[tuple[Request, float]]) -> float | None:
        """Return the seconds that requests, each with its work, take on idle workers, if known."""
        ...

    def events(self, job: str, after: int = 0) -> list[Event]:
        """Return the job's events with numbers above ``after``."""
        ...

    def wait(self, job: str, timeout: float) -> Event | None:
        """Return the job's final event, or None if it has none after ``timeout`` seconds."""
        ...

    def wait_ahead(self, job: str) -> Wait | None:
        """Return what a queued job waits for; None if it is not queued."""
        ...

    def clients(self) -> list[str]:
        """Return the clients that have unfinished jobs, without the server itself."""
        ...

    def leave(self, client: str) -> None:
        """Cancel all jobs of a client that is gone; their final event says ``abandoned``."""

    def make_room(self) -> None:
        """Let a long computation give way where short ones wait and every worker has a long one.

        It is queued again, and starts anew.
        """

    def cancel(self, job: str) -> None:
        """Ask the job to stop; kill its worker if it does not stop within a grace period."""

    def capacity(self) -> Capacity:
        """Return how busy the workers are."""
        ...

    def loads(self) -> list[Load]:
        """Return the computations that run, then those that wait."""
        ...

    def reload(self, *, retry_quarantined: bool = False) -> None:
        """Replace the workers, busy ones after their job, so that new plugins are found.

        With ``retry_quarantined`` those are loaded again that ended a worker while they were.
        """

    def renew(self, request: Request, *, retry_quarantined: bool = False) -> str:
        """Replace the workers by others that have first computed the request and are warm.

        The present ones serve until then, and stay if the new ones cannot. The request is such as
        the catalogue, which has a worker load all plugins. Return the id of its job, which ends
        when the new workers serve or cannot.

        Raises:
            RuntimeError: it is being done already.
        """
        ...

    def close(self) -> None:
        """Cancel running jobs and end all workers."""
