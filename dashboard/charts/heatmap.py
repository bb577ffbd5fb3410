"""Attention weights as heatmaps: queries top to bottom, keys left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.image import PICK, palette_png, summarised
from dashboard.charts.labels import displayed, room, thinned

CELL = 24  # px, the side of a cell; columns get narrower where the host's column is
_TALLEST = 420  # px, of a plot; rows get lower above
_MOST_ROOM = 96  # px, for the labels of one axis
_HEADS_IN_A_ROW = 4


class _Plot(NamedTuple):
    """What all layers of a heatmap share."""

    queries: int
    keys: int
    cell: float
    row: float  # px, the height of a row
    scale: alt.Scale
    title: str  # of the values, in the tooltip and the legend
    width: int
    query_room: int
    key_room: int
    flat: bool  # the key labels lie level

    @property
    def height(self) -> float:
        return self.queries * self.row


def attention_heatmap(
    weights: np.ndarray,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
    mask: np.ndarray | None = None,
    vmax: float = 1.0,
    title: str = "",
    cell: int = CELL,
    width: int = theme.WIDTH,
    query_room: int | None = None,
    key_room: int | None = None,
    legend: bool = False,
) -> alt.LayerChart | alt.FacetChart:
    """Attention weights; hovering a cell frames its row and column and tells its weight.

    Args:
        weights: ``(queries, keys)``, or ``(heads, queries, keys)`` for a grid of heads. NaN is a
            masked cell, and so is every cell of a row whose weights are all 0.
        query_labels, key_labels: one per row and per column; positions where None.
        mask: boolean ``(queries, keys)``, False where a cell is masked.
        vmax: the end of the colour scale; panels that are compared need the same one.
        cell: px, side of a cell where there is room.
        width: px, of the whole chart where the host does not stretch it.
        query_room, key_room: px for the labels, see :func:`label_room`; as many as they need.
        legend: whether the chart has a colour legend of its own.

    Returns:
        Up to :data:`~dashboard.charts.theme.MAX_RECTS` cells as rectangles, more as images.

    Raises:
        ValueError: weights of another shape, without cells, or labels or a mask that do not fit.
    """
    values, labels = _checked(weights, query_labels, key_labels, mask)
    plot = _plot(values, labels, theme.sequential(vmax), "weight", cell, width)
    plot = _with_rooms(plot, query_room, key_room)
    if values.size <= theme.MAX_RECTS:
        return _rects(values, labels, plot, title, legend)
    return _images(values, labels, plot, title, vmax)


def difference_heatmap(
    weights: np.ndarray,
    reference: np.ndarray,
    query_labels: Sequence[object] | None = None,
    key_labels: Sequence[object] | None = None,
    *,
    vmax: float = 1.0,
    title: str = "",
    cell: int = CELL,
    width: int = theme.WIDTH,
    query_room: int | None = None,
    key_room: int | None = None,
    legend: bool = False,
) -> alt.LayerChart | alt.FacetChart:
    """``weights - reference`` on the diverging scale; arguments as :func:`attention_heatmap`.

    Raises:
        ValueError: arrays of different shapes, or more cells than are drawn one by one.
    """
    weights, reference = np.asarray(weights), np.asarray(reference)
    if weights.shape != reference.shape:
        raise ValueError(
            f"need weights of one shape to subtract, got {weights.shape} and {reference.shape}"
        )
    if weights.size > theme.MAX_RECTS:
        raise ValueError(f"need at most {theme.MAX_RECTS:,} differences, got {weights.size:,}")
    values, labels = _checked(weights - reference, query_labels, key_labels, None, rows=False)
    plot = _plot(values, labels, theme.diverging(vmax), "difference", cell, width)
    return _rects(values, labels, _with_rooms(plot, query_room, key_room), title, legend)


def label_room(labels: Sequence[object]) -> int:
    """Pixels that an axis needs for these labels; the largest of several panels aligns them."""
    return room(displayed(labels), _MOST_ROOM)


def _checked(
    weights: np.ndarray,
    query_labels: Sequence[object] | None,
    key_labels: Sequence[object] | None,
    mask: np.ndarray | None,
    rows: bool = True,
) -> tuple[np.ndarray, tuple[list[str], list[str]]]:
    values = np.array(weights, dtype=np.float64)
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or not values.size:
        raise ValueError(
            f"need weights (queries, keys) or (heads, queries, keys), got {np.shape(weights)}"
        )
    labels = []
    for axis, given in enumerate((query_labels, key_labels), start=1):
        shown = displayed(range(values.shape[axis]) if given is None else given)
        if len(shown) != values.shape[axis]:
            name = ("query", "key")[axis - 1]
            raise ValueError(
                f"need one label per {name}, {values.shape[axis]} in all, got {len(shown)}"
            )
        labels.append(shown)
    if mask is not None:
        if np.shape(mask) != values.shape[1:]:
            raise ValueError(f"need a mask of shape {values.shape[1:]}, got {np.shape(mask)}")
        values[:, ~np.asarray(mask, dtype=bool)] = np.nan
    if rows:
        values[np.nan_to_num(values).sum(axis=-1) == 0] = np.nan
    return values, (labels[0], labels[1])


def _plot(
    values: np.ndarray,
    labels: tuple[list[str], list[str]],
    scale: alt.Scale,
    title: str,
    cell: float,
    width: int,
) -> _Plot:
    _, queries, keys = values.shape
    flat = room(labels[1], _MOST_ROOM) <= cell
    return _Plot(
        queries=queries,
        keys=keys,
        cell=cell,
        row=min(cell, _TALLEST / queries),
        scale=scale,
        title=title,
        width=width,
        query_room=label_room(labels[0]),
        key_room=16 if flat else label_room(labels[1]),
        flat=flat,
    )


def _with_rooms(plot: _Plot, query_room: int | None, key_room: int | None) -> _Plot:
    return plot._replace(
        query_room=plot.query_room if query_room is None else query_room,
        key_room=plot.key_room if key_room is None else key_room,
    )


def _end(plot: _Plot, heads: int) -> alt.ExprRef | float:
    """Where the columns end, in px."""
    # Squares where the host has room for them, else as wide as its column allows.
    widest = plot.keys * plot.row
    return alt.ExprRef(f"min(width, {widest})") if heads == 1 else widest


def _x(plot: _Plot, heads: int) -> alt.X:
    # A column's share of the plot, but no more than a cell: squares where there is room.
    end = _end(plot, heads)
    between = plot.width - plot.query_room if heads == 1 else plot.keys * plot.cell
    ticks = thinned(plot.keys, between, theme.FONT_SIZE + 1)
    axis = alt.Axis(
        orient="top",
        values=[tick + 0.5 for tick in ticks],
        tickCount=len(ticks),
        labelExpr="keys[floor(datum.value)]",
        labelAngle=0 if plot.flat else -90,
        labelLimit=_MOST_ROOM,
        labelOverlap="greedy",
        labelSeparation=1,
        minExtent=plot.key_room,
        maxExtent=plot.key_room,
        grid=False,
        title=None,
    )
    scale = alt.Scale(domain=[0, plot.keys], range=[0, end], nice=False, zero=False)
    return alt.X("left:Q", scale=scale, axis=axis)


def _y(plot: _Plot) -> alt.Y:
    ticks = thinned(plot.queries, plot.height, theme.FONT_SIZE + 1)
    axis = alt.Axis(
        values=[tick + 0.5 for tick in ticks],
        tickCount=len(ticks),
        labelExpr="queries[floor(datum.value)]",
        labelLimit=plot.query_room,
        labelOverlap=False,
        minExtent=plot.query_room,
        maxExtent=plot.query_room,
        grid=False,
        title=None,
    )
    scale = alt.Scale(domain=[0, plot.queries], range=[0, plot.height], nice=False, zero=False)
    return alt.Y("top:Q", scale=scale, axis=axis)


def _rects(
    values: np.ndarray,
    labels: tuple[list[str], list[str]],
    plot: _Plot,
    title: str,
    legend: bool,
) -> alt.LayerChart | alt.FacetChart:
    heads, queries, keys = values.shape
    head, query, key = (axis.ravel() for axis in np.indices(values.shape))
    cells = pd.DataFrame({"q": query, "k": key, "weight": rounded(values.ravel())})
    if heads > 1:
        cells.insert(0, "head", head)
    hover = alt.selection_point(
        name="hover", fields=["q", "k"], on="pointerover", clear="pointerout", empty=False
    )
    gap = 0.5 if plot.cell >= 12 else 0
    base = alt.Chart().transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
    )  # fmt: skip
    place = {"x": _x(plot, heads), "x2": "right:Q", "y": _y(plot), "y2": "bottom:Q"}
    tooltip = [
        alt.Tooltip("query:N"),
        alt.Tooltip("key:N"),
        alt.Tooltip("weight:Q", format=".3f", title=plot.title),
    ]
    if heads > 1:
        tooltip.append(alt.Tooltip("head:Q"))
    bar = alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=120, gradientThickness=8,
        title=plot.title, titleOrient="left", tickCount=2,
    )  # fmt: skip
    drawn = (
        base.transform_filter("isValid(datum.weight)")
        .mark_rect(xOffset=gap, x2Offset=-gap, yOffset=gap, y2Offset=-gap)
        .encode(
            **place,
            color=alt.Color("weight:Q", scale=plot.scale, legend=bar if legend else None),
            tooltip=tooltip,
        )
        .add_params(hover)
        .properties(name="cells")
    )
    layers = [drawn, *_frames(base, hover, plot)]
    if np.isnan(values).any():
        layers.insert(0, _masked(base, place, gap, tooltip, plot))
    return _composed(layers, cells, labels, plot, title, heads)


def _masked(
    base: alt.Chart,
    place: dict[str, object],
    gap: float,
    tooltip: list[alt.Tooltip],
    plot: _Plot,
) -> alt.Chart:
    note = alt.Tooltip("note:N", title=plot.title)
    return (
        base.transform_filter("!isValid(datum.weight)")
        .transform_calculate(note="'masked'")
        .mark_rect(
            fill=theme.QUIET, fillOpacity=0.25,
            xOffset=gap, x2Offset=-gap, yOffset=gap, y2Offset=-gap,
        )
        .encode(**place, tooltip=[*tooltip[:2], note, *tooltip[3:]])
    )  # fmt: skip


def _frames(base: alt.Chart, hover: alt.Parameter, plot: _Plot) -> list[alt.Chart]:
    """Frames around the hovered cell's row and column."""
    return [
        base.transform_filter(hover)
        .transform_calculate(**whole)
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1)
        .encode(x="left:Q", x2="right:Q", y="top:Q", y2="bottom:Q")
        for whole in (
            {"left": "0", "right": f"{plot.keys}"},
            {"top": "0", "bottom": f"{plot.queries}"},
        )
    ]


