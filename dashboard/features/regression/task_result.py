"""The result of a regression: its tables, and the notes that explain them."""

from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from attention_plugins import AttentionMap, RegressionData, record
from attention_plugins.fitting import Fit
from attention_plugins.regression import LeaveOneOut, MeanSquare, Prediction, Scale, predict
from dashboard.features.regression.task_problem import Problem
from dashboard.jobs.task_tables import columns_table, coordinates, labels, maps_table
from dashboard.language import gettext_noop
from dashboard.records.beside import beside

_SAID = beside(__file__, "words.toml")["task_result"]

_SAMPLES = 1_000  # of the bootstrap
MOST_CELLS = 250_000  # of a map that is kept
_SAME = 1e-6  # of the largest weight
_NEAR, _FAR = 0.5, 2.0  # what points are multiplied by, one by one, to see whether it matters


def tables(
    problem: Problem, prediction: Prediction, learned: Fit | None, *, sums_to_one: bool,
    signed: bool = False,
) -> dict[str, pa.Table]:  # fmt: skip
    """The tables ``curve``, ``points``, ``maps`` and ``history``, as far as there are such."""
    data = problem.data
    curve = columns_table({**coordinates(data.queries), "prediction": prediction.values})
    truth = pa.nulls(len(curve), pa.float64())
    if data.truth is not None:
        truth = pa.array(data.truth.double().numpy())
    curve = curve.append_column("truth", truth)
    if problem.measured is not None:
        curve = curve.append_column("measured", pa.array(problem.measured.double().numpy()))
    found = {"curve": curve, "points": columns_table({**coordinates(data.x), "y": data.y})}
    if prediction.weights:
        parts = {"queries": labels(data.queries), "points": labels(data.x)}
        axes = prediction.axes
        # That of the queries first: it is drawn.
        sites = sorted(prediction.weights, key=lambda site: axes[site].queries != ("queries",))
        found["maps"] = maps_table([
            AttentionMap(
                site=site, weights=prediction.weights[site],
                query_labels=record.labels(axes[site].queries, parts),
                key_labels=record.labels(axes[site].keys, parts), normalised=sums_to_one,
                signed=signed,
            )
            for site in sites
        ])  # fmt: skip
    if learned and learned.history:
        found["history"] = pa.Table.from_pylist(
            [{"step": s.number, "loss": s.loss, **s.learned} for s in learned.history]
        )
    return found


def evaluation_tables(
    problem: Problem, found: LeaveOneOut, means: Mapping[str, MeanSquare]
) -> dict[str, pa.Table]:
    """What was predicted of rows that were left out, and how good that is.

    Returns:
        ``left_out``: ``row``, the inputs by their names, ``measured`` and ``prediction`` by all
        other rows; an input that has one of these names gets a number behind it. ``errors``: a
        row per ``metric`` with its ``value``, its ``standard_error`` (0 where all rows count),
        ``rows`` that it is of, and ``points``, how many rows there are. Neither for a problem
        with one input that is no table: its curve shows the same.
    """
    data, rows = problem.data, found.rows.cpu()
    if data.x.shape[1] == 1 and problem.skipped is None:
        return {}
    left_out = {
        **numbered(problem, rows),
        "measured": pa.array(data.y[rows].double().numpy()),
        "prediction": pa.array(found.alone.double().cpu().numpy()),
    }
    counts = {"rows": len(rows), "points": found.points}
    errors = [{"metric": name, **mean._asdict(), **counts} for name, mean in means.items()]
    return {"left_out": pa.table(left_out), "errors": pa.Table.from_pylist(errors)}


def numbered(problem: Problem, rows: torch.Tensor) -> dict[str, pa.Array]:
    """Columns ``row``, the numbers of these rows ``(r,)`` in the table, and their inputs."""
    numbers = torch.arange(1, len(problem.data.x) + 1) if problem.rows is None else problem.rows
    inputs = (pa.array(one.double().numpy()) for one in problem.data.x[rows].unbind(dim=1))
    row = {"row": pa.array(numbers[rows].numpy())}
    return row | named(zip(problem.names[:-1], inputs, strict=True))


