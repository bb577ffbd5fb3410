"""Attention weights as heatmaps: queries top to bottom, keys left to right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from dashboard.charts import theme
from dashboard.charts.cells import VMAX, Plot, Sizes, images, rects
from dashboard.charts.frames import array_of
from dashboard.charts.grid import SMALL, Cell, gold_cells, gold_table
from dashboard.charts.image import picture_table, rect_table
from dashboard.charts.labels import MOST_ROOM, displayed, goes_on, labels_of, room
from dashboard.charts.large import LargeShape, draw_large, prepare_large
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import gettext_noop

CELL = 24  # px, the side of a cell; columns get narrower where the host's column is
TALLEST = 420  # px, of a plot; rows get lower above
_LARGEST = 200  # px, of either side of a plot in a grid of heads
_FLAT = 16  # px, the room of one line of labels


class HeatShape(NamedTuple):
    """What a specification follows from.

    Args:
        legend: whether the chart has one.
        masked: whether any weight is.
        gold: whether a gold alignment is known.
        canvas: whether cells are painted on a canvas.
        note: of what was done to the weights.
    """

    plot: Plot
    legend: bool
    masked: bool
    gold: bool
    canvas: bool
    note: str


def attention_heatmap(
    weights: ArrayLike,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
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
) -> alt.LayerChart | alt.FacetChart:
    """Attention weights; hovering a cell frames its row and column and tells its weight.

    Args:
        weights: ``(queries, keys)``, or ``(heads, queries, keys)`` for a grid of heads: an array,
            nested lists, a tensor. NaN is a masked cell, and so is every cell of a row whose
            weights are all 0.
        query_labels, key_labels: one per row and per column; positions where None.
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

    Returns:
        Up to :data:`~dashboard.charts.theme.MAX_RECTS` cells as rectangles; of a larger map a
        picture, and below it the cells around the pointer; of more heads a picture each.

    Raises:
        ValueError: weights of another shape, without cells, or labels, a mask or outlined cells
            that do not fit.
    """
    values, plot, sizes, links = _drawn(
        weights, (query_labels, key_labels), mask, outlined, possible, (query_room, key_room),
        cell, title=title, width=width, columns=columns,
    )  # fmt: skip
    prepared = _prepared(values, plot, sizes, links, vmax, legend=legend)
    return draw_heatmap(prepared.sources, prepared.shape)


def prepare_heatmap(
    weights: ArrayLike,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
    outlined: Iterable[Cell] | None = None,
    possible: Iterable[Cell] = (),
    vmax: float = 1.0,
    title: str = "",
    cell: int = CELL,
    query_room: int | None = None,
    key_room: int | None = None,
) -> Prepared[HeatShape] | Prepared[LargeShape]:
    """What :func:`draw_heatmap` draws, arguments as of :func:`attention_heatmap`.

    Raises:
        ValueError: as :func:`attention_heatmap`, or weights of several heads.
    """
    values, plot, sizes, links = _drawn(
        weights, (query_labels, key_labels), None, outlined, possible, (query_room, key_room),
        cell, title=title,
    )  # fmt: skip
    if plot.panel:
        raise ValueError(f"need the weights of one head, got those of {len(values)}")
    summary = of_matrix(values[0], query_labels, key_labels)
    return replace(_prepared(values, plot, sizes, links, vmax), summary=summary)


def draw_heatmap(data: Sources, shape: HeatShape | LargeShape) -> alt.LayerChart | alt.FacetChart:
    """The chart of ``data``, as :func:`prepare_heatmap` makes it, or names it."""
    if isinstance(shape, LargeShape):
        return draw_large(data, shape)
    values = values_of(data)
    if "pictures" in data:
        return images(data["pictures"], shape.plot, values, data.get("gold"), shape.note)
    return rects(
        data["cells"], shape.plot, values, theme.sequential(VMAX), legend=shape.legend,
        masked=shape.masked, gold=shape.gold, canvas=shape.canvas,
    )  # fmt: skip


def _drawn(
    weights: ArrayLike,
    labels: tuple[Sequence[object] | None, Sequence[object] | None],
    mask: np.ndarray | None,
    outlined: Iterable[Cell] | None,
    possible: Iterable[Cell],
    rooms: tuple[int | None, int | None],
    cell: int,
    *,
    title: str,
    width: int = theme.WIDTH,
    columns: int = 1,
) -> tuple[np.ndarray, Plot, Sizes, np.ndarray | None]:
    """The weights with NaN where masked, their chart and its sizes, what gold says of cells."""
    values = _checked(weights)
    if mask is not None:
        if np.shape(mask) != values.shape[1:]:
            raise ValueError(f"need a mask of shape {values.shape[1:]}, got {np.shape(mask)}")
        values[:, ~np.asarray(mask, dtype=bool)] = np.nan
    values = masked_rows(values)
    plot, sizes = map_plot(values, labels, rooms, cell, title=title, width=width, columns=columns)
    links = None if outlined is None else gold_cells(values.shape[1:], outlined, possible)
    return values, plot, sizes, links


def _prepared(
    values: np.ndarray,
    plot: Plot,
    sizes: Sizes,
    links: np.ndarray | None,
    vmax: float,
    *,
    legend: bool = False,
) -> Prepared[HeatShape] | Prepared[LargeShape]:
    end = theme.checked_end(vmax)
    if len(values) == 1 and values.size > theme.MAX_RECTS and links is None:
        return prepare_large(values[0], plot, sizes, end)
    shape = HeatShape(
        plot=plot,
        legend=legend,
        masked=bool(np.isnan(values).any()),
        gold=links is not None,
        canvas=theme.MOST_ELEMENTS < values.size <= theme.MAX_RECTS,
        note="",
    )
    told = {**sizes.values, "vmax": end}
    if values.size <= theme.MAX_RECTS:
        return Prepared({"cells": rect_table(values, links)}, shape, told)
    table, note = picture_table(values, end)
    gold = {} if links is None else {"gold": gold_table(links)}
    return Prepared({"pictures": table, **gold}, shape._replace(note=note), told)


def difference_heatmap(
    weights: ArrayLike,
    reference: ArrayLike,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
    vmax: float = 1.0,
    title: str = "",
    cell: int = CELL,
    width: int = theme.WIDTH,
    query_room: int | None = None,
    key_room: int | None = None,
    columns: int = 4,
    legend: bool = False,
) -> alt.LayerChart | alt.FacetChart:
    """``weights - reference`` on the diverging scale; arguments as :func:`attention_heatmap`.

    Raises:
        ValueError: arrays of different shapes, or more cells than are drawn one by one.
    """
    values, subtracted = _checked(weights), _checked(reference)
    if values.shape != subtracted.shape:
        raise ValueError(
            f"need weights of one shape to subtract, got {np.shape(weights)} "
            f"and {np.shape(reference)}"
        )
    if values.size > theme.MAX_RECTS:
        raise ValueError(f"need at most {theme.MAX_RECTS:,} differences, got {values.size:,}")
    plot, sizes = map_plot(
        values, (query_labels, key_labels), (query_room, key_room), cell,
        title=title, width=width, columns=columns, quantity=gettext_noop("difference"),
    )  # fmt: skip
    values = values - subtracted
    return rects(
        rect_table(values), plot, sizes.values, theme.diverging(vmax), legend=legend,
        masked=bool(np.isnan(values).any()), canvas=values.size > theme.MOST_ELEMENTS,
    )  # fmt: skip


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


def masked_rows(weights: np.ndarray) -> np.ndarray:
    """The weights ``(..., queries, keys)`` with NaN in rows whose weights are all 0."""
    nothing = np.nan_to_num(weights).sum(axis=-1, keepdims=True) == 0
    return np.where(nothing, np.nan, weights)


def map_plot(
    values: np.ndarray,
    labels: tuple[Sequence[object] | None, Sequence[object] | None],
    rooms: tuple[int | None, int | None],
    cell: float,
    *,
    title: str = "",
    width: int = theme.WIDTH,
    columns: int = 1,
    quantity: str = gettext_noop("weight"),
) -> tuple[Plot, Sizes]:
    """What the layers of a heatmap of ``(heads, queries, keys)`` share: looks, labels and sizes.

    Args:
        labels, rooms: of queries and of keys; None for positions, and for the room they need.
        cell, width: px, as of :func:`attention_heatmap`.
        title, columns, quantity: as of :class:`~dashboard.charts.cells.Plot`.

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
        room=width - left if heads == 1 else np.inf,
    )
    plot = Plot(
        quantity=quantity,
        title=title,
        width=width,
        small=sizes.side < SMALL,
        panel=None if heads == 1 else (sizes.widest, sizes.height),
        columns=columns,
        pieces=any(map(goes_on, (*query_labels, *key_labels))),
    )
    return plot, sizes
