"""Tuning: the values of a scoring's parameters that are best on problems of other seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import pyarrow as pa

from attention_plugins import tuning
from attention_plugins.contract import Scalar
from attention_plugins.fitting import usual_rate
from attention_plugins.registry import installed
from dashboard.features.experiment.view import TUNING_SEEDS, VALIDATION
from dashboard.jobs import tasks
from dashboard.jobs.context import Context
from dashboard.language import gettext_noop
from dashboard.links import fits
from dashboard.records.request import Request
from dashboard.records.result import Result

_RATE = "lr"
_FACTORS = (1.0, 1 / 3, 3.0)  # of the usual learning rate


def tune(request: Request, context: Context) -> Result:
    """Fit a scoring with every combination of the declared grid to problems of the tuning seeds.

    The grid is that of :func:`attention_plugins.tuning.grid`; where the scoring learns, it is
    the usual learning rate, a third of it and three times as much. The error that decides is the
    leave-one-out error at the training points, the mean over the seeds of
    :data:`~dashboard.features.experiment.view.TUNING_SEEDS`, which no experiment reports.

    Args:
        request: a fit of the task ``regression``, but for its task and its seed.
        context: of the job.

    Returns:
        Table ``grid`` with a row for each combination: ``values``, the list of its values as
        text, and ``error``, null where the scoring could not be fitted. Facts ``chosen``, the
        best values by name; ``combinations``, how many were tried; ``edges``, by name ``lowest``
        or ``highest`` where the value is an end of its grid.

    Raises:
        ValueError: what a fit refuses, where no combination can be fitted.
        Cancelled: the job was stopped.
    """
    scoring, options = installed().scoring(request.scoring), dict(request.options)
    learns = bool(options.get("learn"))
    combinations = _rates(options) if learns else tuning.grid(scoring.parameters)
    errors: list[float | None] = []
    refused: ValueError | None = None
    for number, values in enumerate(combinations):
        try:
            asked = [_fit(request, values, learns, seed) for seed in TUNING_SEEDS]
            found = [tasks.perform(fit, context).facts["metrics"][VALIDATION] for fit in asked]
            errors.append(fmean(found))
        except ValueError as error:
            refused = error
            errors.append(None)
        context.report((number + 1) / len(combinations), gettext_noop("tuning on other seeds"))
    tried = [(error, n) for n, error in enumerate(errors) if error is not None]
    if not tried and refused:
        raise refused
    chosen = combinations[min(tried)[1]]
    rows = [
        {"values": [f"{name}={value:g}" for name, value in values.items()], "error": error}
        for values, error in zip(combinations, errors, strict=True)
    ]
    schema = pa.schema([("values", pa.list_(pa.string())), ("error", pa.float64())])
    return Result(
        tables={"grid": pa.Table.from_pylist(rows, schema=schema)},
        facts={
            "chosen": chosen, "combinations": len(combinations),
            "edges": _edges(combinations, chosen) if len(dict(tried)) > 1 else {},
        },
    )  # fmt: skip


def _edges(
    combinations: Sequence[Mapping[str, float]], chosen: Mapping[str, float]
) -> dict[str, str]:
    """At which end of its grid a value lies: a better one may lie beyond."""
    found = {}
    for name, value in chosen.items():
        tried = {values[name] for values in combinations}
        if len(tried) > 1 and value in (min(tried), max(tried)):
            found[name] = "lowest" if value == min(tried) else "highest"
    return found


def _rates(options: Mapping[str, Scalar]) -> list[dict[str, float]]:
    usual = usual_rate(str(options.get("loss", "mean")), str(options.get("optimiser", "sgd")))
    return [{_RATE: factor * usual} for factor in _FACTORS]


def _fit(request: Request, values: Mapping[str, float], learns: bool, seed: int) -> Request:
    what = "options" if learns else "parameters"
    chosen = dict(getattr(request, what)) | dict(values)
    changed = {what: tuple(sorted(chosen.items()))}
    return replace(request, task=fits.TASK, seed=seed, **changed)
