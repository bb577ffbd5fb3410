"""Alignment error rates of all heads of a model: a dot a head, the best one first."""

from __future__ import annotations

import json
from typing import NamedTuple

import altair as alt
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_with, rounded
from dashboard.charts.head_maps import MEAN, map_title
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Data, Prepared, Sources
from dashboard.language import gettext

_HEIGHT = 130  # px, of the plot
_STEP = 22  # px, from dot to dot where there is room
_ROOM, _BELOW = 34, 44  # px, left of the plot and under it
_NEEDED = ("map", "error_rate", "precision", "recall", "untrained")


class RatesShape(NamedTuple):
    """What a specification follows from: the number of maps, the colour, px of all."""

    count: int
    colour: str
    width: int


def prepare_rates(
    rates: Table,
    *,
    chosen: str = "",
    colour: str = theme.PANEL_COLOURS["a"],
    width: int = theme.WIDTH,
) -> Prepared[RatesShape]:
    """What :func:`draw_rates` draws: error rates from 0, perfect, to 1, sorted.

    Args:
        rates: ``map`` such as ``1.2`` or ``1.mean``, ``error_rate``, ``precision``, ``recall``,
            ``untrained`` (error rate with fresh weights).
        chosen: the map that is filled.
        colour: of the dots.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no rates, or other columns.
    """
    table = frame_with(rates, _NEEDED).filter(items=_NEEDED)
    table = table.sort_values("error_rate", kind="stable")
    numbers = {name: rounded(table[name]) for name in _NEEDED[1:]}
    names = [map_title(name) for name in table["map"]]
    said = [
        gettext("{head}, error rate {rate:.3f}", head=name, rate=rate)
        for name, rate in zip(names, table["error_rate"], strict=True)
    ]
    table = table.assign(**numbers, name=names, said=said, chosen=table["map"] == chosen)
    best = float(table["untrained"].to_numpy(float).min())
    tables = {
        "heads": pa.Table.from_pandas(table, preserve_index=False),
        "level": pa.table(
            {
                "level": rounded([best]),
                "words": [gettext("untrained {rate:.2f}", rate=best)],
            }
        ),
    }
    seen = {
        "name": gettext("head"), "error_rate": gettext("alignment error rate"),
        "precision": gettext("precision"), "recall": gettext("recall"),
        "untrained": gettext("untrained"),
    }  # fmt: skip
    summary = of_ranked(
        table.loc[:, [*seen]].rename(columns=seen),
        name=seen["name"], value=seen["error_rate"], what=gettext("the error rate"),
    )  # fmt: skip
    return Prepared(tables, RatesShape(len(table), colour, width), summary=summary)


def draw_rates(data: Sources, shape: RatesShape) -> alt.LayerChart:
    """The rates of ``data``, as :func:`prepare_rates` makes them, or names them.

    A dot a head, the best one first; a rule where the best untrained head is.
    """
    colour, end = shape.colour, alt.ExprRef(f"min(width, {_STEP * shape.count})")
    x = alt.X(
        "map:N",
        sort=None,  # as the table has them
        scale=alt.Scale(range=[0, end]),
        axis=alt.Axis(
            title=None, labelAngle=-90, labelOverlap="greedy", labelLimit=44, grid=False,
            labelPadding=6, minExtent=_BELOW, maxExtent=_BELOW,
            labelExpr=f"replace(datum.label, '{MEAN}', {json.dumps(gettext('mean'))})",
        ),
    )  # fmt: skip
    y = alt.Y(
        "error_rate:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title=None, values=[0, 0.25, 0.5, 0.75, 1], format="~g", minExtent=_ROOM - 8,
                      maxExtent=_ROOM - 8),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title=gettext("head")),
        alt.Tooltip("error_rate:Q", title=gettext("alignment error rate"), format=".3f"),
        alt.Tooltip("precision:Q", title=gettext("precision"), format=".3f"),
        alt.Tooltip("recall:Q", title=gettext("recall"), format=".3f"),
        alt.Tooltip("untrained:Q", title=gettext("untrained"), format=".3f"),
    ]
    base = alt.Chart(data["heads"])
    stems = base.mark_rule(stroke=colour, strokeWidth=1, strokeOpacity=0.5, aria=False).encode(
        x=x, y=y, y2=alt.Y2Datum(0)
    )
    dots = (
        base.mark_point(size=60, strokeWidth=2, stroke=colour, opacity=1)
        .encode(
            x=x, y=y, tooltip=tooltip, description=alt.Description("said:N"),
            fill=alt.condition(
                alt.datum.chosen, alt.value(colour), alt.value("transparent")
            ),
        )
        .properties(name="heads")
    )  # fmt: skip
    untrained = _untrained(data["level"])
    chart = alt.LayerChart(layer=[theme.ramp(), *untrained, stems, dots])
    return theme.finished(chart, width=shape.width, height=_HEIGHT)


def _untrained(level: Data) -> list[alt.Chart]:
    """The level of the best head before training."""
    base = alt.Chart(level)
    y = alt.Y("level:Q")
    return [
        base.mark_rule(stroke=theme.QUIET, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(
            y=y,
            tooltip=alt.Tooltip("level:Q", title=gettext("best untrained head"), format=".3f"),
        )
        .properties(name="untrained"),
        base.mark_text(
            align="right", baseline="bottom", dy=-3, fontSize=theme.FONT_SIZE,
            fill=alt.ExprRef(theme.INK), aria=False,
        ).encode(x=alt.XValue(alt.ExprRef("width")), y=y, text="words:N"),
    ]  # fmt: skip
