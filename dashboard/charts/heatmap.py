"""Attention weights as heatmaps: queries top to bottom, keys left to right.

A map too large to point at its cells is a picture of tiles over a window of cells, which goes
where the pointer is. Its weights travel as text, so that moving the window asks nobody.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dashboard.charts import cells as map_cells
from dashboard.charts import image, theme
from dashboard.charts.cells import CELL, Cell, Plot, Sizes, gold_cells, map_plot
from dashboard.charts.frames import below_0, masked_rows
from dashboard.charts.given import checked, frames_of, single
from dashboard.charts.head_grid import GridShape, draw_head_grid, prepare_head_grid
from dashboard.charts.labels import MOST_ROOM, displayed, room, vega_text
from dashboard.charts.live import PARAMETERS
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Data, Prepared, Sources, chart_maker, values_of
from dashboard.language import gettext, gettext_noop, translated


def prepare_heatmap(
    weights: Any, query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None, *, reference: ArrayLike | None = None,
    mask: np.ndarray | None = None, outlined: Iterable[Cell] | None = None,
    possible: Iterable[Cell] = (), vmax: float = 1.0, title: str = "", cell: int = CELL,
    width: int = theme.WIDTH, query_room: int | None = None, key_room: int | None = None,
    columns: int = 4, legend: bool = False, log: bool = False, signed: bool = False,
    quantity: str = gettext_noop("weight"),
) -> Prepared[Any]:  # of a Plot, a LargeShape or a GridShape  # fmt: skip
    """Attention weights; hovering a cell frames its row and column and tells its weight.

    Up to :data:`~dashboard.charts.theme.MAX_RECTS` cells are rectangles; a larger map is a
    picture with the cells around the pointer below it; more heads are a picture each.

    >>> chart = attention_heatmap([[0.7, 0.3], [0.2, 0.8]], ["je", "pars"], ["i", "leave"])

    Args:
        weights: ``(queries, keys)``; ``(heads, queries, keys)`` for a grid of heads; several
            layers of these, such as transformers' ``attentions``, for one map large over all. An
            array, nested lists, a tensor. NaN is a masked cell, and so is every cell of a row
            whose weights are all 0. A map is taken with its labels: any object with ``weights``,
            ``query_labels`` and ``key_labels``. A batch or tuple of a single map is that map.
        query_labels, key_labels: one per row and column; None: the map's own, or positions.
        reference: weights of that shape to subtract; the differences have the diverging scale.
        mask: boolean ``(queries, keys)``, False where a cell is masked.
        outlined: the cells ``(query, key)`` that a gold alignment links; the tooltip says of
            every cell whether it is gold, unless this is None.
        possible: more such cells, which are outlined by a broken line.
        vmax: the end of the colour scale; panels that are compared need the same one.
        cell: px, side of a cell where there is room.
        width: px, of the whole chart where the host does not stretch it.
        query_room, key_room: px for the labels, see :func:`label_room`; None: as they need.
        columns: heads in a row of the grid.
        legend: whether the chart has a colour legend of its own; an image has none.
        log: whether colours follow the logarithm of a weight; not of signed ones or differences.
        signed: whether weights may be below 0, so that the scale diverges, as wherever one is.
        quantity: what a cell holds.

    Raises:
        ValueError: weights of another shape, without cells, or labels, a mask, a reference or
            outlined cells that do not fit; or more differences than are drawn one by one.
    """
    layers = frames_of(weights, query_labels, key_labels)
    if layers:
        return prepare_head_grid(
            layers, vmax=vmax, cell=cell, width=width, query_room=query_room, key_room=key_room,
            log=log, signed=signed, quantity=quantity,
        )  # fmt: skip
    weights, own = single(weights)
    query_labels, key_labels = (
        theirs if given is None else given
        for given, theirs in zip((query_labels, key_labels), own, strict=True)
    )
    values = checked(weights)
    if mask is not None:
        if np.shape(mask) != values.shape[1:]:
            raise ValueError(f"need a mask of shape {values.shape[1:]}, got {np.shape(mask)}")
        values[:, ~np.asarray(mask, dtype=bool)] = np.nan
    signed = signed or below_0(values)
    plot = Plot(quantity, title, width, columns, legend=legend, log=log, signed=signed)
    if reference is None:
        values = masked_rows(values)
    else:
        values = _differences(values, reference)
        plot = plot._replace(quantity=gettext_noop("difference"), signed=True)
    plot, sizes = map_plot(values, (query_labels, key_labels), (query_room, key_room), cell, plot)
    links = None if outlined is None else gold_cells(values.shape[1:], outlined, possible)
    end = theme.checked_end(vmax)
    summary = None
    if len(values) == 1:
        summary = of_matrix(values[0], query_labels, key_labels, quantity=plot.quantity)
        if values.size > theme.MAX_RECTS and links is None:
            return replace(prepare_large(values[0], plot, sizes, end), summary=summary)
    told = {**sizes.values, "vmax": end}
    plot = plot._replace(
        gold=links is not None, canvas=theme.MOST_ELEMENTS < values.size <= theme.MAX_RECTS
    )
    if values.size <= theme.MAX_RECTS:
        live = {"cells": ("value",), PARAMETERS: ("queries", "keys")}
        return Prepared({"cells": image.rect_table(values, links)}, plot, told, summary, live=live)
    table, note = image.picture_table(values, end, log, signed)
    gold = {} if links is None else {"gold": map_cells.gold_table(links)}
    return Prepared({"pictures": table, **gold}, plot._replace(note=note), told, summary)


def draw_heatmap(
    data: Sources, shape: "Plot | LargeShape | GridShape"
) -> alt.LayerChart | alt.FacetChart:
    """The chart of ``data``, as :func:`prepare_heatmap` makes it, or names it."""
    if isinstance(shape, GridShape):
        return draw_head_grid(data, shape)
    if isinstance(shape, LargeShape):
        return draw_large(data, shape)
    if "pictures" in data:
        layers = map_cells.picture_layers(alt.Chart(), shape, data.get("gold"))
    else:
        more = [alt.Tooltip("head:Q", title=gettext("head"))] if shape.panel else []
        layers = map_cells.cell_layers(shape, more=more)
    # Labels travel as data, not inside expressions: a token may hold quotes.
    own = values_of(data)
    height = own.pop("height")
    chart = alt.LayerChart(layer=layers, data=data.get("pictures", data.get("cells")))
    title = theme.heading(shape.title, shape.note)
    if not shape.panel:
        return theme.finished(
            chart, width=shape.width, height=height, title=title, params=own, canvas=shape.canvas
        )
    wide, tall = shape.panel
    named = vega_text(gettext("head {head}"), head="datum.value")
    header = alt.Header(labelExpr=named, labelOrient="bottom")
    heads = chart.properties(width=wide, height=tall).facet(
        facet=alt.Facet("head:N", title=None, header=header), columns=shape.columns
    )
    return theme.finished(heads, title=title, params=own, stretch=False, canvas=shape.canvas)


attention_heatmap = chart_maker(prepare_heatmap, draw_heatmap)


def difference_heatmap(
    weights: ArrayLike, reference: ArrayLike, *labels: Sequence[object] | None, **looks: Any
) -> alt.LayerChart | alt.FacetChart:
    """``weights - reference`` on the diverging scale; the rest as :func:`attention_heatmap`."""
    return attention_heatmap(weights, *labels, reference=reference, **looks)


def _differences(values: np.ndarray, reference: ArrayLike) -> np.ndarray:
    subtracted = checked(single(reference)[0])
    if values.shape != subtracted.shape:
        raise ValueError(
            f"need weights of one shape to subtract, got {values.shape} and {subtracted.shape}"
        )
    if values.size > theme.MAX_RECTS:
        raise ValueError(f"need at most {theme.MAX_RECTS:,} differences, got {values.size:,}")
    return values - subtracted


def label_room(labels: Sequence[object]) -> int:
    """Pixels that an axis needs for these labels; the largest of several panels aligns them."""
    return room(displayed(labels), MOST_ROOM)


WINDOW = 24  # rows and columns of the window, at most
_TILES = 25  # in each direction, at most: each answers the pointer by itself
_CELL = 13  # px, the height of a row of the window
_ABOVE = 18  # px, between the picture and the words above the window
_GAP = 0.5


class LargeShape(NamedTuple):
    """What a specification follows from: its plot and its size."""

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
) -> Prepared[Plot | LargeShape]:
    """What :func:`draw_large` draws of weights ``(queries, keys)``, NaN where masked."""
    urls, note = image.pictures(values, vmax, plot.log, plot.signed)
    queries, keys = values.shape
    shape = LargeShape(plot._replace(note=note), queries, keys)
    (tall, wide), size = shape.tile, shape.window
    i, j = (axis.ravel() for axis in np.indices(size))
    most = np.nan_to_num(image.largest_of_blocks(values, tall, wide))
    tq, tk = (axis.ravel() for axis in np.indices(most.shape))
    row, column = np.unravel_index(np.argmax(np.abs(np.nan_to_num(values))), values.shape)
    reach = image.span(values) if plot.signed or plot.far else None
    top = sizes.height + _ABOVE + room(sizes.keys, MOST_ROOM)
    tables = {
        "picture": pa.Table.from_pylist([urls]), "window": pa.table({"i": i, "j": j}),
        "tiles": pa.table({"tq": tq, "tk": tk, "most": np.round(most.ravel(), 4)}),
    }  # fmt: skip
    told = {
        **sizes.values, "vmax": vmax, "weights": image.written(values, reach, plot.signed),
        **({} if reach is None else {"span": reach}), "start_row": float(row // tall),
        "start_column": float(column // wide), "top": top, "height": top + size[0] * _CELL,
    }  # fmt: skip
    return Prepared(tables, shape, told)


def draw_large(data: Sources, shape: LargeShape) -> alt.LayerChart:
    """A picture with a window under it, of what :func:`prepare_large` makes, or names.

    The window starts at the weight farthest from 0. The selection ``tile`` tells where it is.
    """
    plot, (rows, columns), (tall, wide) = shape.plot, shape.window, shape.tile
    values = values_of(data)
    height = values.pop("height")
    frame = image.at(  # where in the picture the window is
        alt.Chart(alt.sequence(0, 1, as_="one")), f"column0 * {plot.across}", "row0 * side",
        f"(column0 + {columns}) * {plot.across}", f"(row0 + {rows}) * side",
    ).mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)  # fmt: skip
    layers = [
        *map_cells.picture_layers(alt.Chart(data["picture"]), plot), _tiles(data["tiles"], shape),
        frame.properties(name="frame"), *_window(data["window"], shape),
    ]  # fmt: skip
    corner = {
        "row0": _corner("tq", "start_row", tall, rows, shape.queries),
        "column0": _corner("tk", "start_column", wide, columns, shape.keys),
    }
    said = gettext(
        "{queries:,} × {keys:,} weights; below, the {rows} × {columns} that the pointer is on",
        queries=shape.queries, keys=shape.keys, rows=rows, columns=columns,
    )  # fmt: skip
    return theme.finished(
        alt.LayerChart(layer=layers), width=plot.width, height=height,
        title=theme.heading(plot.title, f"{said}; {plot.note}" if plot.note else said),
        params={**values, "signs": image.SIGNS}, expressions=corner,
        marks=_TILES**2 + rows * columns,
    )  # fmt: skip


def _corner(field: str, start: str, tile: int, side: int, size: int) -> str:
    """Where the window begins: with the tile in its middle, as far as the map goes."""
    tile_at = f"(isValid(tile.{field}) ? tile.{field}[0] : {start})"
    return f"clamp(floor(({tile_at} + 0.5) * {tile} - {side / 2}), 0, {size - side})"


def _tiles(tiles: Data, shape: LargeShape) -> alt.Chart:
    """What answers the pointer over the picture; nothing of it is seen."""
    (tall, wide), across = shape.tile, shape.plot.across
    selection = alt.selection_point(
        name="tile", fields=["tq", "tk"], on="pointerover", clear=False, toggle=False, empty=False,
    )  # fmt: skip
    placed = image.at(
        alt.Chart(tiles), f"datum.tk * {wide} * {across}", f"datum.tq * {tall} * side",
        f"min({shape.keys}, (datum.tk + 1) * {wide}) * {across}",
        f"min({shape.queries}, (datum.tq + 1) * {tall}) * side",
    )  # fmt: skip
    largest = gettext("largest of {rows} × {columns} weights", rows=tall, columns=wide)
    if shape.plot.signed:
        largest = gettext("farthest from 0 of {rows} × {columns}", rows=tall, columns=wide)
    return (
        placed.transform_calculate(
            query=f"queries[datum.tq * {tall}]", key=f"keys[datum.tk * {wide}]"
        )
        .mark_rect(fill="white", fillOpacity=0, cursor="crosshair", aria=False)
        .encode(
            tooltip=[
                alt.Tooltip("query:N", title=gettext("from query")),
                alt.Tooltip("key:N", title=gettext("from key")),
                alt.Tooltip("most:Q", title=largest),
            ],
        )
        .add_params(selection)
        .properties(name="tiles")
    )


def _window(window: Data, shape: LargeShape) -> list[alt.Chart]:
    wide = f"min({_CELL}, width / {shape.window[1]})"
    source = alt.Chart(window).transform_calculate(q="row0 + datum.i", k="column0 + datum.j")
    shown = map_cells.shown_weight("datum.value")
    cells = image.looked_up(source, "weights", shape.plot.signed, shape.plot.far)
    cells = cells.transform_calculate(**map_cells.WORDS, shown=shown)
    weight = alt.Tooltip("shown:N", title=translated(shape.plot.quantity))
    placed = image.at(
        cells, f"datum.j * {wide} + {_GAP}", f"top + {_GAP} + datum.i * {_CELL}",
        f"(datum.j + 1) * {wide} - {_GAP}", f"top - {_GAP} + (datum.i + 1) * {_CELL}",
    ).encode(tooltip=[*map_cells.pair_tooltip(), weight])  # fmt: skip
    drawn = (
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(aria=False)
        .encode(color=alt.Color("value:Q", scale=map_cells.scale_of(shape.plot), legend=None))
        .properties(name="window")
    )
    masked = (
        placed.transform_filter("!isValid(datum.value)")
        .mark_rect(fill=theme.QUIET, fillOpacity=theme.MASKED_OPACITY, aria=False)
        .properties(name="masked")
    )
    text = {"baseline": "middle", "fontSize": theme.FONT_SIZE, "aria": False}
    text["fill"] = alt.ExprRef(theme.INK)
    beside = (
        cells.transform_filter("datum.j == 0")
        .mark_text(align="right", limit=alt.ExprRef("query_room"), **text)
        .encode(
            x=alt.XValue(-4),
            y=alt.YValue(alt.ExprRef(f"top + (datum.i + 0.5) * {_CELL}")),
            text="query:N",
        )
        .properties(name="beside")
    )
    above = (
        image.at(cells.transform_filter("datum.i == 0"), f"(datum.j + 0.5) * {wide}", "top - 4")
        .mark_text(align="left", angle=270, limit=MOST_ROOM, **text)
        .encode(text="key:N")
        .properties(name="above")
    )
    return [masked, drawn, beside, above]
