"""What charts of predictions share: axes, training points, truth, the query under the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt
import numpy as np

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.lanes import Lane
from dashboard.charts.regression_tables import Problem

ROOM = 36  # px, for the labels at the left
_MARGIN = 0.04  # of the range of values, left free above and below


def input_axis(drawn: Problem, field: str = "x") -> alt.X:
    """The x axis of queries and training points."""
    columns = (drawn.curve["left"], drawn.curve["right"], drawn.points["x"])
    ends = np.concatenate([column.to_numpy(float) for column in columns])
    axis = alt.Axis(
        title=drawn.x_title,
        orient="bottom",
        grid=False,
        labelFlush=True,
        tickCount=5,
        format=theme.NUMBER,
    )
    domain = [float(np.nanmin(ends)), float(np.nanmax(ends))]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def value_axis(lane: Lane, drawn: Iterable[Problem], title: str) -> alt.Y:
    """The y axis of predictions, truth and training points."""
    parts = [p.curve[name] for p in drawn for name in ("prediction", "truth")]
    parts += [p.points["y"] for p in drawn]
    values = np.concatenate([part.to_numpy(float) for part in parts])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = (high - low) * _MARGIN or 0.5
    scale = lane.scale(*rounded([low - margin, high + margin]).tolist())
    return alt.Y("y:Q", scale=scale, axis=lane.axis(title, ROOM, form=theme.NUMBER))


def strips(drawn: Problem, pointed: alt.Parameter, height: float) -> alt.Chart:
    """A column per query over the whole height, unseen: what the pointer is on."""
    return (
        alt.Chart(drawn.curve)
        .mark_rect(fill="white", fillOpacity=0)
        .encode(
            x=input_axis(drawn, "left"),
            x2=alt.X2("right:Q"),
            y=alt.YValue(0),
            y2=alt.Y2Value(height),
            tooltip=[
                alt.Tooltip("x:Q", format=".4~g", title=drawn.x_title),
                alt.Tooltip("prediction:Q", format=".4~g"),
                alt.Tooltip("truth:Q", format=".4~g"),
            ],
        )
        .add_params(pointed)
        .properties(name="queries")
    )


def rule(drawn: Problem, pointed: alt.Parameter, lanes: Sequence[Lane]) -> alt.Chart:
    """A line at the hovered query, through all lanes."""
    return (
        alt.Chart(drawn.curve)
        .transform_filter(pointed)
        .mark_rule(color=theme.POINTER, strokeWidth=1)
        .encode(x=input_axis(drawn), y=alt.YValue(lanes[0].top), y2=alt.Y2Value(lanes[-1].bottom))
    )


def scatter(drawn: Problem, y: alt.Y) -> list[alt.Chart]:
    """Training points as rings, and the truth as a dashed line; the first has the axis of y."""
    x = input_axis(drawn)
    rings = alt.Chart(drawn.points).mark_point(
        size=18, filled=False, strokeWidth=1, opacity=0.8, color=theme.QUIET
    )
    layers = [rings.encode(x=x, y=y)]
    if not np.isnan(drawn.curve["truth"].to_numpy(float)).all():
        chart = alt.Chart(drawn.curve).encode(x=x, y=value_of(y, "truth"))
        layers.append(
            chart.mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET)
            if drawn.line
            else chart.mark_point(size=18, color=theme.QUIET)
        )
    return layers


def value_of(y: alt.Y, field: str) -> alt.Y:
    """Another column on the scale of ``y``, whose axis is drawn already."""
    return alt.Y(f"{field}:Q", scale=y["scale"], axis=None)


def prediction(drawn: Problem, y: alt.Y, colour: str) -> alt.Chart:
    """The prediction as a line, or as dots where neighbours on the x axis are none in the data."""
    chart = alt.Chart(drawn.curve).encode(x=input_axis(drawn), y=value_of(y, "prediction"))
    if drawn.line:
        return chart.mark_line(strokeWidth=2, color=colour)
    return chart.mark_point(size=18, filled=True, opacity=1, color=colour)
