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
from dashboard.charts.codes import SIGNS, looked_up, written
from dashboard.charts.image import pictures
from dashboard.charts.labels import MOST_ROOM, room
from dashboard.charts.places import at

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
    urls, note = pictures(values, vmax)
    rows, columns = min(WINDOW, queries), min(WINDOW, keys)
    tall, wide = math.ceil(queries / _TILES), math.ceil(keys / _TILES)
    largest = np.unravel_index(np.argmax(np.nan_to_num(values)), values.shape)
    start = int(largest[0]) // tall, int(largest[1]) // wide
    top = plot.height + _ABOVE + room(plot.keys, MOST_ROOM)
    layers = [
        *picture_layers(alt.Chart(pd.DataFrame([urls])), plot, vmax),
        _tiles(values, plot, (tall, wide), start),
        _frame(plot, (rows, columns)),
        *_window(plot, (rows, columns), top, vmax),
    ]
    corner = {
        "row0": _corner("tq", start[0], tall, rows, queries),
        "column0": _corner("tk", start[1], wide, columns, keys),
    }
    lists = {
        "queries": plot.queries,
        "keys": plot.keys,
        "weights": [written(values)],
        "signs": SIGNS,
    }
    said = f"{queries:,} × {keys:,} weights; below, the {rows} × {columns} that the pointer is on"
    return theme.finished(
        alt.LayerChart(layer=layers),
        width=plot.width,
        height=top + rows * _CELL,
        title=theme.heading(plot.title, f"{said}; {note}" if note else said),
        params=lists,
        expressions=corner,
        marks=_TILES**2 + rows * columns,
    )


def _corner(field: str, start: int, tile: int, side: int, size: int) -> str:
    """Where the window begins: with the tile in its middle, as far as the map goes."""
    tile_at = f"(isValid(tile.{field}) ? tile.{field}[0] : {start})"
    return f"clamp(floor(({tile_at} + 0.5) * {tile} - {side / 2}), 0, {size - side})"


def _tiles(
    values: np.ndarray, plot: Plot, size: tuple[int, int], start: tuple[int, int]
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
        empty=False, value=[{"tq": start[0], "tk": start[1]}],
    )  # fmt: skip
    placed = at(
        alt.Chart(table),
        f"datum.tk * {wide} * {across}",
        f"datum.tq * {tall * down}",
        f"min({keys}, (datum.tk + 1) * {wide}) * {across}",
        f"min({queries}, (datum.tq + 1) * {tall}) * {down}",
    )
    return (
        placed.transform_calculate(
            query=f"queries[datum.tq * {tall}]", key=f"keys[datum.tk * {wide}]",
        )
        .mark_rect(fill="white", fillOpacity=0, cursor="crosshair", aria=False)
        .encode(
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
    placed = at(
        alt.Chart(pd.DataFrame({"one": [1]})),
        f"column0 * {across}",
        f"row0 * {down}",
        f"(column0 + {columns}) * {across}",
        f"(row0 + {rows}) * {down}",
    )
    return placed.mark_rect(
        filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False
    ).properties(name="frame")


def _window(plot: Plot, size: tuple[int, int], top: float, vmax: float) -> list[alt.Chart]:
    """The cells under the pointer, with the words of their rows and columns."""
    columns = size[1]
    row, column = (axis.ravel() for axis in np.indices(size))
    side = f"min({_CELL}, width / {columns})"
    source = alt.Chart(pd.DataFrame({"i": row, "j": column})).transform_calculate(
        q="row0 + datum.i", k="column0 + datum.j"
    )
    cells = looked_up(source, "weights[0]", len(plot.keys)).transform_calculate(
        query="queries[datum.q]", key="keys[datum.k]",
        shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'",
    )  # fmt: skip
    placed = at(
        cells,
        f"datum.j * {side} + {_GAP}",
        f"{top + _GAP} + datum.i * {_CELL}",
        f"(datum.j + 1) * {side} - {_GAP}",
        f"{top - _GAP} + (datum.i + 1) * {_CELL}",
    ).encode(
        tooltip=[
            alt.Tooltip("query:N"),
            alt.Tooltip("key:N"),
            alt.Tooltip("shown:N", title=plot.quantity),
        ]
    )
    drawn = (
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(aria=False)
        .encode(color=alt.Color("value:Q", scale=theme.sequential(vmax), legend=None))
        .properties(name="window")
    )
    masked = (
        placed.transform_filter("!isValid(datum.value)")
        .mark_rect(fill=theme.QUIET, fillOpacity=theme.MASKED_OPACITY, aria=False)
        .properties(name="masked")
    )
    ink = alt.ExprRef(theme.INK)
    beside = (
        cells.transform_filter("datum.j == 0")
        .mark_text(
            align="right", baseline="middle", limit=plot.query_room, fontSize=theme.FONT_SIZE,
            fill=ink, aria=False,
        )
        .encode(
            x=alt.XValue(-4),
            y=alt.YValue(alt.ExprRef(f"{top} + (datum.i + 0.5) * {_CELL}")),
            text="query:N",
        )
        .properties(name="beside")
    )  # fmt: skip
    above = (
        cells.transform_filter("datum.i == 0")
        .mark_text(
            align="left", baseline="middle", angle=270, limit=MOST_ROOM,
            fontSize=theme.FONT_SIZE, fill=ink, aria=False,
        )
        .encode(
            x=alt.XValue(alt.ExprRef(f"(datum.j + 0.5) * {side}")),
            y=alt.YValue(top - 4),
            text="key:N",
        )
        .properties(name="above")
    )  # fmt: skip
    return [masked, drawn, beside, above]