def named(columns: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Inputs by their names; one that has a name of ours or of another gets a number behind it."""
    held, taken = dict[str, Any](), {"row", "measured", "prediction", "fold"}
    for name, column in columns:
        others = (f"{name} ({number})" for number in count(2))
        held[next(one for one in chain([name], others) if one not in taken | {*held})] = column
    return held


def validation(problem: Problem, found: LeaveOneOut) -> dict[str, Any]:
    """The fact ``validation``, :func:`scores` of a table's rows left out; none of other data."""
    if problem.skipped is None:
        return {}
    measured = problem.data.y[found.rows.cpu()].double().numpy()
    predicted = found.alone.double().cpu().numpy()
    counts = {"rows": len(found.rows), "points": found.points}
    return {"validation": {**scores(measured, predicted, 0), **counts}}


def scores(measured: np.ndarray, predicted: np.ndarray, seed: int) -> dict[str, Any]:
    """R², mean absolute error and root of the mean squared error, each with its interval.

    Both are ``(n,)``. An interval's ends are the 2.5% and 97.5% quantiles over 1,000 bootstrap
    samples of the rows (Efron 1979). None where all measured values, or a sample's, are equal.
    """
    errors, away = predicted - measured, measured - measured.mean()
    parts = np.stack([np.abs(errors), errors**2, away, away**2], axis=1)
    rng, rows = np.random.default_rng(seed), len(parts)
    drawn = (np.bincount(rng.integers(rows, size=rows), minlength=rows) for _ in range(_SAMPLES))
    sums = np.stack([np.ones(rows) @ parts, *(counts @ parts for counts in drawn)])
    absolute, square, mean, spread = sums.T / rows
    variance = spread - mean**2
    r2 = 1 - square / np.where(variance > 1e-12 * spread, variance, np.nan)
    return {
        name: [float(end) if np.isfinite(end) else None
               for end in (each[0], *np.quantile(each[1:], [0.025, 0.975]))]
        for name, each in {"r2": r2, "mae": absolute, "rmse": np.sqrt(square)}.items()
    }  # fmt: skip


def estimate_note(scoring: str, found: LeaveOneOut, error: MeanSquare) -> list[str]:
    """That an error is one of a sample, where it is; ``scoring`` is its title."""
    if not found.is_sample:
        return []
    value, deviation = (f"{each:.4g}" for each in error)
    return [
        gettext_noop(
            _SAID["sampled"], scoring=scoring, rows=len(found.rows), points=found.points,
            error=value, deviation=deviation,
        )
    ]  # fmt: skip


def notes(
    cells: int, problem: Problem, scale: Scale | None, learned: Fit | None,
    loose: tuple[str, str, tuple[float, float]] | None = None,
) -> list[str]:  # fmt: skip
    """What a reader should know of how it was computed.

    Args:
        cells: weights of the predictions that are drawn.
        loose: where rows of weights need not sum to 1, the titles of the scoring and of the
            normaliser (empty for the softmax), and the smallest and the largest sum.
    """
    found = [learned.note] if learned else []
    if scale is not None:
        inputs = zip(problem.names[:-1], scale.unit.tolist(), strict=True)
        units = ", ".join(f"{unit:.4g} ({name})" for name, unit in inputs)
        found.append(gettext_noop(_SAID["scaled"], units=units))
    if loose is not None:
        found.append(_loose(*loose))
    drawn, points = len(problem.data.queries), len(problem.data.x)
    if problem.measured is not None and drawn < points:
        found.append(gettext_noop(_SAID["evenly_picked"], drawn=drawn, points=points))
    if cells > MOST_CELLS:
        found.append(gettext_noop(_SAID["no_map"], cells=cells, most=MOST_CELLS))
    return found


def _loose(scoring: str, normaliser: str, ends: tuple[float, float]) -> str:
    """What rows sum to, as whole sentences: a page knows each by its form."""
    low, high = (f"{end:.3g}" for end in ends)
    named = {"scoring": scoring, **({"normaliser": normaliser} if normaliser else {})}
    if low == high:
        return gettext_noop(_SAID["sum_of_both" if normaliser else "sum"], sum=low, **named)
    form = _SAID["sums_of_both" if normaliser else "sums"]
    return gettext_noop(form, low=low, high=high, **named)


def equal_weights(prediction: Prediction) -> float | None:
    """The weight that every query gives to every point; None where weights differ."""
    on_points = [weights for site, weights in prediction.weights.items()
                 if prediction.axes[site].queries == ("queries",)]  # fmt: skip
    if len(on_points) != 1:
        return None
    low, high = on_points[0].aminmax()
    return float(high) if high > 0 and high - low <= _SAME * high else None


def remarks(weight: float | None, model: torch.nn.Module, data: RegressionData) -> list[str]:
    """What to say of a map whose weights are equal, by :func:`equal_weights`; else nothing."""
    if weight is None:
        return []
    said = [gettext_noop("All weights are equal: each is {weight}.", weight=f"{weight:.3g}")]
    if _sees_the_sign_alone(model, data):
        said.append(gettext_noop(_SAID["sign_alone"]))
    return said


def _sees_the_sign_alone(model: torch.nn.Module, data: RegressionData) -> bool:
    """Whether weights stay equal at any distance from 0, and no longer beyond it."""
    if data.x.shape[1] != 1:
        return False
    size = torch.linspace(_NEAR, _FAR, len(data.x)).to(data.x)[:, None]
    half = torch.ones_like(size)
    half[::2] = -1
    moved, mirrored = (predict(model, data._replace(x=data.x * by), keep_weights=True)
                       for by in (size, half))  # fmt: skip
    return equal_weights(moved) is not None and equal_weights(mirrored) is None
