"""A map too large for cells that one can point at: a picture of it all, and a window of cells.

The picture is made of tiles; the pointer on a tile puts the window there. The weights travel with
the chart as text, so that moving the window asks nobody.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.cells import (
    VMAX,
    Plot,
    Sizes,
    pair_tooltip,
    picture_layers,
    shown_weight,
)
from dashboard.charts.image import SIGNS, at, looked_up, pictures, written
from dashboard.charts.labels import MOST_ROOM, room
from dashboard.charts.template import Data, Prepared, Sources, values_of
from dashboard.language import gettext, translated

WINDOW = 24  # rows and columns of the window, at most
_TILES = 25  # in each direction, at most: each answers the pointer by itself
_CELL = 13  # px, the height of a row of the window
_ABOVE = 18  # px, between the picture and the words above the window
_GAP = 0.5


class LargeShape(NamedTuple):
    """What a specification follows from.

    Args:
        queries, keys: the size of the map.
    """

    plot: Plot
    queries: int
    keys: int

    @property
    def window(self) -> tuple[int, int]:
        """Rows and columns of the window."""
        return min(WINDOW, self.queries), min(WINDOW, self.keys)

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of a tile."""
        return math.ceil(self.queries / _TILES), math.ceil(self.keys / _TILES)


def prepare_large(
    values: np.ndarray, plot: Plot, sizes: Sizes, vmax: float
) -> Prepared[LargeShape]:
    """What :func:`draw_large` draws of weights ``(queries, keys)``, NaN where masked.

    Args:
        plot, sizes: of one head; the labels name rows and columns of the window.
    """
    urls, note = pictures(values, vmax)
    queries, keys = values.shape
    shape = LargeShape(plot._replace(note=note), queries, keys)
    (tall, wide), size = shape.tile, shape.window
    i, j = (axis.ravel() for axis in np.indices(size))
    row, column = np.unravel_index(np.argmax(np.nan_to_num(values)), values.shape)
    top = sizes.height + _ABOVE + room(sizes.keys, MOST_ROOM)
    tables = {
        "picture": pa.Table.from_pylist([urls]),
        "tiles": _tile_table(values, tall, wide),
        "window": pa.table({"i": i, "j": j}),
    }
    told = {
        **sizes.values,
        "vmax": vmax,
        "weights": written(values),
        "start_row": float(row // tall),
        "start_column": float(column // wide),
        "top": top,
        "height": top + size[0] * _CELL,
    }
    return Prepared(tables, shape, told)


def draw_large(data: Sources, shape: LargeShape) -> alt.LayerChart:
    """A picture with a window under it, of what :func:`prepare_large` makes, or names.

    The window starts at the largest weight. The selection ``tile`` tells where it is.
    """
    plot, (rows, columns), (tall, wide) = shape.plot, shape.window, shape.tile
    values = values_of(data)
    height = values.pop("height")
    layers = [
        *picture_layers(alt.Chart(data["picture"]), plot),
        _tiles(data["tiles"], shape),
        _frame(shape),
        *_window(data["window"], shape),
    ]
    corner = {
        "row0": _corner("tq", "start_row", tall, rows, shape.queries),
        "column0": _corner("tk", "start_column", wide, columns, shape.keys),
    }
    said = gettext(
        "{queries:,} × {keys:,} weights; below, the {rows} × {columns} that the pointer is on",
        queries=shape.queries, keys=shape.keys, rows=rows, columns=columns,
    )  # fmt: skip
    return theme.finished(
        alt.LayerChart(layer=layers),
        width=plot.width,
        height=height,
        title=theme.heading(plot.title, f"{said}; {plot.note}" if plot.note else said),
        params={**values, "signs": SIGNS},
        expressions=corner,
        marks=_TILES**2 + rows * columns,
    )


def _corner(field: str, start: str, tile: int, side: int, size: int) -> str:
    """Where the window begins: with the tile in its middle, as far as the map goes."""
    tile_at = f"(isValid(tile.{field}) ? tile.{field}[0] : {start})"
    return f"clamp(floor(({tile_at} + 0.5) * {tile} - {side / 2}), 0, {size - side})"


def _tile_table(values: np.ndarray, tall: int, wide: int) -> pa.Table:
    """The place of each tile, and the largest of its weights."""
    low = np.where(np.isnan(values), 0, values)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[0], tall), axis=0)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[1], wide), axis=1)
    row, column = (axis.ravel() for axis in np.indices(low.shape))
    return pa.table({"tq": row, "tk": column, "most": np.round(low.ravel(), 4)})


