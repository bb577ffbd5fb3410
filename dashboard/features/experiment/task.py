"""What several seeds say together about each scoring, and which scoring is best."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from dashboard.jobs.context import Context
from dashboard.records.metric import Better
from dashboard.records.request import Request
from dashboard.records.result import Result

_SCHEMA = pa.schema(
    [
        ("metric", pa.string()), ("scoring", pa.string()), ("mean", pa.float64()),
        ("deviation", pa.float64()), ("count", pa.int32()), ("best", pa.bool_()),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n - 1) of ``count`` seeds.

    ``deviation`` is None for fewer than two seeds, ``mean`` for none.
    """

    mean: float | None
    deviation: float | None
    count: int


def perform(request: Request, context: Context) -> Result:
    """Summarise the runs of an experiment.

    The option ``runs`` is JSON: by metric an object with ``better`` (``"lower"``, ``"higher"`` or
    ``""``) and ``values``, by scoring the list of its runs' values, null where not measured.

    Returns:
        Table ``summary``, a row for each metric and scoring: ``metric``, ``scoring``, ``mean``
        and ``deviation`` (null as in :class:`Spread`), ``count``, ``best`` (of one scoring of a
        metric at most).

    Raises:
        ValueError: an option that is missing, or is not such JSON.
    """
    try:
        rows = list(_rows(request))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"need the option runs to be such JSON as a page sends: {error!r}") from (
            error
        )
    return Result(tables={"summary": pa.Table.from_pylist(rows, schema=_SCHEMA)})


def spread(values: Iterable[float | None]) -> Spread:
    """The spread of what was measured; None and what is not finite was not."""
    found = [value for value in values if value is not None and math.isfinite(value)]
    if not found:
        return Spread(None, None, 0)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    return Spread(statistics.fmean(found), deviation, len(found))


def best(spreads: Mapping[str, Spread], better: Better) -> str | None:
    """The scoring whose mean is best beyond doubt; None where there is none.

    Its distance from the next best must be larger than the standard deviation of either.
    """
    sign = {"lower": 1, "higher": -1, "": 0}[better]
    means = {name: one.mean for name, one in spreads.items() if one.mean is not None}
    if not sign or len(means) < 2:
        return None
    first, second = sorted(means, key=lambda name: sign * means[name])[:2]
    deviations = (spreads[first].deviation, spreads[second].deviation)
    if None in deviations:
        return None
    apart = abs(means[first] - means[second])
    return first if all(apart > one for one in deviations if one is not None) else None


def _rows(request: Request) -> Iterator[dict[str, Any]]:
    for metric, found in json.loads(str(dict(request.options)["runs"])).items():
        spreads = {name: spread(values) for name, values in found["values"].items()}
        winner = best(spreads, found["better"])
        for name, one in spreads.items():
            yield {"metric": metric, "scoring": name, **asdict(one), "best": name == winner}
