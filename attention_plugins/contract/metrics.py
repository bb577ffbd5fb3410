"""Metrics as records: how good what a model writes is, held against references."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_plugins.contract.checks import check_record
from attention_plugins.contract.parameters import ContractError

Score = Callable[[Sequence[str], Sequence[Sequence[str]]], float]


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """A metric of a whole corpus.

    Args:
        name: lower-case identifier; it stands on checkpoints' cards.
        title: what the page shows.
        score: ``(hypotheses, references) -> float``, where each hypothesis has at least one
            reference; called with at least one sentence.
        higher_is_better: whether it is; else lower is.
        best, worst: the bounds of a score, in its unit; None where there is none.
        unit: shown behind a score, such as ``"%"``.
        reference: paper or page that it comes from.
        description: one sentence on what it counts.
    """

    name: str
    title: str
    score: Score
    higher_is_better: bool = True
    best: float | None = 100.0
    worst: float | None = 0.0
    unit: str = ""
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_record(self, "metric", "score")
        if not isinstance(self.unit, str):
            raise ContractError(f"metric {self.name!r}: unit is a str, such as '%'")
        if not isinstance(self.higher_is_better, bool):
            raise ContractError(f"metric {self.name!r}: higher_is_better is True or False")
        for bound in (self.best, self.worst):
            if bound is not None and not (isinstance(bound, int | float) and math.isfinite(bound)):
                raise ContractError(
                    f"metric {self.name!r}: best and worst are numbers or None, got {bound!r}"
                )
        if self.best is not None and self.worst is not None:
            upward = self.best > self.worst
            if self.best == self.worst or upward != self.higher_is_better:
                raise ContractError(
                    f"metric {self.name!r}: best is {self.best:g} and worst {self.worst:g}, but "
                    f"higher_is_better is {self.higher_is_better}"
                )
