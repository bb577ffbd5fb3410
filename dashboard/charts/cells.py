"""The cells of a heatmap: rectangles that answer the pointer, or one image per head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.gold import OTHER, SMALL, inset, outlines
from dashboard.charts.image import PICK, palette_png, summarised
from dashboard.charts.labels import MOST_ROOM, thinned
from dashboard.charts.labels import room as label_width

_LINE = theme.FONT_SIZE + 1  # px that a label needs across its direction
_GAP = 0.5  # px, half the space between cells that are large enough for one


class Plot(NamedTuple):
    """What all layers of a heatmap share.

    Args:
        queries, keys: the labels of rows and columns.
        quantity: what a cell holds, for the tooltip and the legend.
        row: px, the height of a row, and the width of a column where there is room.
        width: px, of the whole chart.
        query_room, key_room: px for the labels.
        flat: whether the keys' labels lie level.
        columns: heads in a row.
    """

    heads: int
    queries: list[str]
    keys: list[str]
    quantity: str
    title: str
    row: float
    width: int
    query_room: int
    key_room: int
    flat: bool
    columns: int

    @property
    def height(self) -> float:
        """Of the plot, in px."""
        return len(self.queries) * self.row

    @property
    def widest(self) -> float:
        """Of the plot with square cells, in px."""
        return len(self.keys) * self.row

    @property
    def end(self) -> alt.ExprRef | float:
        """Where the columns end, in px: squares, or less where the host has no room for them."""
        return alt.ExprRef(f"min(width, {self.widest})") if self.heads == 1 else self.widest


def rects(
    values: np.ndarray,
    plot: Plot,
    scale: alt.Scale,
    legend: bool,
    links: np.ndarray | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Values ``(heads, queries, keys)`` as rectangles, NaN as masked.

    Args:
        links: what gold says of the cells, see :func:`~dashboard.charts.gold.gold_cells`.
    """
    head, query, key = (axis.ravel() for axis in np.indices(values.shape))
    table = pd.DataFrame({"head": head, "q": query, "k": key, "value": rounded(values.ravel())})
    table = table if plot.heads > 1 else table.drop(columns="head")
    told = [alt.Tooltip("head:Q")] if plot.heads > 1 else []
    if links is not None:
        table["gold"] = np.broadcast_to(links, values.shape).ravel()
    layers = cell_layers(
        plot, scale, told=told, legend=legend, masked=bool(np.isnan(values).any()),
        gold=links is not None,
    )  # fmt: skip
    return _composed(layers, table, plot)


def cell_layers(
    plot: Plot,
    scale: alt.Scale,
    *,
    source: alt.Chart | None = None,
    told: Sequence[alt.Tooltip] = (),
    legend: bool = False,
    masked: bool = True,
    gold: bool = False,
) -> list[alt.Chart]:
    """Rectangles of the rows ``q``, ``k``, ``value`` of ``source``, and what the pointer frames.

    Args:
        source: makes these columns of its data; None where the data of the whole chart have them.
        told: more lines for the tooltip.
        masked: whether a value may be invalid, which looks grey and crossed out.
        gold: whether the rows have a column ``gold``, see
            :func:`~dashboard.charts.gold.gold_cells`.
    """
    hover = alt.selection_point(
        name="hover", fields=["q", "k"], on="pointerover", clear="pointerout", empty=False
    )
    base = (alt.Chart() if source is None else source).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
        shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'",
        said=f"'query ' + datum.query + ', key ' + datum.key + ', {plot.quantity} ' + datum.shown"
        + (" + ', ' + datum.gold" if gold else ""),
    )  # fmt: skip
    tooltip = [alt.Tooltip("query:N"), alt.Tooltip("key:N")]
    tooltip += [alt.Tooltip("shown:N", title=plot.quantity), *told]
    tooltip += [alt.Tooltip("gold:N", title="alignment")] if gold else []
    place = {
        "x": _x(plot),
        "x2": alt.X2("right:Q"),
        "y": _y(plot),
        "y2": alt.Y2("bottom:Q"),
    }
    said = {"tooltip": tooltip, "description": alt.Description("said:N")}
    within = inset(_GAP if plot.row >= SMALL else 0)
    drawn = (
        base.transform_filter("isValid(datum.value)")
        .mark_rect(**within)
        .encode(
            **place, **said, color=alt.Color("value:Q", scale=scale, legend=_legend(plot, legend))
        )
        .add_params(hover)
        .properties(name="cells")
    )
    gold_ones = outlines(base, plot.row, {**place, **said}) if gold else []
    layers = [drawn, *gold_ones, *_frames(base, hover, plot)]
    if masked:
        unseen = base.transform_filter("!isValid(datum.value)")
        look = {"fill": theme.QUIET, "fillOpacity": theme.MASKED_OPACITY}
        layers.insert(0, unseen.mark_rect(**look, **within).encode(**place, **said))
        # A stroke from corner to corner: a faint grey alone could be taken for a faint weight.
        stroke = unseen.mark_rule(
            stroke=theme.QUIET, strokeWidth=1, strokeOpacity=0.6, aria=False, **within
        )
        layers.append(stroke.encode(**place).properties(name="crossed"))
    return layers


