"""A map too large for cells that one can point at: a picture of it all, and a window of cells.

The picture is made of tiles; the pointer on a tile puts the window there. The weights travel with
the chart as text, so that moving the window asks nobody.
"""

from __future__ import annotations

import math

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.cells import Plot, picture_layers
from dashboard.charts.codes import SIGNS, read, written
from dashboard.charts.image import palette_png, summarised
from dashboard.charts.labels import MOST_ROOM, room

WINDOW = 24  # rows and columns of the window, at most
_TILES = 25  # in each direction, at most: each answers the pointer by itself
_CELL = 13  # px, the height of a row of the window
_ABOVE = 18  # px, between the picture and the words above the window
_GAP = 0.5


def large_map(values: np.ndarray, plot: Plot, vmax: float) -> alt.LayerChart:
    """Weights ``(queries, keys)``, NaN where masked, as a picture with a window under it.

    The window starts at the largest weight. The selection ``tile`` tells where it is.

    Args:
        plot: of one head; its labels name rows and columns of the window.
    """
    queries, keys = values.shape
    small, note = summarised(values)
    pictures = {scheme: palette_png(small, vmax, scheme) for scheme in theme.SEQUENTIAL}
    rows, columns = min(WINDOW, queries), min(WINDOW, keys)
    tall, wide = math.ceil(queries / _TILES), math.ceil(keys / _TILES)
    largest = np.unravel_index(np.argmax(np.nan_to_num(values)), values.shape)
    start = {"tq": int(largest[0]) // tall, "tk": int(largest[1]) // wide}
    top = plot.height + _ABOVE + room(plot.keys, MOST_ROOM)
    chart = alt.layer(
        *picture_layers(alt.Chart(pd.DataFrame([pictures])), plot, vmax),
        _tiles(values, plot, (tall, wide), start),
        _frame(plot, (rows, columns)),
        *_window(plot, (rows, columns), top, vmax),
    ).add_params(
        alt.param(name="row0", expr=_corner("tq", start, tall, rows, queries)),
        alt.param(name="column0", expr=_corner("tk", start, wide, columns, keys)),
    )
    lists = {
        "queries": plot.queries,
        "keys": plot.keys,
        "weights": [written(values)],
        "signs": SIGNS,
    }
    said = f"{queries:,} × {keys:,} weights; below, the {rows} × {columns} that the pointer is on"
    return theme.finished(
        chart,
        params=lists,
        marks=_TILES**2 + rows * columns,
        width=plot.width,
        height=top + rows * _CELL,
        **theme.heading(plot.title, f"{said}; {note}" if note else said),
    )


def _corner(field: str, start: dict[str, int], tile: int, side: int, size: int) -> str:
    """Where the window begins: with the tile in its middle, as far as the map goes."""
    at = f"(isValid(tile.{field}) ? tile.{field}[0] : {start[field]})"
    return f"clamp(floor(({at} + 0.5) * {tile} - {side / 2}), 0, {size - side})"


def _tiles(
    values: np.ndarray, plot: Plot, size: tuple[int, int], start: dict[str, int]
) -> alt.Chart:
    """What answers the pointer over the picture; nothing of it is seen."""
    tall, wide = size
    low = np.where(np.isnan(values), 0, values)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[0], tall), axis=0)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[1], wide), axis=1)
    row, column = (axis.ravel() for axis in np.indices(low.shape))
    table = pd.DataFrame({"tq": row, "tk": column, "most": np.round(low.ravel(), 4)})
    queries, keys = len(plot.queries), len(plot.keys)
    across = f"(min(width, {plot.widest:g}) / {keys})"
    down = plot.height / queries
    selection = alt.selection_point(
        name="tile", fields=["tq", "tk"], on="pointerover", clear=False, toggle=False,
        empty=False, value=[start],
    )  # fmt: skip
    return (
        alt.Chart(table)
        .transform_calculate(
            query=f"queries[datum.tq * {tall}]", key=f"keys[datum.tk * {wide}]",
        )
        .mark_rect(fill="white", fillOpacity=0, cursor="crosshair", aria=False)
        .encode(
            x=_at(f"datum.tk * {wide} * {across}"),
            x2=_at(f"min({keys}, (datum.tk + 1) * {wide}) * {across}", alt.X2Value),
            y=_at(f"datum.tq * {tall * down}"),
            y2=_at(f"min({queries}, (datum.tq + 1) * {tall}) * {down}", alt.Y2Value),
            tooltip=[
                alt.Tooltip("query:N", title="from query"),
                alt.Tooltip("key:N", title="from key"),
                alt.Tooltip("most:Q", title=f"largest of {tall} × {wide} weights"),
            ],
        )
        .add_params(selection)
        .properties(name="tiles")
    )  # fmt: skip


