"""The result of a regression: its tables, and the notes that explain them."""

from collections.abc import Mapping
from itertools import chain, count

import pyarrow as pa
import torch
from torch import nn

from attention_plugins import AttentionMap, RegressionData, record
from attention_plugins.fitting import Fit
from attention_plugins.regression import LeaveOneOut, MeanSquare, Prediction, Scale, predict
from dashboard.features.regression.task_problem import Problem
from dashboard.jobs.task_tables import columns_table, coordinates, labels, maps_table
from dashboard.language import gettext_noop

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
        found["maps"] = maps_table(
            [
                AttentionMap(
                    site=site,
                    weights=prediction.weights[site],
                    query_labels=record.labels(axes[site].queries, parts),
                    key_labels=record.labels(axes[site].keys, parts),
                    normalised=sums_to_one,
                    signed=signed,
                )
                for site in sites
            ]
        )
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
    numbers = torch.arange(1, len(data.x) + 1) if problem.rows is None else problem.rows
    taken = {"row", "measured", "prediction"}
    inputs = {}
    for name, column in zip(problem.names[:-1], data.x[rows].unbind(dim=1), strict=True):
        numbered = (f"{name} ({number})" for number in count(2))
        free = next(one for one in chain([name], numbered) if one not in taken | {*inputs})
        inputs[free] = column
    left_out = {
        "row": pa.array(numbers[rows].numpy()),
        **{name: pa.array(column.double().numpy()) for name, column in inputs.items()},
        "measured": pa.array(data.y[rows].double().numpy()),
        "prediction": pa.array(found.alone.double().cpu().numpy()),
    }
    counts = {"rows": len(rows), "points": found.points}
    errors = [{"metric": name, **mean._asdict(), **counts} for name, mean in means.items()]
    return {"left_out": pa.table(left_out), "errors": pa.Table.from_pylist(errors)}


def estimate_note(
    titles: tuple[str, str], found: LeaveOneOut, means: Mapping[str, MeanSquare]
) -> list[str]:
    """That an error is one of a sample, where it is; ``titles`` are :attr:`.Asked.titles`."""
    if not found.is_sample:
        return []
    value, deviation = (f"{each:.4g}" for each in means["leave_one_out_mse"])
    return [
        gettext_noop(
            "{scoring}: the leave-one-out error is estimated on {rows:,} of {points:,} rows, "
            "drawn at random: {error} ± {deviation} (standard error).",
            scoring=", ".join(filter(None, titles)),
            rows=len(found.rows), points=found.points, error=value, deviation=deviation,
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
        found.append(
            gettext_noop(
                "x was scaled to a standard deviation of 1.44: a distance of 1 in the scoring is "
                "0.69 standard deviations, or {units}.",
                units=units,
            )
        )
    if loose is not None:
        found.append(_loose(*loose))
    drawn, points = len(problem.data.queries), len(problem.data.x)
    if problem.measured is not None and drawn < points:
        found.append(
            gettext_noop(
                "Each panel shows {drawn:,} of {points:,} rows, evenly picked; effective "
                "neighbours are those of these rows.",
                drawn=drawn, points=points,
            )
        )  # fmt: skip
    if cells > MOST_CELLS:
        found.append(
            gettext_noop(
                "No map of {cells:,} weights is kept; need at most {most:,}.",
                cells=cells, most=MOST_CELLS,
            )
        )  # fmt: skip
    return found


def _loose(scoring: str, normaliser: str, ends: tuple[float, float]) -> str:
    """What rows sum to, as whole sentences: a page knows each by its form."""
    low, high = (f"{end:.3g}" for end in ends)
    if normaliser and low != high:
        return gettext_noop(
            "{scoring}, {normaliser}: rows of weights need not sum to 1; they sum to {low} to "
            "{high}, so that a prediction is a weighted sum, not a mean. Effective "
            "neighbours are counted by each weight's share of its row.",
            scoring=scoring, normaliser=normaliser, low=low, high=high,
        )  # fmt: skip
    if normaliser:
        return gettext_noop(
            "{scoring}, {normaliser}: rows of weights need not sum to 1; they sum to {sum}, so "
            "that a prediction is a weighted sum, not a mean. Effective neighbours "
            "are counted by each weight's share of its row.",
            scoring=scoring, normaliser=normaliser, sum=low,
        )  # fmt: skip
    if low != high:
        return gettext_noop(
            "{scoring}: rows of weights need not sum to 1; they sum to {low} to {high}, so that "
            "a prediction is a weighted sum, not a mean. Effective neighbours are "
            "counted by each weight's share of its row.",
            scoring=scoring, low=low, high=high,
        )  # fmt: skip
    return gettext_noop(
        "{scoring}: rows of weights need not sum to 1; they sum to {sum}, so that a prediction "
        "is a weighted sum, not a mean. Effective neighbours are counted by each weight's "
        "share of its row.",
        scoring=scoring, sum=low,
    )  # fmt: skip


def equal_weights(prediction: Prediction) -> float | None:
    """The weight that every query gives to every point; None where weights differ."""
    on_points = [weights for site, weights in prediction.weights.items()
                 if prediction.axes[site].queries == ("queries",)]  # fmt: skip
    if len(on_points) != 1:
        return None
    low, high = on_points[0].aminmax()
    return float(high) if high > 0 and high - low <= _SAME * high else None


def remarks(weight: float | None, model: nn.Module, data: RegressionData) -> list[str]:
    """What to say of a map whose weights are equal, by :func:`equal_weights`; else nothing."""
    if weight is None:
        return []
    said = [gettext_noop("All weights are equal: each is {weight}.", weight=f"{weight:.3g}")]
    if _sees_the_sign_alone(model, data):
        said.append(
            gettext_noop(
                "With one input this scoring sees only the sign of x, which is the same "
                "everywhere here."
            )
        )
    return said


def _sees_the_sign_alone(model: nn.Module, data: RegressionData) -> bool:
    """Whether weights stay equal at any distance from 0, and no longer beyond it."""
    if data.x.shape[1] != 1:
        return False
    size = torch.linspace(_NEAR, _FAR, len(data.x)).to(data.x)[:, None]
    half = torch.ones_like(size)
    half[::2] = -1
    moved, mirrored = (predict(model, data._replace(x=data.x * by), keep_weights=True)
                       for by in (size, half))  # fmt: skip
    return equal_weights(moved) is not None and equal_weights(mirrored) is None
