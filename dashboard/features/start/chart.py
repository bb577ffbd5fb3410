"""Several scorings' predictions in one plot, and below it their weights at one query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.curves import (
    ROOM,
    Axes,
    axes,
    input_axis,
    scatter,
    strips,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table
from dashboard.charts.lanes import OWN_SCALES, Lane, hover, stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.regression_tables import Problem, problem, table_of
from dashboard.charts.summary import of_lines
from dashboard.charts.template import Data, Prepared, Sources
from dashboard.language import gettext

_CURVES, _WEIGHTS, _GAP = 180, 80, 38  # px
_UNIT = 10_000  # weights travel as whole numbers of this part
_TICKS = 2  # of the axis of weights


class Curve(NamedTuple):
    """One scoring: its name in the legend, its colour, and its result.

    Args:
        curve: ``x0``, ``prediction``, ``truth``; a row per query.
        weights: ``(queries, keys)``.
    """

    name: str
    colour: str
    curve: Table
    weights: np.ndarray


class StartShape(NamedTuple):
    """What a specification follows from: names with colours, the marked query, px."""

    axes: Axes
    names: tuple[tuple[str, str], ...]
    marked: int
    width: int


def prepare_start(
    curves: Sequence[Curve], points: Table, marked: int, *, width: int = theme.WIDTH
) -> Prepared[StartShape]:
    """What :func:`draw_start` draws.

    Args:
        curves: at the same queries; the truth is the first one's.
        points: ``x0``, ``y``; a row per training point.
        marked: the query, counted by its x, whose weights are drawn while the pointer is on none.
    """
    drawn = [problem(one.curve, points, one.weights) for one in curves]
    first = drawn[0]
    wide = dict(first.curve)
    for number, one in enumerate(drawn):
        wide |= {f"p{number}": one.curve["prediction"], f"w{number}": _told(one)}
    tables = {
        "queries": table_of(wide),
        "points": table_of(first.points),
        "curves": _tall(curves, drawn),
    }
    names = tuple((one.name, one.colour) for one in curves)
    shape = StartShape(axes(drawn, "y"), names, marked, width)
    lines = {one.name: made.curve["prediction"] for one, made in zip(curves, drawn, strict=True)}
    summary = of_lines(first.curve["x"], lines, x_title=first.x_title, y_title="y")
    return Prepared(tables, shape, summary=summary)


def draw_start(data: Sources, shape: StartShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_start` makes it, or names it."""
    upper, lower = stacked([_CURVES, _WEIGHTS], _GAP)
    pointed = hover("q")
    queries, points, x = data["queries"], data["points"], input_axis(shape.axes)
    y = value_axis(upper, shape.axes)
    strokes = named_strokes("scoring", dict(shape.names), columns="4")
    seen = f"isValid(hover.q) ? datum.q == hover.q[0] : datum.q == {shape.marked}"
    layers = [
        theme.ramp(),
        strips(queries, shape.axes, pointed, lower.bottom, _tooltip(shape)),
        _marked(queries, shape, seen, [upper, lower]),
        *scatter(queries, points, shape.axes, y),
        alt.Chart(data["curves"])
        .mark_line(strokeWidth=2)
        .encode(x=x, y=value_of(y, "prediction"), stroke=strokes)
        .properties(name="curves"),
        _weights(queries, points, shape, seen, lower, strokes),
    ]
    chart = alt.LayerChart(layer=layers, resolve=OWN_SCALES)
    return theme.finished(chart, width=shape.width, height=lower.bottom)


def _marked(queries: Data, shape: StartShape, seen: str, lanes: Sequence[Lane]) -> alt.Chart:
    return (
        alt.Chart(queries)
        .transform_filter(seen)
        .mark_rule(color=theme.POINTER, strokeWidth=1)
        .encode(
            x=input_axis(shape.axes), y=alt.YValue(lanes[0].top), y2=alt.Y2Value(lanes[-1].bottom)
        )
        .properties(name="marked")
    )


def _weights(
    queries: Data, points: Data, shape: StartShape, seen: str, lane: Lane, strokes: alt.Stroke
) -> alt.Chart:
    """A line for each scoring through the weights of the training points at one query."""
    names = json.dumps([name for name, _ in shape.names])
    rows = (
        alt.Chart(queries)
        .transform_filter(seen)
        .transform_fold(
            [f"w{number}" for number in range(len(shape.names))], as_=["column", "told"]
        )
        .transform_calculate(
            scoring=f"{names}[toNumber(slice(datum.column, 1))]",
            said="split(datum.told, ' ')",
        )
        .transform_calculate(k="sequence(length(datum.said))")
        .transform_flatten(["said", "k"])
        .transform_lookup("k", from_=alt.LookupData(points, "k", ["x"]), as_=["input"])
        .transform_calculate(weight=f"toNumber(datum.said) / {_UNIT}")
    )
    # Without a domain it follows the line: at the ends of x weights are five times as large.
    scale = alt.Scale(range=[lane.bottom, lane.top], nice=_TICKS, zero=True)
    title = gettext("weight of each training point at the line")
    axis = lane.axis(title, ROOM, form=theme.NUMBER, count=_TICKS)
    drawn = rows.mark_line(strokeWidth=1.5, point={"size": 12, "filled": True}).encode(
        x=input_axis(shape.axes, "input"),
        y=alt.Y("weight:Q", scale=scale, axis=axis),
        # Of the legend nothing is said again: Vega would warn of two that differ.
        stroke=alt.Stroke("scoring:N", scale=strokes["scale"]),
    )
    return drawn.properties(name="weights")


def _tooltip(shape: StartShape) -> Sequence[alt.Tooltip]:
    return [
        alt.Tooltip(f"p{i}:Q", format=theme.EXACT, title=name)
        for i, (name, _) in enumerate(shape.names)
    ]


def _tall(curves: Sequence[Curve], drawn: Sequence[Problem]) -> pa.Table:
    """A row per scoring and query."""
    columns = {
        name: np.concatenate([one.curve[name] for one in drawn]) for name in ("x", "prediction")
    }
    names = np.array([one.name for one in curves], dtype=object)
    return table_of({**columns, "scoring": np.repeat(names, [len(p.curve["x"]) for p in drawn])})


def _told(drawn: Problem) -> np.ndarray:
    """Every query's weights as one text, in the order of the training points' x."""
    assert drawn.weights is not None
    rows = np.rint(drawn.weights[drawn.curve["q"]] * _UNIT).astype(int).tolist()
    return np.array([" ".join(map(str, row)) for row in rows], dtype=object)
