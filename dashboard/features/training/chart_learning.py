"""Learning curves: a figure that several trainings have after every epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from dashboard.charts import theme
from dashboard.charts.legend import named_strokes
from dashboard.charts.pointer import hover

# The names of the data sets: a host may replace them, and the chart stays.
DATA, NOW = "epochs", "now"
_ROOM = 44  # px, for the labels at the left
_FEW_EPOCHS = 40  # up to which every one has a point
_CHARACTER, _SYMBOL = 5.8, 34  # px, of a legend's text, and of what stands before and after it


def learning_chart(
    rows: Sequence[Mapping[str, Any]],
    colours: Mapping[str, str],
    *,
    title: str,
    last: int,
    y_format: str = ".3~g",
    zero: bool = False,
    width: int = theme.WIDTH,
    height: int = 200,
) -> alt.LayerChart:
    """One line per training over its epochs; hovering tells what is nearest.

    Nothing but the data set :data:`DATA` depends on the rows, so that a page which replaces it
    sees the lines grow in a chart that stands still. A row ``epoch`` in the data set :data:`NOW`
    draws a rule there.

    Args:
        rows: ``epoch``, ``value``, ``series``; may be empty.
        colours: by series, in the order of the legend.
        title: of the values, with their unit.
        last: the epoch at which the axis ends.
        y_format: a d3 format of the axis and the tooltip.
        zero: whether the axis of values starts at 0.

    Raises:
        ValueError: a series without a colour, or no epoch to end at.
    """
    if last < 1:
        raise ValueError(f"need 1 <= last, got last={last}")
    if strangers := sorted({str(row["series"]) for row in rows} - set(colours)):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    x = alt.X(
        "epoch:Q",
        scale=alt.Scale(domain=[min(1, last - 1), last], nice=False, zero=False, padding=6),
        axis=alt.Axis(
            title="epoch", grid=False, format="d", tickMinStep=1, tickCount=6, labelFlush=False,
            values=[1] if last == 1 else alt.Undefined,
        ),
    )  # fmt: skip
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(zero=zero, nice=True, padding=0 if zero else 6),
        axis=alt.Axis(
            title=title, titleAngle=0, titleAlign="left", titleBaseline="bottom", titleX=-_ROOM,
            titleY=-8, minExtent=_ROOM, maxExtent=_ROOM, tickCount=5, format=y_format,
        ),
    )  # fmt: skip
    entry = _CHARACTER * max(map(len, colours), default=0) + _SYMBOL
    stroke = named_strokes(
        "series", colours, columns=f"max(1, floor(width / {entry:.0f}))",
        limit=alt.ExprRef("max(80, width - 24)"),
    )  # fmt: skip
    pointed = hover("epoch", "series", nearest=True)
    tooltip = [
        alt.Tooltip("series:N", title="training"),
        alt.Tooltip("epoch:Q", format=",d"),
        alt.Tooltip("value:Q", title=title, format=y_format),
    ]
    base = alt.Chart().encode(x=x, y=y, stroke=stroke)
    line = base.mark_line(strokeWidth=2).properties(name="lines")
    seen = 1 if last <= _FEW_EPOCHS else 0
    points = (
        base.mark_point(size=30, strokeWidth=2)
        .encode(tooltip=tooltip, opacity=alt.condition(pointed, alt.value(1), alt.value(seen)))
        .add_params(pointed)
        .properties(name="points")
    )
    rule = (
        alt.Chart(alt.NamedData(name=NOW))
        .mark_rule(stroke=theme.POINTER, strokeWidth=1, aria=False)
        .encode(x=x)
        .properties(name="now")
    )
    layers = [theme.ramp(), rule, line, points]
    chart = alt.LayerChart(layer=layers, data=alt.NamedData(name=DATA))
    chart = theme.finished(chart, width=width, height=height)
    chart.datasets = {DATA: [dict(row) for row in rows], NOW: []}
    return chart
