"""One figure of several scorings: a dot per seed, a tick at their mean, on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.labels import displayed, room
from dashboard.charts.lanes import hover
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, chart_of, values_of
from dashboard.language import gettext

DATA, MEANS = "seeds", "means"  # the data sets
_DOTS = pa.schema([("scoring", pa.string()), ("seed", pa.int64()), ("value", pa.float64())])
_TICKS = pa.schema([("scoring", pa.string()), ("value", pa.float64())])
_LANE = 34  # px
_MOST_ROOM = 130  # px, for the names at the left


class StripShape(NamedTuple):
    """What a specification follows from; the attributes are arguments of :func:`strip_chart`."""

    names: tuple[str, ...]
    title: str
    number: str
    colour: str
    width: int


def strip_chart(
    rows: Sequence[Mapping[str, Any]], means: Sequence[Mapping[str, Any]],
    scorings: Sequence[str], **more: Any,
) -> alt.LayerChart:  # fmt: skip
    """A lane per scoring; hovering tells a dot's scoring, seed and value.

    Args and errors are those of :func:`prepare_strip`.
    """
    return chart_of(draw_strip, prepare_strip(rows, means, scorings, **more))


def prepare_strip(
    rows: Sequence[Mapping[str, Any]],
    means: Sequence[Mapping[str, Any]],
    scorings: Sequence[str],
    *,
    title: str,
    number: str = ".3~g",
    colour: str = theme.PANEL_COLOURS["a"],
    width: int = theme.WIDTH,
) -> Prepared[StripShape]:
    """What :func:`draw_strip` draws.

    Args:
        rows: ``scoring``, ``seed``, ``value``; may be empty.
        means: ``scoring``, ``value``; may be empty.
        scorings: the lanes, top to bottom; names of strangers are shown as text.
        title: of the values, with their unit.
        number: a d3 format of the values.

    Raises:
        ValueError: no lane, or a row that belongs to none.
    """
    if not scorings:
        raise ValueError("need at least one scoring, got none")
    if strangers := sorted({str(row["scoring"]) for row in [*rows, *means]} - set(scorings)):
        raise ValueError(f"need a lane for every scoring, got none for {', '.join(strangers)}")
    values = [float(row["value"]) for row in [*rows, *means]]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    tables = {
        DATA: pa.Table.from_pylist(_shown(rows), schema=_DOTS),
        MEANS: pa.Table.from_pylist(_shown(means), schema=_TICKS),
    }
    names = tuple(dict.fromkeys(displayed(scorings)))
    shape = StripShape(names, title, number, colour, width)
    alone = abs(low) or 1.0 if low == high else 0.0
    scoring, value = gettext("scoring"), gettext("value")
    means_told = tables[MEANS].to_pandas().rename(columns={"scoring": scoring, "value": value})
    summary = of_ranked(
        means_told, name=scoring, value=value, what=gettext("the mean {quantity}", quantity=title)
    )
    return Prepared(tables, shape, {"low": low - alone / 2, "high": high + alone / 2}, summary)


def draw_strip(data: Sources, shape: StripShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_strip` makes it, or names it."""
    names, title, number = list(shape.names), shape.title, shape.number
    space = room(names, _MOST_ROOM)
    y = alt.Y(
        "scoring:N",
        title=gettext("scoring"),
        sort=None,
        scale=alt.Scale(domain=names, paddingInner=0.15, paddingOuter=0.1),
        axis=alt.Axis(
            title=None, minExtent=space, maxExtent=space, labelLimit=space - 4, domain=False,
            ticks=False, grid=True,
        ),
    )  # fmt: skip
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(
            domain=[alt.ExprRef("low"), alt.ExprRef("high")], zero=False, nice=True, padding=8
        ),
        axis=alt.Axis(title=title, tickCount=5, format=number, grid=False),
    )
    tooltip = [
        alt.Tooltip("scoring:N", title=gettext("scoring")),
        alt.Tooltip("seed:Q", title=gettext("seed"), format="d"),
        alt.Tooltip("value:Q", title=title, format=number),
    ]
    pointed = hover("scoring", "seed")
    dots = (
        alt.Chart(data[DATA])
        .mark_point(filled=True, size=70, color=shape.colour)
        .encode(
            x=x, y=y, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(0.75)),
        )
        .add_params(pointed)
        .properties(name="dots")
    )  # fmt: skip
    ticks = (
        alt.Chart(data[MEANS])
        .mark_tick(color={"expr": theme.INK}, thickness=2, size=_LANE * 0.62, aria=False)
        .encode(x=x, y=y)
        .properties(name="ticks")
    )
    chart = alt.LayerChart(layer=[theme.ramp(), ticks, dots])
    params = values_of(data)
    return theme.finished(chart, width=shape.width, height=_LANE * len(names), params=params)


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "scoring": displayed([row["scoring"]])[0]} for row in rows]