def images(
    values: np.ndarray, plot: Plot, vmax: float, links: np.ndarray | None = None
) -> alt.LayerChart | alt.FacetChart:
    """Weights ``(heads, queries, keys)`` as an image per head, NaN as masked."""
    rows = []
    for head, weights in enumerate(values):
        small, note = summarised(weights)
        pictures = {scheme: palette_png(small, vmax, scheme) for scheme in theme.SEQUENTIAL}
        rows.append({"head": head, **pictures})
    layers = picture_layers(alt.Chart(), plot, vmax, links)
    return _composed(layers, pd.DataFrame(rows), plot, note)


def picture_layers(
    source: alt.Chart, plot: Plot, vmax: float, links: np.ndarray | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image: ``light`` or ``dark``, whichever the page is."""
    # Nothing is seen of this one: it carries the axes, and the ramp that the host has chosen.
    unseen = (
        source.transform_calculate(
            left="0", right=f"{len(plot.keys)}", top="0", bottom=f"{len(plot.queries)}"
        )
        .mark_rect(fillOpacity=0)
        .encode(
            x=_x(plot),
            x2=alt.X2("right:Q"),
            y=_y(plot),
            y2=alt.Y2("bottom:Q"),
            color=alt.Color("left:Q", scale=theme.sequential(vmax), legend=None),
        )
    )
    picture = (
        source.transform_calculate(url=PICK)
        .mark_image(
            width=plot.end, height=plot.height, aspect=False, smooth=False,
            align="left", baseline="top",
        )
        .encode(url=alt.Url("url:N"), x=alt.XValue(0), y=alt.YValue(0))
    )  # fmt: skip
    if links is None:
        return [picture, unseen]
    query, key = np.nonzero(links != OTHER)
    table = pd.DataFrame({"q": query, "k": key, "gold": links[query, key]})
    cells = alt.Chart(table).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
    )  # fmt: skip
    tooltip = [alt.Tooltip("query:N"), alt.Tooltip("key:N")]
    place = {"x": _x(plot), "x2": alt.X2("right:Q"), "y": _y(plot), "y2": alt.Y2("bottom:Q"),
             "tooltip": [*tooltip, alt.Tooltip("gold:N", title="alignment")]}  # fmt: skip
    return [picture, unseen, *outlines(cells, plot.row, place)]


def _x(plot: Plot) -> alt.X:
    room = plot.width - plot.query_room if plot.heads == 1 else plot.widest
    # Level labels need their width side by side, upright ones that of a line.
    each = label_width(plot.keys, MOST_ROOM) if plot.flat else _LINE
    ticks = thinned(len(plot.keys), min(room, plot.widest), each)
    axis = alt.Axis(
        orient="top",
        values=[tick + 0.5 for tick in ticks],
        tickCount=len(ticks),
        labelExpr="keys[floor(datum.value)]",
        labelAngle=0 if plot.flat else -90,
        labelLimit=each if plot.flat else plot.key_room,
        labelOverlap="parity",
        labelSeparation=2,
        minExtent=plot.key_room,
        maxExtent=plot.key_room,
        grid=False,
        title=None,
    )
    scale = alt.Scale(domain=[0, len(plot.keys)], range=[0, plot.end], nice=False, zero=False)
    return alt.X("left:Q", scale=scale, axis=axis)


def _y(plot: Plot) -> alt.Y:
    ticks = thinned(len(plot.queries), plot.height, _LINE)
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
    scale = alt.Scale(
        domain=[0, len(plot.queries)], range=[0, plot.height], nice=False, zero=False
    )
    return alt.Y("top:Q", scale=scale, axis=axis)


def _legend(plot: Plot, legend: bool) -> alt.Legend | None:
    if not legend:
        return None
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=120, gradientThickness=8,
        title=plot.quantity, titleOrient="left", tickCount=2, format="~g",
    )  # fmt: skip


def _frames(base: alt.Chart, hover: alt.Parameter, plot: Plot) -> list[alt.Chart]:
    """Frames around the hovered cell's row and column."""
    row = {"left": "0", "right": f"{len(plot.keys)}"}
    column = {"top": "0", "bottom": f"{len(plot.queries)}"}
    return [
        base.transform_filter(hover)
        .transform_calculate(**whole)
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1)
        .encode(x=alt.X("left:Q"), x2=alt.X2("right:Q"), y=alt.Y("top:Q"), y2=alt.Y2("bottom:Q"))
        for whole in (row, column)
    ]


def _composed(
    layers: list[alt.Chart], data: pd.DataFrame, plot: Plot, note: str = ""
) -> alt.LayerChart | alt.FacetChart:
    # Labels travel as data, not inside expressions: a token may hold quotes.
    look = {"params": {"queries": plot.queries, "keys": plot.keys}, "marks": len(data)}
    size = {"width": plot.width if plot.heads == 1 else plot.widest, "height": plot.height}
    look |= theme.heading(plot.title, note)
    if plot.heads == 1:
        return theme.finished(alt.layer(*layers, data=data), **size, **look)
    header = alt.Header(labelExpr="'head ' + datum.value", labelOrient="bottom")
    grid = alt.layer(*layers, data=data, **size).facet(
        facet=alt.Facet("head:N", title=None, header=header), columns=plot.columns
    )
    return theme.finished(grid, stretch=False, **look)
