"""What a table of a race is about, and what its caption says of the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import CONFIDENCE, LEVEL, Estimate

BASELINE = "copying the nearest learned example"
PARTS = ("near", "far")  # of the data, as columns


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a table is about.

    Args:
        task: its title.
        metric: its title, such as ``exact match``.
        unit: of the metric, such as ``%``; empty if it has none.
        higher_is_better: of the metric.
        baseline: what copying the nearest learned example is worth, a row of its own; None
            leaves that row out.
    """

    task: str
    metric: str
    unit: str = ""
    higher_is_better: bool = True
    baseline: Estimate | None = None

    @property
    def measured(self) -> str:
        """The metric with its unit."""
        return f"{self.metric} ({self.unit})" if self.unit else self.metric


def caption(rows: Sequence[Standing], heading: Heading) -> str:
    """What was measured, over how many seeds, by which interval, test and correction.

    Args:
        rows: of :func:`~attention_plugins.race.standings.standings`.
    """
    better = "higher" if heading.higher_is_better else "lower"
    said = [
        f"{heading.task}: {heading.measured}, {better} is better, on data that nobody learned.",
        f"Mean over {_seeds(rows)} with {CONFIDENCE * 100:g} % bootstrap intervals.",
    ]
    compared = sum(row.difference is not None and row.difference.pairs > 0 for row in rows)
    reference = next((row.contestant for row in rows if row.verdict == "reference"), None)
    if reference is not None and compared:
        said.append(
            f"Difference to {reference.name} in {reference.model}, paired by seed, positive where "
            f"better; p of a two-sided paired permutation test, Holm-corrected for {compared} "
            f"comparison{'' if compared == 1 else 's'}."
        )
    said.append(
        "Rank: 1 + the contestants that are better beyond chance (paired permutation tests of "
        f"all pairs, Benjamini-Hochberg at {LEVEL * 100:g} %); ties share one."
    )
    return " ".join(" ".join(said).split())


def _seeds(rows: Sequence[Standing]) -> str:
    counts = sorted({row.seeds for row in rows if row.seeds}) or [0]
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{number} seed{'' if counts == [1] else 's'}"
