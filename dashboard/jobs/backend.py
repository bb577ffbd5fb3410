"""What pages learn of their jobs, whether the workers run on this machine or on a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dashboard.records.request import Result

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
