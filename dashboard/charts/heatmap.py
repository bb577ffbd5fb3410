"""Attention weights as heatmaps: queries top to bottom, keys left to right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from dashboard.charts import theme
from dashboard.charts.cells import Plot, Sizes, cell_layers, picture_layers
from dashboard.charts.frames import array_of, masked_rows
from dashboard.charts.grid import SMALL, Cell, gold_cells, gold_table
from dashboard.charts.image import picture_table, rect_table
from dashboard.charts.labels import MOST_ROOM, displayed, goes_on, labels_of, room, vega_text
from dashboard.charts.large import LargeShape, draw_large, prepare_large
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources, chart_maker, values_of
from dashboard.language import gettext, gettext_noop

CELL = 24  # px, the side of a cell; columns get narrower where the host's column is
TALLEST = 420  # px, of a plot; rows get lower above
_LARGEST = 200  # px, of either side of a plot in a grid of heads
_FLAT = 16  # px, the room of one line of labels


def prepare_heatmap(
    weights: ArrayLike,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
    reference: ArrayLike | None = None,
    mask: np.ndarray | None = None,
    outlined: Iterable[Cell] | None = None,
    possible: Iterable[Cell] = (),
    vmax: float = 1.0,
    title: str = "",
    cell: int = CELL,
    width: int = theme.WIDTH,
    query_room: int | None = None,
    key_room: int | None = None,
    columns: int = 4,
    legend: bool = False,
) -> Prepared[Plot | LargeShape]:
    """Attention weights; hovering a cell frames its row and column and tells its weight.

    Up to :data:`~dashboard.charts.theme.MAX_RECTS` cells are rectangles; a larger map is a
    picture with the cells around the pointer below it; more heads are a picture each.

    Args:
        weights: ``(queries, keys)``, or ``(heads, queries, keys)`` for a grid of heads: an array,
            nested lists, a tensor. NaN is a masked cell, and so is every cell of a row whose
            weights are all 0.
        query_labels, key_labels: one per row and per column; positions where None.
        reference: weights of the same shape, which are subtracted: differences are drawn, on the
            diverging scale.
        mask: boolean ``(queries, keys)``, False where a cell is masked.
        outlined: the cells ``(query, key)`` that a gold alignment links; the tooltip says of
            every cell whether it is gold, unless this is None.
        possible: more such cells, which are outlined by a broken line.
        vmax: the end of the colour scale; panels that are compared need the same one.
        cell: px, side of a cell where there is room.
        width: px, of the whole chart where the host does not stretch it.
        query_room, key_room: px for the labels, see :func:`label_room`; as many as they need
            where None.
        columns: heads in a row of the grid.
        legend: whether the chart has a colour legend of its own; an image has none.

    Raises:
        ValueError: weights of another shape, without cells, or labels, a mask, a reference or
            outlined cells that do not fit; or more differences than are drawn one by one.
    """
    values = _checked(weights)
    if mask is not None:
        if np.shape(mask) != values.shape[1:]:
            raise ValueError(f"need a mask of shape {values.shape[1:]}, got {np.shape(mask)}")
        values[:, ~np.asarray(mask, dtype=bool)] = np.nan
    plot = Plot(title=title, width=width, columns=columns, legend=legend)
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
            large = prepare_large(values[0], plot, sizes, end)
            return Prepared(large.tables, large.shape, large.values, summary)
    told = {**sizes.values, "vmax": end}
    plot = plot._replace(
        gold=links is not None, canvas=theme.MOST_ELEMENTS < values.size <= theme.MAX_RECTS
    )
    if values.size <= theme.MAX_RECTS:
        return Prepared({"cells": rect_table(values, links)}, plot, told, summary)
    table, note = picture_table(values, end)
    gold = {} if links is None else {"gold": gold_table(links)}
    return Prepared({"pictures": table, **gold}, plot._replace(note=note), told, summary)


def draw_heatmap(data: Sources, shape: Plot | LargeShape) -> alt.LayerChart | alt.FacetChart:
    """The chart of ``data``, as :func:`prepare_heatmap` makes it, or names it."""
    if isinstance(shape, LargeShape):
        return draw_large(data, shape)
    if "pictures" in data:
        layers = picture_layers(alt.Chart(), shape, data.get("gold"))
    else:
        more = [alt.Tooltip("head:Q", title=gettext("head"))] if shape.panel else []
        layers = cell_layers(shape, more=more)
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
    """``weights - reference`` on the diverging scale.

    Args:
        labels, looks: as of :func:`attention_heatmap`, which also says what it raises.
    """
    return attention_heatmap(weights, *labels, reference=reference, **looks)


def _differences(values: np.ndarray, reference: ArrayLike) -> np.ndarray:
    subtracted = _checked(reference)
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


def _checked(weights: ArrayLike) -> np.ndarray:
    """A copy of the weights as float64 ``(heads, queries, keys)``."""
    values = array_of(weights)
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3 or not values.size:
        raise ValueError(
            f"need weights (queries, keys) or (heads, queries, keys), got {np.shape(weights)}"
        )
    return values


def map_plot(
    values: np.ndarray,
    labels: tuple[Sequence[object] | None, Sequence[object] | None],
    rooms: tuple[int | None, int | None],
    cell: float,
    plot: Plot,
) -> tuple[Plot, Sizes]:
    """What the layers of a heatmap of ``(heads, queries, keys)`` share: looks, labels and sizes.

    Args:
        labels, rooms: of queries and of keys; None for positions, and for the room they need.
        cell: px, as of :func:`prepare_heatmap`.
        plot: what is wanted; what follows from values and labels is added to it.

    Raises:
        ValueError: labels that do not fit.
    """
    heads, queries, keys = values.shape
    query_labels = labels_of(labels[0], queries, "query")
    key_labels = labels_of(labels[1], keys, "key")
    query_room, key_room = rooms
    flat = room(key_labels, MOST_ROOM) <= cell
    if key_room is None:
        key_room = _FLAT if flat else room(key_labels, MOST_ROOM)
    left = room(query_labels, MOST_ROOM) if query_room is None else query_room
    sizes = Sizes(
        queries=tuple(query_labels),
        keys=tuple(key_labels),
        side=float(min(cell, TALLEST / queries if heads == 1 else _LARGEST / max(queries, keys))),
        query_room=left,
        key_room=key_room,
        flat=flat,
        room=plot.width - left if heads == 1 else np.inf,
    )
    made = plot._replace(
        small=sizes.side < SMALL,
        panel=None if heads == 1 else (sizes.widest, sizes.height),
        pieces=any(map(goes_on, (*query_labels, *key_labels))),
        masked=bool(np.isnan(values).any()),
    )
    return made, sizes
