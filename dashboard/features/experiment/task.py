"""What several seeds say together about each scoring; and its tuning on other seeds."""

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from attention_plugins import fitting
from attention_plugins.race.standings import comparisons
from attention_plugins.race.statistics import LEVEL, corrected, sign_flip_ps
from attention_plugins.registry import installed
from dashboard.features.experiment.view import TUNING_SEEDS, VALIDATION
from dashboard.jobs import tasks
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.links import fits
from dashboard.records.parameter import Better, pairs
from dashboard.records.request import Request, Result

_SUMMARY = pa.schema([
    ("metric", pa.string()), ("scoring", pa.string()), ("mean", pa.float64()),
    ("deviation", pa.float64()), ("count", pa.int32()), ("best", pa.bool_()),
])  # fmt: skip
_DIFFERENCES = pa.schema([
    ("metric", pa.string()), ("scoring", pa.string()), ("mean", pa.float64()),
    ("low", pa.float64()), ("high", pa.float64()), ("p", pa.float64()),
    ("pairs", pa.int32()), ("verdict", pa.string()), ("seeds_needed", pa.int32()),
])  # fmt: skip

_SIDES: Mapping[str, Better] = {"lower": "lower", "higher": "higher", "": ""}
_ROUNDING = 1e-12  # values this close, as a share of the largest, are the same
Values = Mapping[str, Sequence[float]]  # by scoring, aligned by seed, NaN where not measured


class Spread(NamedTuple):
    """Mean, None for no seed, and sample standard deviation (n - 1), None for fewer than two."""

    mean: float | None
    deviation: float | None
    count: int


def summarise(request: Request) -> Result:
    """Summarise the runs of an experiment.

    The option ``runs`` is JSON: by metric an object with ``better`` (``"lower"``, ``"higher"`` or
    ``""``) and ``values``, by scoring the list of its runs' values in the order of the seeds,
    null where not measured. The option ``reference`` names the scoring with which the others are
    compared. Where the option ``same_data`` is true all seeds have the same data: two scorings
    whose values do not vary over the seeds are then not tested, as nothing in them is random;
    nor are those of a single seed.

    Returns:
        Table ``summary``, a row for each metric and scoring: its :class:`Spread`, and ``best`` (of
        one scoring of a metric at most). Table ``differences``, a row for each metric that has a
        better side and each scoring but the reference: ``mean`` of the differences, seed by seed,
        positive where the scoring is better, with its 95% bootstrap interval; ``p``, ``verdict``
        and ``seeds_needed`` as in :class:`attention_plugins.race.standings.Comparison`; without
        a test neither ``p`` nor interval, and the verdict ``not tested``.
    """
    try:
        options = dict(request.options)
        runs, same = json.loads(str(options["runs"])), options.get("same_data")
        reference = str(options.get("reference", ""))
        rows, compared = list[dict[str, Any]](), list[dict[str, Any]]()
        for metric, found in runs.items():
            better: Better = _SIDES[found["better"]]
            values = {
                name: [math.nan if value is None else float(value) for value in values]
                for name, values in found["values"].items()
            }
            spreads = {name: spread(row) for name, row in values.items()}
            still = {name for name, one in spreads.items() if same and not one.deviation}
            winner = best(values, better, still)
            rows += [
                {"metric": metric, "scoring": name, "best": name == winner, **one._asdict()}
                for name, one in spreads.items()
            ]
            compared += _compared(metric, values, better, reference, still)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"need the option runs as JSON of a page: {error!r}") from error
    return Result(tables={
        "summary": pa.Table.from_pylist(rows, schema=_SUMMARY),
        "differences": pa.Table.from_pylist(compared, schema=_DIFFERENCES),
    })  # fmt: skip


def spread(values: Iterable[float]) -> Spread:
    """The spread of what was measured; what is not finite was not."""
    found = [value for value in values if math.isfinite(value)]
    if not found:
        return Spread(None, None, 0)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    if deviation and max(found) - min(found) <= _ROUNDING * max(map(abs, found)):
        deviation = 0.0
    return Spread(statistics.fmean(found), deviation, len(found))


