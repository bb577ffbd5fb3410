"""A plane of keys, each in the colour of what one query makes of it."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_of, rounded
from dashboard.charts.grid import boxes
from dashboard.charts.labels import quoted
from dashboard.charts.legend import named_strokes
from dashboard.language import gettext

_HEIGHT = 210  # px
_ROOM = 52  # px, for the labels at the left


def spread_chart(
    spread: Table,
    column: str,
    *,
    title: str,
    colours: Mapping[str, str],
    expected: Mapping[str, str] | None = None,
    log: bool = False,
    top: float | None = None,
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """One measured column against ``d``, a line with points per scoring.

    Args:
        spread: ``scoring``, ``d`` and ``column``.
        colours: of every scoring that is drawn, by name; the legend keeps this order.
        expected: what theory says, as an expression of ``d`` per scoring, dashed.
        log: a logarithmic scale of the column, where all of it is above 0.
        top: the end of the scale, where it is known.

    Raises:
        ValueError: nothing to draw, or a column that is missing.
    """
    frame = frame_of(spread)
    if column not in frame.columns or frame.empty:
        raise ValueError(f"need a table with {column}, got {', '.join(frame.columns) or 'none'}")
    drawn = frame[["scoring", "d"]].assign(value=rounded(frame[column].to_numpy(float)))
    log = log and bool((drawn["value"] > 0).all())
    values = drawn["value"].to_numpy(float)
    ends = float(np.nanmin(values)) if log else 0, top or float(np.nanmax(values))
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(type="log" if log else "linear", domain=[*ends]),
        axis=alt.Axis(
            title=title, tickCount=4, format="~g", minExtent=_ROOM, maxExtent=_ROOM,
            titleAnchor="start", titleAngle=0, titleAlign="left", titleY=-10, titleX=-_ROOM + 6,
        ),
    )  # fmt: skip
    x = alt.X(
        "d:Q",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(title="d", grid=False, values=[1, 4, 16, 64, 256], format="d"),
    )
    stroke = named_strokes("scoring", colours)
    fill = alt.Fill("scoring:N", scale=stroke["scale"], legend=None)
    tooltip = [alt.Tooltip("scoring:N", title=gettext("scoring")), alt.Tooltip("d:Q")]
    tooltip += [alt.Tooltip("value:Q", format=".4~g", title=title)]
    base = alt.Chart(drawn)
    layers = [
        base.mark_line(strokeWidth=2).encode(x=x, y=y, stroke=stroke).properties(name="lines"),
        base.mark_point(size=34, opacity=1, strokeWidth=0)
        .encode(x=x, y=y, fill=fill, tooltip=tooltip)
        .properties(name="points"),
    ]
    if expected:
        layers.append(
            base.transform_filter(alt.FieldOneOfPredicate("scoring", list(expected)))
            .transform_calculate(value=_by_scoring(expected))
            .mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET, aria=False)
            .encode(x=x, y=y, detail="scoring:N")
            .properties(name="expected")
        )
    chart = alt.LayerChart(layer=[theme.ramp(), *layers])
    return theme.finished(chart, width=width, height=_HEIGHT)


def _by_scoring(expected: Mapping[str, str]) -> str:
    """One expression that is right for every scoring."""
    chosen = "null"
    for name, formula in expected.items():
        chosen = f"datum.scoring == {quoted(name)} ? {formula} : {chosen}"
    return chosen


_STEEP = 0.02  # share of the keys that may be beyond the scale
_SIDE = 328  # px: whole pixels per key of a grid of 41, so that no seams show


def landscape_chart(
    landscape: Table,
    column: str,
    query: tuple[float, float],
    *,
    title: str,
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """One column over the keys' two numbers, and where the query stands.

    Args:
        landscape: ``x``, ``y`` of keys on an even grid, and ``column``; what is not finite
            looks masked, and minus infinity is called ruled out.

    Raises:
        ValueError: no grid, or a column that is missing.
    """
    frame = frame_of(landscape)
    axis = np.unique(frame["x"].to_numpy()) if "x" in frame else np.array([])
    if column not in frame.columns or len(axis) < 2 or len(axis) ** 2 != len(frame):
        raise ValueError(f"need an even grid of keys with {column}, got {len(frame)} rows")
    step = float(axis[1] - axis[0])
    values = frame[column].to_numpy(float)
    finite = values[np.isfinite(values)]
    drawn = pd.DataFrame(
        {
            "left": rounded(frame["x"].to_numpy() - step / 2),
            "top": rounded(frame["y"].to_numpy() + step / 2),
            "value": rounded(np.where(np.isfinite(values), values, np.nan)),
            "ruled": np.isneginf(values),
        }
    )
    ends = [float(axis[0] - step / 2), float(axis[-1] + step / 2)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if np.isneginf(values).any() and finite.size:
        # At the edge of a window a score falls without end; a few such must not hide the others.
        low = float(np.quantile(finite, _STEEP))
    # All keys alike: the middle of a scale around the one value.
    domain = [low, high] if high - low > 1e-9 * max(abs(low), abs(high), 1) else [low - 1, low + 1]
    scale = alt.Scale(domain=domain, range="heatmap", interpolate="rgb", nice=False, clamp=True)
    # As wide as high, or as its host has room for: circles should look round.
    sides = [0, alt.ExprRef(f"min(width, {_SIDE})")]
    across = alt.Scale(domain=ends, range=sides, nice=False, zero=False)
    up = alt.Scale(domain=ends, nice=False, zero=False)
    even = alt.Axis(grid=False, values=[-3, -2, -1, 0, 1, 2, 3], format="~g", title=None)
    legend = alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=160, gradientThickness=8,
        title=title, titleOrient="top", tickCount=3, format=".3~g",
    )  # fmt: skip
    base = alt.Chart(drawn).transform_calculate(
        right=f"datum.left + {step}", bottom=f"datum.top - {step}",
        x=f"datum.left + {step / 2}", y=f"datum.top - {step / 2}",
        shown="isValid(datum.value) ? format(datum.value, '.4~g') "
        f": datum.ruled ? {quoted(gettext('−∞, ruled out'))} : {quoted(gettext('not finite'))}",
    )  # fmt: skip
    x, y = alt.X("left:Q", scale=across, axis=even), alt.Y("top:Q", scale=up, axis=even)
    tooltip = [
        alt.Tooltip("x:Q", format=".3~g", title=gettext("key, first")),
        alt.Tooltip("y:Q", format=".3~g", title=gettext("key, second")),
        alt.Tooltip("shown:N", title=title),
    ]
    # Not the channel "color": its scale is the ramp, by which labels know the page they are on.
    cells = (
        boxes(base, x, y)
        .transform_filter("isValid(datum.value)")
        .mark_rect(aria=False)
        .encode(fill=alt.Fill("value:Q", scale=scale, legend=legend), tooltip=tooltip)
    )
    masked = (
        boxes(base, x, y)
        .transform_filter("!isValid(datum.value)")
        .mark_rect(aria=False, fill=theme.QUIET, fillOpacity=theme.MASKED_OPACITY)
        .encode(tooltip=tooltip)
    )
    point = (
        alt.Chart(pd.DataFrame([{"left": query[0], "top": query[1]}]))
        .mark_point(
            shape="circle",
            size=110,
            filled=False,
            stroke=theme.POINTER,
            strokeWidth=2.5,
            opacity=1,
        )
        .encode(x=x, y=y, tooltip=alt.value(gettext("the query")))
    )
    layers = [
        theme.ramp(),
        cells.properties(name="cells"),
        masked.properties(name="masked"),
        point.properties(name="query"),
    ]
    return theme.finished(alt.LayerChart(layer=layers), width=width, height=_SIDE)
