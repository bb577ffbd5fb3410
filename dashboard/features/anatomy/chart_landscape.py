"""A plane of keys, each in the colour of what one query makes of it."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_of, rounded
from dashboard.charts.grid import boxes
from dashboard.charts.vega_text import quoted
from dashboard.language import gettext

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
