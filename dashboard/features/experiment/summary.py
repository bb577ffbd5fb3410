"""The statistics of an experiment: asked of a worker, read, and put into words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.features.experiment.cells import Cell
from dashboard.language import gettext_noop
from dashboard.records.parameter import Metric
from dashboard.records.request import Request, Result

TASK = "experiment"
FEW = gettext_noop("too few seeds")
VERDICTS = (
    gettext_noop("better"),
    gettext_noop("worse"),
    gettext_noop("no difference found"),
    FEW,
)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What the seeds of a scoring say together.

    Args:
        mean: None where nothing is measured.
        deviation: sample standard deviation (n - 1); None for fewer than two seeds.
        best: whether this scoring is better than every other beyond chance.
    """

    mean: float | None = None
    deviation: float | None = None
    best: bool = False


@dataclass(frozen=True, kw_only=True)
class Gain:
    """How much better a scoring is than the reference, seed by seed.

    Args:
        mean: of the differences, positive where the scoring is better; None without a pair.
        low, high: the ends of their 95 % bootstrap interval; None for fewer than two pairs.
        p: of the paired permutation test, corrected for all that are compared.
        pairs: seeds that both have.
        verdict: one of :data:`VERDICTS`.
        seeds_needed: how many would do for a verdict; None where no number does.
    """

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    pairs: int
    verdict: str
    seeds_needed: int | None


Spreads = Mapping[tuple[str, str], Spread]  # by metric and scoring


def summary_request(
    cells: Sequence[Cell], metrics: Iterable[Metric], reference: str
) -> Request | None:
    """What a worker must compute from the runs that are done; None where none is.

    Args:
        cells: all runs.
        metrics: those that are measured.
        reference: the scoring with which the others are compared.
    """
    done = {cell.scoring for cell in cells if cell.state == "done"}
    known = [cell for cell in cells if cell.scoring in done]
    runs = {
        metric.name: {"better": metric.better, "values": _values(metric.name, known)}
        for metric in metrics
    }
    if not done or not runs:
        return None
    text = json.dumps(runs, sort_keys=True, separators=(",", ":"))
    return Request.make(TASK, options={"runs": text, "reference": reference})


def spreads(result: Result | None) -> Spreads:
    """The worker's answer by metric and scoring; empty while there is none."""
    rows = result.tables["summary"].to_pylist() if result else ()
    return {
        (row["metric"], row["scoring"]): Spread(
            mean=row["mean"], deviation=row["deviation"], best=row["best"]
        )
        for row in rows
    }


def gains(result: Result | None) -> dict[tuple[str, str], Gain]:
    """The differences from the reference by metric and scoring; empty while there are none."""
    rows = result.tables["differences"].to_pylist() if result else ()
    return {(row.pop("metric"), row.pop("scoring")): Gain(**row) for row in rows}


def mean_text(one: Spread, digits: int) -> str:
    """``0.43 ± 0.12``; ``0.43 ± –`` for a single seed, ``–`` for none."""
    if one.mean is None:
        return "–"
    mean = number(one.mean, digits)
    # With the decimals of the mean, and one significant digit at least.
    decimals = len(mean.partition(".")[2])
    if one.deviation is None:
        return f"{mean} ± –"
    text = f"{one.deviation:,.{decimals}f}"
    return f"{mean} ± {text if float(text.replace(',', '')) else number(one.deviation, 1)}"


def number(value: float, digits: int) -> str:
    """To so many significant digits, without exponent where that is readable."""
    if value == 0 or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def _values(metric: str, cells: Sequence[Cell]) -> dict[str, list[float | None]]:
    """By scoring, in the order of the seeds, so that they are paired by their place."""
    found: dict[str, list[float | None]] = {}
    for cell in sorted(cells, key=lambda cell: cell.seed):
        found.setdefault(cell.scoring, []).append(cell.figures.get(metric))
    return found
