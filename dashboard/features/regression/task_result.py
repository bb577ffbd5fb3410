"""The result of a regression: its tables, and the notes that explain them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from torch import Tensor

from attention_plugins import AttentionMap, RegressionData, axes
from attention_plugins.fitting import Fit
from attention_plugins.regression import Prediction, Scale
from dashboard.features.regression.task_problem import Problem
from dashboard.jobs.task_tables import columns_table, coordinates, labels, maps_table
from dashboard.language import gettext_noop

MOST_CELLS = 250_000  # of a map that is kept


def tables(
    problem: Problem, prediction: Prediction, learned: Fit | None, *, sums_to_one: bool
) -> dict[str, pa.Table]:
    """The tables ``curve``, ``points``, ``maps`` and ``history``, as far as there are such.

    Args:
        sums_to_one: whether rows of weights are meant to.
    """
    data = problem.data
    curve = columns_table({**coordinates(data.queries), "prediction": prediction.values})
    truth = pa.nulls(len(curve), pa.float64())
    if data.truth is not None:
        truth = pa.array(data.truth.double().numpy())
    curve = curve.append_column("truth", truth)
    if problem.measured is not None:
        curve = curve.append_column("measured", pa.array(problem.measured.double().numpy()))
    found = {
        "curve": curve,
        "points": columns_table({**coordinates(data.x), "y": data.y}),
    }
    if prediction.weights:
        parts = {"queries": labels(data.queries), "points": labels(data.x)}
        found["maps"] = maps_table(
            [
                AttentionMap(
                    site=site,
                    weights=weights,
                    query_labels=axes.labels(prediction.axes[site].queries, parts),
                    key_labels=axes.labels(prediction.axes[site].keys, parts),
                    normalised=sums_to_one,
                )
                for site, weights in sorted(  # that of the queries first: it is drawn
                    prediction.weights.items(),
                    key=lambda item: prediction.axes[item[0]].queries != ("queries",),
                )
            ]
        )
    if learned and learned.history:
        found["history"] = pa.Table.from_pylist(
            [{"step": s.number, "loss": s.loss, **s.learned} for s in learned.history]
        )
    return found


def left_out_table(data: RegressionData, rows: Tensor, alone: Tensor) -> dict[str, pa.Table]:
    """The table ``left_out``; none with a single input, whose curve shows the same.

    Args:
        rows: which points were left out ``(r,)``.
        alone: what all others predict of each, ``(r,)``.
    """
    if data.x.shape[1] == 1:
        return {}
    return {"left_out": columns_table({"measured": data.y[rows], "prediction": alone})}


def notes(
    cells: int,
    names: Sequence[str],
    scale: Scale | None,
    learned: Fit | None,
    loose: tuple[str, str, tuple[float, float]] | None = None,
) -> list[str]:
    """What a reader should know of how it was computed.

    Args:
        names: of the inputs.
        loose: where rows of weights need not sum to 1, the titles of the scoring and of the
            normaliser (empty for the softmax), and the smallest and the largest sum.
    """
    found = [learned.note] if learned else []
    if scale is not None:
        units = ", ".join(
            f"{unit:.4g} ({name})" for name, unit in zip(names, scale.unit.tolist(), strict=True)
        )
        found.append(
            gettext_noop(
                "x was scaled to a standard deviation of 1.44: a distance of 1 in the scoring is "
                "0.69 standard deviations, or {units}.",
                units=units,
            )
        )
    if loose is not None:
        found.append(_loose(*loose))
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


def scale_facts(scale: Scale | None) -> dict[str, list[float]] | None:
    """The scale as plain numbers."""
    return scale and {"mean": scale.mean.tolist(), "unit": scale.unit.tolist()}
