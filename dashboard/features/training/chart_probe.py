"""The map of a sentence that is looked at again and again, while a model learns."""

from __future__ import annotations

import json
from string import Formatter

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import MapFrame, rounded
from dashboard.charts.grid import boxes, inset, positions
from dashboard.charts.labels import MOST_ROOM, displayed
from dashboard.language import gettext

CELLS = "cells"  # the name of the data set: a host may replace it, and the chart stays
_GAP = 0.5  # px, half the space between cells
_UPRIGHT = 270


def probe_rows(frame: MapFrame) -> pd.DataFrame:
    """The data set :data:`CELLS` of one map: the mean of its heads, a row per cell."""
    mean = frame.weights.mean(axis=0)
    queries, keys = displayed(frame.query_labels), displayed(frame.key_labels)
    return pd.DataFrame(
        {
            "q": [q for q in range(len(queries)) for _ in keys],
            "k": [k for _ in queries for k in range(len(keys))],
            "query": [query for query in queries for _ in keys],
            "key": [key for _ in queries for key in keys],
            "value": rounded(mean.ravel()),
        }
    )


def probe_map(
    queries: int,
    keys: int,
    *,
    cell: float,
    query_room: int,
    key_room: int,
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """A map whose words come with its data, so that it stands still while they change.

    Args:
        queries, keys: the most rows and columns that it will have to show.
        cell: px, the height of a row, and the width of a column where there is room.
        query_room, key_room: px, for the longest word of the rows and of the columns.
        width: px, of the whole chart where the host does not stretch it.

    Returns:
        A chart without data; :func:`probe_rows` makes them.
    """
    end = alt.ExprRef(f"min(width, {keys * cell:g})")
    across, down = positions(keys, end), positions(queries, queries * cell)
    base = alt.Chart().transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        middle="datum.q + 0.5", centre="datum.k + 0.5",
        said=_expression(gettext("query {query}, key {key}, weight {value}")),
    )  # fmt: skip
    cells = (
        boxes(
            base,
            alt.X("left:Q", scale=across, axis=None),
            alt.Y("top:Q", scale=down, axis=None),
        )
        .mark_rect(**inset(_GAP))
        .encode(
            color=alt.Color("value:Q", scale=theme.sequential(), legend=None),
            tooltip=[
                alt.Tooltip("query:N", title=gettext("query")),
                alt.Tooltip("key:N", title=gettext("key")),
                alt.Tooltip("value:Q", title=gettext("weight"), format=".3f"),
            ],
            description=alt.Description("said:N"),
        )
        .properties(name="cells")
    )
    ink = alt.ExprRef(theme.INK)
    rows = (
        base.transform_filter("datum.k == 0")
        .mark_text(
            align="right", baseline="middle", limit=MOST_ROOM, fontSize=theme.FONT_SIZE, fill=ink,
            aria=False,
        )
        .encode(x=alt.XValue(-4), y=alt.Y("middle:Q", scale=down), text="query:N")
        .properties(name="queries")
    )  # fmt: skip
    columns = (
        base.transform_filter("datum.q == 0")
        .mark_text(
            align="left", baseline="middle", angle=_UPRIGHT, limit=MOST_ROOM,
            fontSize=theme.FONT_SIZE, fill=ink, aria=False,
        )
        .encode(x=alt.X("centre:Q", scale=across), y=alt.YValue(-4), text="key:N")
        .properties(name="keys")
    )  # fmt: skip
    chart = alt.LayerChart(layer=[cells, rows, columns], data=alt.NamedData(name=CELLS))
    chart = theme.finished(chart, width=width, height=queries * cell)
    # Texts make no room for themselves.
    chart.padding = {"left": 6 + query_room, "top": 6 + key_room, "right": 2, "bottom": 2}
    chart.datasets = {CELLS: []}
    return chart


def _expression(text: str) -> str:
    """A sentence with columns of the data as its placeholders, as Vega computes it."""
    parts: list[str] = []
    for literal, column, _, _ in Formatter().parse(text):
        parts += [json.dumps(literal)] * bool(literal)
        parts += [f"datum.{column}"] * bool(column)
    return " + ".join(parts)


def relative_entropy(frame: MapFrame) -> float:
    """How evenly a map's heads spread their weight: 0 on one key, 1 alike on all.

    The mean over heads and rows of the entropy over ``log n``, the largest that ``n`` keys allow;
    0 where there is but one key.
    """
    weights = np.nan_to_num(frame.weights.astype(np.float64))
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    keys = weights.shape[-1]
    return float(-(weights * logs).sum(axis=-1).mean() / np.log(keys)) if keys > 1 else 0.0
