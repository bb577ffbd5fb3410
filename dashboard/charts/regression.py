"""Kernel regression: the curve, and below it the weights that made each of its points."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt
import numpy as np

from dashboard.charts import theme
from dashboard.charts.curves import (
    Axes,
    axes,
    input_axis,
    prediction,
    rule,
    scatter,
    strips,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table, top_weight
from dashboard.charts.lanes import OWN_SCALES, hover, stacked
from dashboard.charts.regression_tables import Problem, problem, table_of
from dashboard.charts.summary import Summary, number, of_lines, of_matrix
from dashboard.charts.template import Data, Prepared, Sources, chart_maker
from dashboard.charts.weightlane import (
    MapShape,
    hovered_cells,
    largest_weight,
    map_shape,
    map_tables,
    weighed_points,
    weight_lane,
)
from dashboard.language import gettext
from dashboard.language.joining import together

_CURVE, _MAP, _GAP = 170, 150, 40  # px


class RegressionShape(NamedTuple):
    """What a specification follows from; the map's is None where there are no weights."""

    axes: Axes
    map: MapShape | None
    colour: str
    title: str
    note: str
    width: int


def prepare_regression(
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
) -> Prepared[RegressionShape]:
    """The prediction over the training points and the truth, and its weights underneath.

    The column of the map under a point of the curve holds the weights that gave that point.
    Hovering anywhere marks the query in both, tells its values, and sizes the training points by
    their weights.

    Args:
        curve: ``x0`` …, ``prediction``, ``truth`` (null where unknown); a row per query.
        points: ``x0`` …, ``y``; a row per training point.
        weights: ``(queries, keys)`` or ``(1, queries, keys)``; None draws the curve alone. Of more
            than :data:`~dashboard.charts.weightlane.MOST_TOLD` the pointer finds the query, not
            the single weight.
        colour: of the prediction.
        vmax: the end of the colour scale, as panels share it; the largest weight where None.
        x_title, y_title: names of the data's columns. With inputs of several numbers the x axis
            counts the queries, sorted by their first number, and says so.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no queries, or weights that do not fit the tables.
    """
    drawn = problem(curve, points, weights, x_title)
    queries, tables, lane = drawn.curve, {}, None
    if drawn.weights is not None:
        end = top_weight([drawn.weights]) if vmax is None else theme.checked_end(vmax)
        lane = map_shape(drawn, _MAP)
        more, tables = map_tables(drawn, end, lane.told)
        queries = {**queries, **more}
    return Prepared(
        {"queries": table_of(queries), "points": table_of(drawn.points), **tables},
        RegressionShape(axes([drawn], y_title), lane, colour, title, drawn.note, width),
        summary=_summary(drawn, y_title),
    )


def _summary(drawn: Problem, y_title: str) -> Summary:
    """The curve, and where its largest weights lie."""
    curve = {gettext("prediction"): drawn.curve["prediction"],
             gettext("truth"): drawn.curve["truth"]}  # fmt: skip
    curve = {name: values for name, values in curve.items() if np.isfinite(values).any()}
    said = of_lines(drawn.curve["x"], curve, x_title=drawn.x_title, y_title=y_title)
    if drawn.weights is None:
        return said
    queries = (drawn.edges[1:] + drawn.edges[:-1]) / 2
    names = (gettext("query at {x_title}", x_title=drawn.x_title), gettext("training point at"))
    weights = of_matrix(
        drawn.weights, [*map(number, queries)], [*map(number, drawn.inputs)], names=names
    )
    return Summary(together((said.words, weights.words)), said.table)


def draw_regression(data: Sources, shape: RegressionShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_regression` makes it, or names it."""
    queries, points, colour = data["queries"], data["points"], shape.colour
    lanes = stacked([_CURVE] if shape.map is None else [_CURVE, _MAP], _GAP)
    height = lanes[-1].bottom
    pointed = hover("q")
    y = value_axis(lanes[0], shape.axes)
    line = prediction(queries, shape.axes, y, colour)
    upper = [*scatter(queries, points, shape.axes, y), line]
    lower = [theme.ramp()]
    if shape.map is not None:
        lower = weight_lane(data["picture"], shape.axes, shape.map, lanes[1])
        if shape.map.told:
            row = queries, data["keys"], shape.axes
            lower.append(hovered_cells(*row, shape.map, lanes[1], pointed))
            if shape.axes.line:
                upper.append(weighed_points(*row, pointed, y, colour))
    upper.append(_hovered_point(queries, shape.axes, pointed, y, colour))
    if shape.map is not None:
        upper.append(largest_weight(data["picture"], lanes[1]))
    # One flat list: Altair copies the layers of a layer over and over.
    layers = [
        strips(queries, shape.axes, pointed, height),
        *lower,
        rule(queries, shape.axes, pointed, lanes),
        *upper,
    ]
    return theme.finished(
        alt.LayerChart(layer=layers, resolve=OWN_SCALES),
        width=shape.width,
        height=height,
        title=theme.heading(shape.title, shape.note),
        params={} if shape.map is None else {"inputs": shape.map.labels},
        canvas=shape.map is not None and shape.map.told,
    )


regression_chart = chart_maker(prepare_regression, draw_regression)


def _hovered_point(
    queries: Data, axes: Axes, pointed: alt.Parameter, y: alt.Y, colour: str
) -> alt.Chart:
    return (
        alt.Chart(queries)
        .transform_filter(pointed)
        .mark_point(
            size=50,
            filled=True,
            opacity=1,
            fill=colour,
            stroke="white",
            strokeWidth=1.5,
            aria=False,
        )
        .encode(x=input_axis(axes), y=value_of(y, "prediction"))
    )
