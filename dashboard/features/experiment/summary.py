"""The statistics of an experiment: asked of a worker, read, and put into words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.features.experiment.cells import Cell
from dashboard.records.metric import Metric
from dashboard.records.request import Request
from dashboard.records.result import Result

TASK = "experiment"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What the seeds of a scoring say together.

    Args:
        mean: None where nothing is measured.
        deviation: sample standard deviation (n - 1); None for fewer than two seeds.
        best: whether this scoring's mean is best beyond doubt.
    """

    mean: float | None = None
    deviation: float | None = None
    best: bool = False


Spreads = Mapping[tuple[str, str], Spread]  # by metric and scoring


def summary_request(cells: Sequence[Cell], metrics: Iterable[Metric]) -> Request | None:
    """What a worker must compute from the runs that are done; None where none is."""
    done = [cell for cell in cells if cell.state == "done"]
    runs = {
        metric.name: {"better": metric.better, "values": _values(metric.name, done)}
        for metric in metrics
    }
    if not done or not runs:
        return None
    text = json.dumps(runs, sort_keys=True, separators=(",", ":"))
    return Request.make(TASK, options={"runs": text})


def spreads(result: Result | None) -> Spreads:
    """The worker's answer by metric and scoring; empty while there is none."""
    rows = result.tables["summary"].to_pylist() if result else ()
    return {
        (row["metric"], row["scoring"]): Spread(
            mean=row["mean"], deviation=row["deviation"], best=row["best"]
        )
        for row in rows
    }


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
    found: dict[str, list[float | None]] = {}
    for cell in cells:
        found.setdefault(cell.scoring, []).append(cell.figures.get(metric))
    return found