def _tiles(tiles: Data, shape: LargeShape) -> alt.Chart:
    """What answers the pointer over the picture; nothing of it is seen."""
    (tall, wide), across = shape.tile, shape.plot.across
    selection = alt.selection_point(
        name="tile", fields=["tq", "tk"], on="pointerover", clear=False, toggle=False,
        empty=False,
    )  # fmt: skip
    placed = at(
        alt.Chart(tiles),
        f"datum.tk * {wide} * {across}",
        f"datum.tq * {tall} * side",
        f"min({shape.keys}, (datum.tk + 1) * {wide}) * {across}",
        f"min({shape.queries}, (datum.tq + 1) * {tall}) * side",
    )
    return (
        placed.transform_calculate(
            query=f"queries[datum.tq * {tall}]", key=f"keys[datum.tk * {wide}]",
        )
        .mark_rect(fill="white", fillOpacity=0, cursor="crosshair", aria=False)
        .encode(
            tooltip=[
                alt.Tooltip("query:N", title=gettext("from query")),
                alt.Tooltip("key:N", title=gettext("from key")),
                alt.Tooltip(
                    "most:Q",
                    title=gettext(
                        "largest of {rows} × {columns} weights", rows=tall, columns=wide
                    ),
                ),
            ],
        )
        .add_params(selection)
        .properties(name="tiles")
    )  # fmt: skip


def _frame(shape: LargeShape) -> alt.Chart:
    """Where in the picture the window is."""
    (rows, columns), across = shape.window, shape.plot.across
    placed = at(
        alt.Chart(alt.sequence(0, 1, as_="one")),
        f"column0 * {across}",
        "row0 * side",
        f"(column0 + {columns}) * {across}",
        f"(row0 + {rows}) * side",
    )
    return placed.mark_rect(
        filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False
    ).properties(name="frame")


def _window(window: Data, shape: LargeShape) -> list[alt.Chart]:
    """The cells under the pointer, with the words of their rows and columns."""
    wide = f"min({_CELL}, width / {shape.window[1]})"
    source = alt.Chart(window).transform_calculate(q="row0 + datum.i", k="column0 + datum.j")
    cells = looked_up(source, "weights").transform_calculate(
        query="queries[datum.q]", key="keys[datum.k]",
        shown=shown_weight("datum.value"),
    )  # fmt: skip
    placed = at(
        cells,
        f"datum.j * {wide} + {_GAP}",
        f"top + {_GAP} + datum.i * {_CELL}",
        f"(datum.j + 1) * {wide} - {_GAP}",
        f"top - {_GAP} + (datum.i + 1) * {_CELL}",
    ).encode(
        tooltip=[
            *pair_tooltip(),
            alt.Tooltip("shown:N", title=translated(shape.plot.quantity)),
        ]
    )
    drawn = (
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(aria=False)
        .encode(color=alt.Color("value:Q", scale=theme.sequential(VMAX), legend=None))
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
            align="right", baseline="middle", limit=alt.ExprRef("query_room"),
            fontSize=theme.FONT_SIZE, fill=ink, aria=False,
        )
        .encode(
            x=alt.XValue(-4),
            y=alt.YValue(alt.ExprRef(f"top + (datum.i + 0.5) * {_CELL}")),
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
            x=alt.XValue(alt.ExprRef(f"(datum.j + 0.5) * {wide}")),
            y=alt.YValue(alt.ExprRef("top - 4")),
            text="key:N",
        )
        .properties(name="above")
    )  # fmt: skip
    return [masked, drawn, beside, above]
