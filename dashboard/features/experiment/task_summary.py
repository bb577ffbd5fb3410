"""What several seeds say together about each scoring, and what is beyond chance."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from attention_plugins.race.comparisons import comparisons
from attention_plugins.race.statistics import LEVEL, corrected, sign_flip_ps
from dashboard.records.metric import Better
from dashboard.records.request import Request
from dashboard.records.result import Result

_SUMMARY = pa.schema(
    [
        ("metric", pa.string()), ("scoring", pa.string()), ("mean", pa.float64()),
        ("deviation", pa.float64()), ("count", pa.int32()), ("best", pa.bool_()),
    ]
)  # fmt: skip
_DIFFERENCES = pa.schema(
    [
        ("metric", pa.string()), ("scoring", pa.string()), ("mean", pa.float64()),
        ("low", pa.float64()), ("high", pa.float64()), ("p", pa.float64()),
        ("pairs", pa.int32()), ("verdict", pa.string()), ("seeds_needed", pa.int32()),
    ]
)  # fmt: skip

_SIDES: Mapping[str, Better] = {"lower": "lower", "higher": "higher", "": ""}

Values = Mapping[str, Sequence[float]]  # by scoring, aligned by seed, NaN where not measured


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n - 1) of ``count`` seeds.

    ``deviation`` is None for fewer than two seeds, ``mean`` for none.
    """

    mean: float | None
    deviation: float | None
    count: int


def summarise(request: Request) -> Result:
    """Summarise the runs of an experiment.

    The option ``runs`` is JSON: by metric an object with ``better`` (``"lower"``, ``"higher"`` or
    ``""``) and ``values``, by scoring the list of its runs' values in the order of the seeds,
    null where not measured. The option ``reference`` names the scoring with which the others are
    compared.

    Returns:
        Table ``summary``, a row for each metric and scoring: ``metric``, ``scoring``, ``mean``
        and ``deviation`` (null as in :class:`Spread`), ``count``, ``best`` (of one scoring of a
        metric at most). Table ``differences``, a row for each metric that has a better side and
        each scoring but the reference: ``mean`` of the differences, seed by seed, positive where
        the scoring is better; ``low`` and ``high``, the ends of their 95 % bootstrap interval;
        ``p`` of the paired permutation test, corrected by Holm for the scorings compared;
        ``pairs``, the seeds that it rests on; ``verdict`` and ``seeds_needed`` as in
        :class:`attention_plugins.race.comparisons.Comparison`.

    Raises:
        ValueError: an option that is missing, or is not such JSON.
    """
    try:
        options = dict(request.options)
        runs = json.loads(str(options["runs"]))
        read: dict[str, tuple[Values, Better]] = {
            metric: ({n: _numbers(v) for n, v in found["values"].items()}, _SIDES[found["better"]])
            for metric, found in runs.items()
        }
        rows = [row for metric, found in read.items() for row in _rows(metric, *found)]
        reference = str(options.get("reference", ""))
        compared = [
            row for metric, found in read.items() for row in _compared(metric, *found, reference)
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"need the option runs to be such JSON as a page sends: {error!r}") from (
            error
        )
    return Result(
        tables={
            "summary": pa.Table.from_pylist(rows, schema=_SUMMARY),
            "differences": pa.Table.from_pylist(compared, schema=_DIFFERENCES),
        }
    )


def spread(values: Iterable[float]) -> Spread:
    """The spread of what was measured; what is not finite was not."""
    found = [value for value in values if math.isfinite(value)]
    if not found:
        return Spread(None, None, 0)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    return Spread(statistics.fmean(found), deviation, len(found))


def best(values: Values, better: Better) -> str | None:
    """The scoring that is better than every other beyond chance; None where there is none.

    It has the best mean, and its differences from all others, paired by seed, have a p of at most
    0.05 after Holm's correction.
    """
    spreads = {name: spread(found) for name, found in values.items()}
    means = {name: one.mean for name, one in spreads.items() if one.mean is not None}
    if not better or len(means) < 2:
        return None
    first = (max if better == "higher" else min)(means, key=means.__getitem__)
    gains = np.array([np.subtract(values[first], values[one]) for one in means if one != first])
    ps = corrected(sign_flip_ps(np.where(np.isfinite(gains), gains, 0.0)).tolist())
    return first if all(p <= LEVEL for p in ps) else None


def _rows(metric: str, values: Values, better: Better) -> Iterator[dict[str, Any]]:
    winner = best(values, better)
    for name, found in values.items():
        own = {"metric": metric, "scoring": name, "best": name == winner}
        yield {**own, **asdict(spread(found))}


def _compared(
    metric: str, values: Values, better: Better, reference: str
) -> Iterator[dict[str, Any]]:
    if not better or reference not in values:
        return
    found = comparisons(values, reference, higher_is_better=better == "higher")
    for name, one in found.items():
        mean, low, high, _, pairs = one.difference
        yield {
            "metric": metric, "scoring": name, "mean": _known(mean), "low": _known(low),
            "high": _known(high), "p": _known(one.corrected_p), "pairs": pairs,
            "verdict": one.verdict, "seeds_needed": one.seeds_needed,
        }  # fmt: skip


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
