"""What a benchmark measures: a row of the table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """One piece of work, ours beside another's, measured in the same run.

    Args:
        work: what was done.
        against: what the other is; empty where there is none.
        ours, theirs: medians, in ``unit``.
        fastest, their_fastest: the best of all rounds.
        unit: of all four.
        note: what else was measured, such as an error or a peak of memory.
    """

    work: str
    ours: float
    unit: str = "s"
    against: str = ""
    theirs: float | None = None
    fastest: float | None = None
    their_fastest: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The other's median over ours: how many times ours is faster, or smaller."""
        return None if self.theirs is None else self.theirs / self.ours


def interleaved(
    work: str,
    against: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    rounds: int = 5,
    note: str = "",
) -> Row:
    """Seconds of both, each called once before: they take turns, so a busy machine slows both."""
    ours()
    theirs()
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for seconds, way in zip(taken, (ours, theirs), strict=True):
            began = time.perf_counter()
            way()
            seconds.append(time.perf_counter() - began)
    return compared(work, against, taken, note=note)


def compared(
    work: str, against: str, taken: tuple[Sequence[float], Sequence[float]], *, unit: str = "s",
    note: str = "",
) -> Row:  # fmt: skip
    """A row of two lists of measurements."""
    ours, theirs = taken
    return Row(
        work=work, against=against, unit=unit, note=note,
        ours=statistics.median(ours), theirs=statistics.median(theirs),
        fastest=min(ours), their_fastest=min(theirs),
    )  # fmt: skip
