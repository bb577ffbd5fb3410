"""Several series over one x axis: as lines, or as points with the lines that were fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import frame_with, rounded
from dashboard.charts.lanes import stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.pointer import hover

_ROOM = 48  # px, for the labels at the left
_MANY_POWERS = 3  # of ten, on a logarithmic axis
_NEEDED = ("x", "y", "series")


def series_chart(
    series: pd.DataFrame,
    colours: Mapping[str, str],
    *,
    x_title: str,
    y_title: str,
    fitted: pd.DataFrame | None = None,
    log: bool = False,
    ticks: Sequence[float] | None = None,
    y_format: str = "~g",
    legend: bool = True,
    width: int = theme.WIDTH,
    height: int = 220,
) -> alt.LayerChart:
    """One line per series; hovering tells the nearest point's values.

    Args:
        series: ``x``, ``y``, ``series``.
        colours: by series, in the order of the legend.
        fitted: the same columns; then ``series`` are points and these the lines.
        log: both axes logarithmic.
        ticks: of the x axis.
        y_format: a d3 format of the y axis and its tooltip.

    Raises:
        ValueError: no rows, other columns, a series without a colour, or a number not above 0
            on a logarithmic axis.
    """
    drawn = _checked(series, colours, log)
    lines = drawn if fitted is None else _checked(fitted, colours, log)
    (lane,) = stacked([height], 0)
    both = pd.concat([drawn, lines])
    kind = "log" if log else "linear"
    (left, low), (right, high) = (end(both[["x", "y"]], axis=0) for end in (np.nanmin, np.nanmax))
    x = alt.X(
        "x:Q",
        scale=alt.Scale(
            type=kind, domain=[float(left), float(right)], nice=False, zero=False,
            padding=8 if fitted is not None else 0,
        ),
        axis=alt.Axis(
            title=x_title, grid=log, format=",d" if log else "~s", labelFlush=True,
            labelSeparation=6, values=alt.Undefined if ticks is None else [*ticks],
        ),
    )  # fmt: skip
    margin = (high - low) * 0.05 or 1.0
    low, high = (low / 1.3, high * 1.3) if log else (low - margin, high + margin)
    marked = _log_ticks(low, high) if log else alt.Undefined
    y = alt.Y(
        "y:Q",
        scale=lane.scale(low, high, kind),
        axis=lane.axis(y_title, _ROOM, form=y_format, values=marked),
    )
    stroke = named_strokes("series", colours, legend=legend)
    pointed = hover("x", "series", nearest=True)
    tooltip = [
        alt.Tooltip("series:N"),
        alt.Tooltip("x:Q", title=x_title, format=",~r"),
        alt.Tooltip("y:Q", title=y_title, format=y_format),
    ]
    seen = 1 if fitted is not None else 0
    points = (
        alt.Chart(drawn)
        .mark_point(size=36, filled=False, strokeWidth=2)
        .encode(
            x=x, y=y, stroke=stroke, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(seen)),
        )
        .add_params(pointed)
        .properties(name="points")
    )  # fmt: skip
    line = (
        alt.Chart(lines)
        .mark_line(strokeWidth=2, opacity=0.75 if fitted is not None else 1)
        .encode(x=x, y=y, stroke=stroke)
        .properties(name="lines")
    )
    chart = alt.LayerChart(layer=[theme.ramp(), line, points])
    return theme.finished(chart, width=width, height=lane.bottom)


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten, or these alone where there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= _MANY_POWERS else (1,)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _checked(series: pd.DataFrame, colours: Mapping[str, str], log: bool) -> pd.DataFrame:
    frame_with(series, _NEEDED)
    if strangers := sorted(set(series["series"]) - set(colours)):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    if log and (series[["x", "y"]].to_numpy(float) <= 0).any():
        raise ValueError("need numbers above 0 on logarithmic axes")
    return pd.DataFrame(
        {"x": rounded(series["x"]), "y": rounded(series["y"]), "series": series["series"]}
    )
