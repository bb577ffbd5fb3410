"""Kernel regression: the curve, and below it the weights that made each of its points."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.curves import (
    input_axis,
    prediction,
    rule,
    scatter,
    strips,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table, top_weight
from dashboard.charts.lanes import OWN_SCALES, stacked
from dashboard.charts.pointer import hover
from dashboard.charts.regression_tables import Problem, problem
from dashboard.charts.weightlane import cell_table, lists, weight_lane

_CURVE, _MAP, _GAP = 170, 150, 40  # px


def regression_chart(
    curve: Table,
    points: Table,
    weights: np.ndarray | None = None,
    *,
    colour: str = theme.PANEL_COLOURS["a"],
    vmax: float | None = None,
    x_title: str = "x",
    y_title: str = "y",
    title: str = "",
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """The prediction over the training points and the truth, and its weights underneath.

    The column of the map under a point of the curve holds the weights that gave that point.
    Hovering anywhere marks the query in both, tells its values, and sizes the training points by
    their weights.

    Args:
        curve: ``x0`` …, ``prediction``, ``truth`` (null where unknown); a row per query.
        points: ``x0`` …, ``y``; a row per training point.
        weights: ``(queries, keys)`` or ``(1, queries, keys)``; None draws the curve alone. More
            cells than :data:`~dashboard.charts.theme.MAX_RECTS` become an image, on which the
            pointer finds the query, not the single weight.
        colour: of the prediction.
        vmax: the end of the colour scale, as panels share it; the largest weight where None.
        x_title, y_title: names of the data's columns. With inputs of several numbers the x axis
            counts the queries, sorted by their first number, and says so.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no queries, or weights that do not fit the tables.
    """
    drawn = problem(curve, points, weights, x_title)
    weights = drawn.weights
    lanes = stacked([_CURVE] if weights is None else [_CURVE, _MAP], _GAP)
    height = lanes[-1].bottom
    pointed = hover("q")
    y = value_axis(lanes[0], [drawn], y_title)
    upper = [*scatter(drawn, y), prediction(drawn, y, colour)]
    lower = [theme.ramp()]
    if weights is not None:
        vmax = top_weight([weights]) if vmax is None else vmax
        cells = cell_table(weights) if weights.size <= theme.MAX_RECTS else None
        if cells is not None:
            end = max(float(weights.max()), 1e-9)
            upper.append(_weighed_points(cells, drawn, pointed, y, colour, end))
        lower = weight_lane(drawn, weights, cells, lanes[1], vmax)
    upper.append(_hovered_point(drawn, pointed, y, colour))
    # One flat list: Altair copies the layers of a layer over and over.
    layers = [strips(drawn, pointed, height), *lower, rule(drawn, pointed, lanes), *upper]
    return theme.finished(
        alt.LayerChart(layer=layers, resolve=OWN_SCALES),
        width=width,
        height=height,
        title=theme.heading(title, drawn.note),
        params={} if weights is None else lists(drawn),
    )


def _hovered_point(drawn: Problem, pointed: alt.Parameter, y: alt.Y, colour: str) -> alt.Chart:
    return (
        alt.Chart(drawn.curve)
        .transform_filter(pointed)
        .mark_point(size=50, filled=True, opacity=1, fill=colour, stroke="white", strokeWidth=1.5)
        .encode(x=input_axis(drawn), y=value_of(y, "prediction"))
    )


def _weighed_points(
    cells: pd.DataFrame, drawn: Problem, pointed: alt.Parameter, y: alt.Y, colour: str, end: float
) -> alt.Chart:
    """The training points, their areas as their weights for the hovered query, up to ``end``."""
    return (
        alt.Chart(cells)
        .transform_filter(pointed)
        .transform_calculate(x="inputs[datum.k]", y="outputs[datum.k]")
        .mark_point(filled=True, fill=colour, opacity=0.55)
        .encode(
            x=input_axis(drawn),
            y=value_of(y, "y"),
            size=alt.Size(
                "weight:Q", scale=alt.Scale(domain=[0, end], range=[0, 260]), legend=None
            ),
        )
    )