def _frame(plot: Plot, size: tuple[int, int]) -> alt.Chart:
    """Where in the picture the window is."""
    rows, columns = size
    across = f"(min(width, {plot.widest:g}) / {len(plot.keys)})"
    down = plot.height / len(plot.queries)
    return (
        alt.Chart(pd.DataFrame({"one": [1]}))
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .encode(
            x=_at(f"column0 * {across}"),
            x2=_at(f"(column0 + {columns}) * {across}", alt.X2Value),
            y=_at(f"row0 * {down}"),
            y2=_at(f"(row0 + {rows}) * {down}", alt.Y2Value),
        )
        .properties(name="frame")
    )


def _window(plot: Plot, size: tuple[int, int], top: float, vmax: float) -> list[alt.Chart]:
    """The cells under the pointer, with the words of their rows and columns."""
    columns = size[1]
    row, column = (axis.ravel() for axis in np.indices(size))
    side = f"min({_CELL}, width / {columns})"
    cells = (
        alt.Chart(pd.DataFrame({"i": row, "j": column}))
        .transform_calculate(q="row0 + datum.i", k="column0 + datum.j")
        .transform_calculate(at=f"2 * (datum.q * {len(plot.keys)} + datum.k)")
        .transform_calculate(code="substring(weights[0], datum.at, datum.at + 2)")
        .transform_calculate(
            value=read("datum.code"), query="queries[datum.q]", key="keys[datum.k]",
        )
        .transform_calculate(
            shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'"
        )
    )  # fmt: skip
    place = {
        "x": _at(f"datum.j * {side} + {_GAP}"),
        "x2": _at(f"(datum.j + 1) * {side} - {_GAP}", alt.X2Value),
        "y": _at(f"{top + _GAP} + datum.i * {_CELL}"),
        "y2": _at(f"{top - _GAP} + (datum.i + 1) * {_CELL}", alt.Y2Value),
        "tooltip": [
            alt.Tooltip("query:N"),
            alt.Tooltip("key:N"),
            alt.Tooltip("shown:N", title=plot.quantity),
        ],
    }
    drawn = (
        cells.transform_filter("isValid(datum.value)")
        .mark_rect(aria=False)
        .encode(**place, color=alt.Color("value:Q", scale=theme.sequential(vmax), legend=None))
        .properties(name="window")
    )
    masked = (
        cells.transform_filter("!isValid(datum.value)")
        .mark_rect(fill=theme.QUIET, fillOpacity=theme.MASKED_OPACITY, aria=False)
        .encode(**place)
        .properties(name="masked")
    )
    text = {"fontSize": theme.FONT_SIZE, "fill": alt.ExprRef(theme.INK), "aria": False}
    beside = (
        cells.transform_filter("datum.j == 0")
        .mark_text(align="right", baseline="middle", limit=plot.query_room, **text)
        .encode(x=alt.XValue(-4), y=_at(f"{top} + (datum.i + 0.5) * {_CELL}"), text="query:N")
        .properties(name="beside")
    )
    above = (
        cells.transform_filter("datum.i == 0")
        .mark_text(align="left", baseline="middle", angle=270, limit=MOST_ROOM, **text)
        .encode(
            x=_at(f"(datum.j + 0.5) * {side}"), y=alt.YValue(top - 4), text="key:N"
        )
        .properties(name="above")
    )  # fmt: skip
    return [masked, drawn, beside, above]


def _at(expression: str, channel: type = alt.XValue) -> alt.XValue:
    return channel(alt.ExprRef(expression))
