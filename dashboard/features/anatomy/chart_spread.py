"""How scores spread as vectors get longer, and what the softmax makes of it."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_of, rounded
from dashboard.charts.legend import named_strokes
from dashboard.charts.vega_text import quoted
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