def _images(
    values: np.ndarray,
    labels: tuple[list[str], list[str]],
    plot: _Plot,
    title: str,
    vmax: float,
) -> alt.LayerChart | alt.FacetChart:
    rows = []
    for head, part in enumerate(values):
        small, note = summarised(part)
        images = {scheme: palette_png(small, vmax, scheme) for scheme in theme.SEQUENTIAL}
        rows.append({"head": head, **images})
    frame = pd.DataFrame(rows)
    heads = len(values)
    end = _end(plot, heads)
    # No cell is drawn from these: they carry the axes, and the ramp that the host has chosen.
    corners = (
        alt.Chart()
        .transform_calculate(left="0", right=f"{plot.keys}", top="0", bottom=f"{plot.queries}")
        .mark_rect(fillOpacity=0)
        .encode(
            x=_x(plot, heads),
            x2="right:Q",
            y=_y(plot),
            y2="bottom:Q",
            color=alt.Color("left:Q", scale=plot.scale, legend=None),
        )
    )
    picture = (
        alt.Chart()
        .transform_calculate(url=PICK)
        .mark_image(
            width=end, height=plot.height, aspect=False, smooth=False,
            align="left", baseline="top",
        )
        .encode(url="url:N", x=alt.value(0), y=alt.value(0))
    )  # fmt: skip
    return _composed([picture, corners], frame, labels, plot, title, heads, note)


def _composed(
    layers: list[alt.Chart],
    data: pd.DataFrame,
    labels: tuple[list[str], list[str]],
    plot: _Plot,
    title: str,
    heads: int,
    note: str = "",
) -> alt.LayerChart | alt.FacetChart:
    # As data, not inside expressions: a token may hold quotes.
    names = [alt.param(name=n, value=v) for n, v in zip(("queries", "keys"), labels, strict=True)]
    heading = {"title": alt.Title(title, subtitle=note)} if title or note else {}
    chart = alt.layer(*layers, data=data)
    if heads == 1:
        chart = chart.properties(width=plot.width, height=plot.height, **heading)
        return theme.configure(chart.add_params(*names))
    chart = chart.properties(width=plot.keys * plot.row, height=plot.height).facet(
        facet=alt.Facet(
            "head:N", title=None, header=alt.Header(labelExpr="'head ' + datum.label")
        ),
        columns=_HEADS_IN_A_ROW,
    )
    chart = chart.add_params(*names).properties(**heading)
    return theme.configure(chart, stretch=False)
