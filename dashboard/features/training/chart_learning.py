"""Learning curves: a figure that several trainings have by step or after every epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.lanes import hover
from dashboard.charts.legend import named_strokes
from dashboard.charts.summary import of_series
from dashboard.charts.template import Prepared, Sources, chart_of, values_of
from dashboard.language import gettext

DATA, NOW = "epochs", "now"  # the data sets
_SCHEMA = pa.schema(
    [
        ("epoch", pa.float64()), ("step", pa.int64()), ("value", pa.float64()),
        ("series", pa.string()),
    ]
)  # fmt: skip
_AT = pa.schema([("epoch", pa.float64())])
_ROOM = 44  # px, for the labels at the left
_FEW_EPOCHS = 40  # up to which every one has a point
_MARGIN = 0.06  # of what is drawn, above and below it
_CHARACTER, _SYMBOL = 5.8, 34  # px, of a legend's text, and of what stands before and after it


class LearningShape(NamedTuple):
    """What a specification follows from; the attributes are arguments of :func:`learning_chart`.

    Args:
        colours: by series.
    """

    colours: tuple[tuple[str, str], ...]
    title: str
    last: int
    y_format: str
    by_step: bool
    width: int
    height: int


def learning_chart(
    rows: Sequence[Mapping[str, Any]], colours: Mapping[str, str], *, title: str, last: int,
    **more: Any,
) -> alt.LayerChart:  # fmt: skip
    """One line per training over its epochs; hovering tells what is nearest.

    Args and errors are those of :func:`prepare_learning`.
    """
    return chart_of(draw_learning, prepare_learning(rows, colours, title=title, last=last, **more))


def prepare_learning(
    rows: Sequence[Mapping[str, Any]],
    colours: Mapping[str, str],
    *,
    title: str,
    last: int,
    y_format: str = ".3~g",
    zero: bool = False,
    empty: float = 1.0,
    by_step: bool = False,
    now: int = 0,
    width: int = theme.WIDTH,
    height: int = 200,
) -> Prepared[LearningShape]:
    """What :func:`draw_learning` draws: its lines grow in a chart that stands still.

    Args:
        rows: ``epoch`` (a fraction within one), ``value``, ``series``, and by step ``step``;
            may be empty.
        colours: by series, in the order of the legend.
        title: of the values, with their unit.
        last: the epoch at which the axis ends.
        y_format: a d3 format of the tooltip.
        zero: whether the axis of values starts at 0.
        empty: where the axis of values ends, from 0, while there are none.
        by_step: whether there are values between the ends of epochs.
        now: the epoch that is looked at, if one is.

    Raises:
        ValueError: a series without a colour, or no epoch to end at.
    """
    if last < 1:
        raise ValueError(f"need 1 <= last, got last={last}")
    if strangers := sorted({str(row["series"]) for row in rows} - set(colours)):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    low, high = _ends([row["value"] for row in rows], zero, empty)
    tables = {
        DATA: pa.Table.from_pylist([dict(row) for row in rows], schema=_SCHEMA),
        NOW: pa.Table.from_pylist([{"epoch": now}] if now else [], schema=_AT),
    }
    shape = LearningShape(tuple(colours.items()), title, last, y_format, by_step, width, height)
    drawn = tables[DATA].to_pandas()
    epoch, value, series = gettext("epoch"), gettext("value"), gettext("series")
    drawn.columns = [epoch, gettext("step"), value, series]
    summary = of_series(drawn, name=series, x=epoch, y=value, titles=(epoch, title))
    return Prepared(tables, shape, {"low": low, "high": high}, summary)


def draw_learning(data: Sources, shape: LearningShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_learning` makes it, or names it."""
    last, colours = shape.last, dict(shape.colours)
    x = alt.X(
        "epoch:Q",
        title=gettext("epoch"),
        scale=alt.Scale(domain=[0, last], nice=False, zero=False, padding=6),
        axis=alt.Axis(
            grid=False, format="d", tickMinStep=1, tickCount=6,
            labelFlush=False, values=[0, 1] if last == 1 else alt.Undefined,
        ),
    )  # fmt: skip
    y = alt.Y(
        "value:Q",
        title=shape.title,
        scale=alt.Scale(domain=[alt.ExprRef("low"), alt.ExprRef("high")], nice=True, zero=False),
        axis=alt.Axis(
            titleAngle=0, titleAlign="left", titleBaseline="bottom",
            titleX=-_ROOM, titleY=-8, minExtent=_ROOM, maxExtent=_ROOM, tickCount=5,
            format=theme.NUMBER,
        ),
    )  # fmt: skip
    entry = _CHARACTER * max(map(len, colours), default=0) + _SYMBOL
    stroke = named_strokes(
        "series", colours, columns=f"max(1, floor(width / {entry:.0f}))",
        limit=alt.ExprRef("max(80, width - 24)"),
    )  # fmt: skip
    pointed = hover("epoch", "series", nearest=True)
    when = alt.Tooltip("epoch:Q", title=gettext("epoch"), format=",.2f" if shape.by_step else ",d")
    step = alt.Tooltip("step:Q", title=gettext("step"), format=",d")
    tooltip = [
        alt.Tooltip("series:N", title=gettext("training")),
        *([step] if shape.by_step else []),
        when,
        alt.Tooltip("value:Q", title=shape.title, format=shape.y_format),
    ]
    base = alt.Chart().encode(x=x, y=y, stroke=stroke)
    line = base.mark_line(strokeWidth=1.5 if shape.by_step else 2).properties(name="lines")
    seen = 1 if last <= _FEW_EPOCHS and not shape.by_step else 0
    points = (
        base.mark_point(size=30, strokeWidth=2)
        .encode(tooltip=tooltip, opacity=alt.condition(pointed, alt.value(1), alt.value(seen)))
        .add_params(pointed)
        .properties(name="points")
    )
    rule = (
        alt.Chart(data[NOW])
        .mark_rule(stroke=theme.POINTER, strokeWidth=1, aria=False)
        .encode(x=x)
        .properties(name="now")
    )
    layers = [theme.ramp(), rule, line, points]
    chart = alt.LayerChart(layer=layers, data=data[DATA])
    params = values_of(data)
    return theme.finished(chart, width=shape.width, height=shape.height, params=params)


def _ends(values: Sequence[float], zero: bool, empty: float) -> tuple[float, float]:
    """The ends of the axis of values, before they are rounded to ticks."""
    if not values:
        return 0.0, empty
    low, high = min(values), max(values)
    margin = (high - low) * _MARGIN or abs(high) * _MARGIN or empty * _MARGIN
    return (0.0, high or empty) if zero else (low - margin, high + margin)
