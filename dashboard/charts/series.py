"""Several series over one x axis: as lines, or as points with the lines that were fitted."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import frame_with, rounded
from dashboard.charts.lanes import hover, stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.summary import of_series
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import gettext

_ROOM = 48  # px, for the labels at the left
_MANY_POWERS = 3  # of ten, on a logarithmic axis
_NEEDED = ("x", "y", "series")


class SeriesShape(NamedTuple):
    """What a specification follows from.

    Args:
        names: of the series, in the order of the legend, with their colours.
        titles: of the axes, x first.
        fitted: whether the lines are another table than the points.
        compared: whether there are dashed lines to compare with.
        log: both axes logarithmic.
        doubling: the x axis logarithmic, where each step doubles x.
        ticks: of the x axis; where they suit it if empty.
        marked: ticks of the y axis; where they suit it if empty.
        y_format: of the y axis and its tooltip.
    """

    names: tuple[tuple[str, str], ...]
    titles: tuple[str, str]
    fitted: bool
    compared: bool
    log: bool
    doubling: bool
    ticks: tuple[float, ...]
    marked: tuple[float, ...]
    y_format: str
    legend: bool
    width: int
    height: int


def prepare_series(
    series: pd.DataFrame,
    colours: Mapping[str, str],
    *,
    x_title: str,
    y_title: str,
    fitted: pd.DataFrame | None = None,
    compared: pd.DataFrame | None = None,
    compared_as: str = "",
    log: bool = False,
    doubling: bool = False,
    ticks: Sequence[float] = (),
    y_format: str = "~g",
    legend: bool = True,
    width: int = theme.WIDTH,
    height: int = 220,
) -> Prepared[SeriesShape]:
    """What :func:`draw_series` draws: one line per series.

    Args:
        series: ``x``, ``y``, ``series``.
        colours: by series, in the order of the legend.
        fitted: the same columns; then ``series`` are points and these the lines.
        compared: the same columns: dashed lines to compare with, in the series' colours.
        compared_as: what these are, for the chart in words.
        log: both axes logarithmic.
        doubling: the x axis alone logarithmic, where each step doubles x.
        ticks: of the x axis.
        y_format: a d3 format of the y axis and its tooltip.

    Raises:
        ValueError: no rows, other columns, a series without a colour, or a number not above 0
            on a logarithmic axis.
    """
    positive = ["x", "y"] if log else ["x"] if doubling else []
    tables = {"points": _checked(series, colours, positive)}
    if fitted is not None:
        tables["lines"] = _checked(fitted, colours, positive)
    told = series
    if compared is not None:
        tables["compared"] = _checked(compared, colours, positive)
        named = compared["series"] + f" ({compared_as})"
        told = pd.concat([series, compared.assign(series=named)])
    both = pd.concat(tables.values())
    (left, low), (right, high) = (end(both[["x", "y"]], axis=0) for end in (np.nanmin, np.nanmax))
    if left == right:  # an axis needs a length
        right = 2 * left if positive else left + 1
    margin = (high - low) * 0.05 or 1.0
    low, high = _log_ends(low, high) if log else (low - margin, high + margin)
    shape = SeriesShape(
        names=tuple(colours.items()), titles=(x_title, y_title), fitted=fitted is not None,
        compared=compared is not None, log=log, doubling=doubling, ticks=tuple(map(float, ticks)),
        marked=tuple(_log_ticks(low, high)) if log else (), y_format=y_format, legend=legend,
        width=width, height=height,
    )  # fmt: skip
    ends = {"left": left, "right": right, "low": low, "high": high}
    sent = {n: pa.Table.from_pandas(frame, preserve_index=False) for n, frame in tables.items()}
    named = {"series": gettext("series")}
    told = told.loc[:, ["series", "x", "y"]].rename(columns=named)
    summary = of_series(told, name=named["series"], x="x", y="y", titles=(x_title, y_title))
    return Prepared(sent, shape, {name: float(end) for name, end in ends.items()}, summary)


def draw_series(data: Sources, shape: SeriesShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_series` makes it, or names it.

    Hovering tells the nearest point's values, but not those of dashed lines.
    """
    (lane,) = stacked([shape.height], 0)
    powers = shape.log or shape.doubling
    x_kind, y_kind = "log" if powers else "linear", "log" if shape.log else "linear"
    x_title, y_title = shape.titles
    x = alt.X(
        "x:Q",
        scale=alt.Scale(
            type=x_kind, base=2 if shape.doubling else alt.Undefined,
            domain=[alt.ExprRef("left"), alt.ExprRef("right")], nice=False,
            zero=alt.Undefined if powers else False, padding=8 if shape.fitted else 0,
        ),
        axis=alt.Axis(
            title=x_title, grid=shape.log, format=",d" if powers else "~s", labelFlush=True,
            labelSeparation=6, values=[*shape.ticks] or alt.Undefined,
        ),
    )  # fmt: skip
    marked = [*shape.marked] or alt.Undefined
    y = alt.Y(
        "y:Q",
        scale=lane.scale(alt.ExprRef("low"), alt.ExprRef("high"), y_kind),
        axis=lane.axis(y_title, _ROOM, form=shape.y_format, values=marked),
    )
    stroke = named_strokes("series", dict(shape.names), legend=shape.legend)
    pointed = hover("x", "series", nearest=True)
    tooltip = [
        alt.Tooltip("series:N", title=gettext("series")),
        alt.Tooltip("x:Q", title=x_title, format=",~r"),
        alt.Tooltip("y:Q", title=y_title, format=shape.y_format),
    ]
    seen = 1 if shape.fitted else 0
    points = (
        alt.Chart(data["points"])
        .mark_point(size=36, filled=False, strokeWidth=2)
        .encode(
            x=x, y=y, stroke=stroke, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(seen)),
        )
        .add_params(pointed)
        .properties(name="points")
    )  # fmt: skip
    line = (
        alt.Chart(data.get("lines", data["points"]))
        .mark_line(strokeWidth=2, opacity=0.75 if shape.fitted else 1)
        .encode(x=x, y=y, stroke=stroke)
        .properties(name="lines")
    )
    dashed = [_dashed(data["compared"]).encode(x=x, y=y, stroke=stroke)] if shape.compared else []
    chart = alt.LayerChart(layer=[theme.ramp(), *dashed, line, points])
    return theme.finished(chart, width=shape.width, height=lane.bottom, params=values_of(data))


def _dashed(data: Any) -> alt.Chart:
    style = {"strokeWidth": 1.5, "strokeDash": [5, 4], "opacity": 0.7}
    return alt.Chart(data).mark_line(**style).properties(name="compared")


def _log_ends(low: float, high: float) -> tuple[float, float]:
    """The nearest 1, 2 or 5 times powers of ten with some room: similar series share an axis."""
    steps = [float(f"{step}e{power}") for power in range(-300, 300) for step in (1, 2, 5)]
    below, above = bisect_right(steps, low / 1.1) - 1, bisect_left(steps, high * 1.1)
    return steps[below], steps[above]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten, or these alone where there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= _MANY_POWERS else (1,)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _checked(
    series: pd.DataFrame, colours: Mapping[str, str], positive: Sequence[str]
) -> pd.DataFrame:
    frame_with(series, _NEEDED)
    if strangers := sorted(set(series["series"]) - set(colours)):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    if (series[[*positive]].to_numpy(float) <= 0).any():
        raise ValueError("need numbers above 0 on logarithmic axes")
    return pd.DataFrame(
        {"x": rounded(series["x"]), "y": rounded(series["y"]), "series": series["series"]}
    )
