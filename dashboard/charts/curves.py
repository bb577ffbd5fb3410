"""What charts of predictions share: axes, training points, truth, the query under the pointer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.lanes import Lane
from dashboard.charts.regression_tables import Problem
from dashboard.charts.template import Data
from dashboard.language import gettext

ROOM = 36  # px, for the labels at the left
_MARGIN = 0.04  # of the range of values, left free above and below
_STEPS = 40  # of the range of values, at most: an axis begins and ends at one of them


class Axes(NamedTuple):
    """Where curves are drawn: part of a chart's shape.

    Args:
        x, y: what the axes begin and end with.
        x_title, y_title: their names.
        line: whether neighbours in the curve are neighbours in the data.
        truth: whether it is known.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_title: str
    y_title: str
    line: bool
    truth: bool


def axes(drawn: Sequence[Problem], y_title: str) -> Axes:
    """The axes of these curves, the first of which has the queries and the truth.

    The y axis ends at round numbers, so that a curve may move and leave the axes as they are.
    """
    first = drawn[0]
    ends = np.concatenate([first.curve["left"], first.curve["right"], first.points["x"]])
    values = [p.curve[name] for p in drawn for name in ("prediction", "truth")]
    values += [p.points["y"] for p in drawn]
    return Axes(
        x=(float(np.nanmin(ends)), float(np.nanmax(ends))),
        y=round_ends(np.concatenate(values)),
        x_title=first.x_title,
        y_title=y_title,
        line=first.line,
        truth=not np.isnan(first.curve["truth"]).all(),
    )


def round_ends(values: np.ndarray) -> tuple[float, float]:
    """Round numbers with all finite values between them, and some room."""
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = (high - low) * _MARGIN or 0.5
    low, high = low - margin, high + margin
    finest = (high - low) / _STEPS
    power = 10.0 ** math.floor(math.log10(finest))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= finest)
    start, end = rounded([math.floor(low / step) * step, math.ceil(high / step) * step]).tolist()
    return min(start, low), max(end, high)


def input_axis(axes: Axes, field: str = "x") -> alt.X:
    """The x axis of queries and training points."""
    axis = alt.Axis(
        title=axes.x_title,
        titleLimit=alt.ExprRef("width"),  # a long title would take the plot's room
        orient="bottom",
        grid=False,
        labelFlush=True,
        tickCount=5,
        format=theme.NUMBER,
    )
    scale = alt.Scale(domain=[*axes.x], nice=False, zero=False)
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def value_axis(lane: Lane, axes: Axes) -> alt.Y:
    """The y axis of predictions, truth and training points."""
    axis = lane.axis(axes.y_title, ROOM, form=theme.NUMBER)
    return alt.Y("y:Q", scale=lane.scale(*axes.y), axis=axis)


def strips(
    queries: Data,
    axes: Axes,
    pointed: alt.Parameter,
    height: float,
    tooltip: Sequence[alt.Tooltip] | None = None,
) -> alt.Chart:
    """A column per query over the whole height, unseen: what the pointer is on.

    Args:
        tooltip: between the query and the truth, where this is known; the prediction where None.
    """
    usual = alt.Tooltip("prediction:Q", format=theme.EXACT, title=gettext("prediction"))
    told = [usual] if tooltip is None else [*tooltip]
    if axes.truth:
        told.append(alt.Tooltip("truth:Q", format=theme.EXACT, title=gettext("truth")))
    return (
        alt.Chart(queries)
        .mark_rect(fill="white", fillOpacity=0)
        .encode(
            x=input_axis(axes, "left"),
            x2=alt.X2("right:Q"),
            y=alt.YValue(0),
            y2=alt.Y2Value(height),
            tooltip=[
                alt.Tooltip("x:Q", format=theme.EXACT, title=axes.x_title),
                *told,
            ],
        )
        .add_params(pointed)
        .properties(name="queries")
    )


def rule(queries: Data, axes: Axes, pointed: alt.Parameter, lanes: Sequence[Lane]) -> alt.Chart:
    """A line at the hovered query, through all lanes."""
    return (
        alt.Chart(queries)
        .transform_filter(pointed)
        .mark_rule(color=theme.POINTER, strokeWidth=1, aria=False)
        .encode(x=input_axis(axes), y=alt.YValue(lanes[0].top), y2=alt.Y2Value(lanes[-1].bottom))
    )


def scatter(queries: Data, points: Data, axes: Axes, y: alt.Y) -> list[alt.Chart]:
    """Training points as rings, and the truth as a dashed line; the first has the axis of y."""
    x = input_axis(axes)
    rings = alt.Chart(points).mark_point(
        size=18, filled=False, strokeWidth=1, opacity=0.8, color=theme.QUIET
    )
    layers = [rings.encode(x=x, y=y)]
    if axes.truth:
        chart = alt.Chart(queries).encode(x=x, y=value_of(y, "truth"))
        layers.append(
            chart.mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET)
            if axes.line
            else chart.mark_point(size=18, color=theme.QUIET)
        )
    return layers


def value_of(y: alt.Y, field: str) -> alt.Y:
    """Another column on the scale of ``y``, whose axis is drawn already."""
    return alt.Y(f"{field}:Q", scale=y["scale"], axis=None)


def prediction(queries: Data, axes: Axes, y: alt.Y, colour: str) -> alt.Chart:
    """The prediction as a line, or as dots where neighbours on the x axis are none in the data."""
    chart = alt.Chart(queries).encode(x=input_axis(axes), y=value_of(y, "prediction"))
    if axes.line:
        return chart.mark_line(strokeWidth=2, color=colour)
    return chart.mark_point(size=18, filled=True, opacity=1, color=colour)