def best(values: Values, better: Better, still: Set[str] = frozenset()) -> str | None:
    """The scoring that is better than every other beyond chance; None where there is none.

    The differences of the best mean from all others, paired by seed, are tested after Holm.
    Of two in ``still`` neither can be beyond chance: see ``same_data`` of :func:`summarise`.
    """
    found = {name: spread(row).mean for name, row in values.items()}
    means = {name: mean for name, mean in found.items() if mean is not None}
    if not better or len(means) < 2:
        return None
    first = (max if better == "higher" else min)(means, key=means.__getitem__)
    if first in still and len(still) > 1:
        return None
    gains = np.array([np.subtract(values[first], values[one]) for one in means if one != first])
    ps = corrected(sign_flip_ps(np.where(np.isfinite(gains), gains, 0.0)).tolist())
    return first if all(p <= LEVEL for p in ps) else None


def _compared(
    metric: str, values: Values, better: Better, reference: str, still: Set[str]
) -> Iterator[dict[str, Any]]:
    if not better or reference not in values:
        return
    higher, still = better == "higher", still - {reference} if reference in still else set[str]()
    tested = {name: row for name, row in values.items() if name not in still}
    found = comparisons(values, reference, higher_is_better=higher, intervals=False)
    found |= comparisons(tested, reference, higher_is_better=higher)  # corrected for these alone
    for name, one in found.items():
        mean, low, high, _, count = one.difference
        p, verdict = (math.nan, "not tested") if name in still else (one.corrected_p, one.verdict)
        numbers = {"mean": mean, "low": low, "high": high, "p": p}
        yield {
            "metric": metric, "scoring": name, "pairs": count, "verdict": verdict,
            "seeds_needed": one.seeds_needed,
            **{n: value if math.isfinite(value) else None for n, value in numbers.items()},
        }  # fmt: skip


_FACTORS = (1.0, 1 / 3, 3.0)  # of the usual learning rate


def tune(request: Request, context: Context) -> Result:
    """Fit a scoring with every combination of the declared grid to problems of the tuning seeds.

    The grid is that of :func:`attention_plugins.fitting.grid`; where the scoring learns, it is
    the usual learning rate, a third of it and three times as much. The error that decides is the
    leave-one-out error at the training points, the mean over seeds which no experiment reports.

    Returns:
        Facts ``chosen``, the best values by name; ``combinations``, how many were tried;
        ``edges``, by name ``lowest`` or ``highest`` where the value is an end of its grid.
    """
    scoring, options = installed().scoring(request.scoring), dict(request.options)
    learns = bool(options.get("learn"))
    combinations = fitting.grid(scoring.parameters)
    if learns:
        loss, optimiser = options.get("loss", "mean"), options.get("optimiser", "sgd")
        usual = fitting.RATES[str(loss), str(optimiser)]
        combinations = [{"lr": factor * usual} for factor in _FACTORS]
    tried: list[tuple[float, int]] = []  # errors and numbers of combinations
    refused: ValueError | None = None
    for number, values in enumerate(combinations):
        try:
            asked = [_fit(request, values, learns, seed) for seed in TUNING_SEEDS]
            found = [tasks.perform(fit, context).facts["metrics"][VALIDATION] for fit in asked]
            tried.append((statistics.fmean(found), number))
        except ValueError as error:
            refused = error
        context.report((number + 1) / len(combinations), gettext_noop("tuning on other seeds"))
    if not tried and refused:
        raise refused
    chosen = combinations[min(tried)[1]]
    edges = _edges(combinations, chosen) if len(dict(tried)) > 1 else {}
    return Result(facts={"chosen": chosen, "combinations": len(combinations), "edges": edges})


def _edges(every: Sequence[Mapping[str, float]], chosen: Mapping[str, float]) -> dict[str, str]:
    found = {}
    for name, value in chosen.items():
        tried = {values[name] for values in every}
        if len(tried) > 1 and value in (min(tried), max(tried)):
            found[name] = "lowest" if value == min(tried) else "highest"
    return found


def _fit(request: Request, values: Mapping[str, float], learns: bool, seed: int) -> Request:
    what = "options" if learns else "parameters"
    changed = {what: pairs(dict(getattr(request, what)) | dict(values))}
    return replace(request, task=fits.TASK, seed=seed, **changed)


def perform(request: Request, context: Context) -> Result:
    """Tune the scoring that a request names, see :func:`tune`; else :func:`summarise` runs."""
    return tune(request, context) if request.scoring else summarise(request)
