"""The cells of a heatmap: rectangles that answer the pointer, or one image per head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from dashboard.charts import theme
from dashboard.charts.gold import outlines
from dashboard.charts.grid import boxes, gaps, middles, positions
from dashboard.charts.image import PICK
from dashboard.charts.labels import MOST_ROOM, thinned
from dashboard.charts.labels import room as label_width
from dashboard.charts.pointer import hover
from dashboard.charts.template import Data

_LINE = theme.FONT_SIZE + 1  # px that a label needs across its direction


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
    queries: tuple[str, ...]
    keys: tuple[str, ...]
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
    data: Data,
    plot: Plot,
    scale: alt.Scale,
    *,
    legend: bool = False,
    masked: bool = True,
    gold: bool = False,
) -> alt.LayerChart | alt.FacetChart:
    """Values as rectangles; ``masked`` and ``gold`` as of :func:`cell_layers`.

    Args:
        data: what :func:`~dashboard.charts.cell_tables.rect_table` makes.
    """
    more = [alt.Tooltip("head:Q")] if plot.heads > 1 else []
    layers = cell_layers(plot, scale, more=more, legend=legend, masked=masked, gold=gold)
    return _composed(layers, data, plot, marks=plot.heads * len(plot.queries) * len(plot.keys))


def cell_layers(
    plot: Plot,
    scale: alt.Scale,
    *,
    source: alt.Chart | None = None,
    more: Sequence[alt.Tooltip] = (),
    legend: bool = False,
    masked: bool = True,
    gold: bool = False,
) -> list[alt.Chart]:
    """Rectangles of the rows ``q``, ``k``, ``value`` of ``source``, and what the pointer frames.

    Args:
        source: makes these columns of its data; None where the data of the whole chart have them.
        more: more lines for the tooltip.
        masked: whether a value may be invalid, which looks grey and crossed out.
        gold: whether the rows have a column ``gold``, see
            :func:`~dashboard.charts.gold.gold_cells`.
    """
    pointed = hover("q", "k")
    base = (alt.Chart() if source is None else source).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
        shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'",
        said=f"'query ' + datum.query + ', key ' + datum.key + ', {plot.quantity} ' + datum.shown"
        + (" + ', ' + datum.gold" if gold else ""),
    )  # fmt: skip
    tooltip = [alt.Tooltip("query:N"), alt.Tooltip("key:N")]
    tooltip += [alt.Tooltip("shown:N", title=plot.quantity), *more]
    tooltip += [alt.Tooltip("gold:N", title="alignment")] if gold else []
    bare = _placed(base, plot)
    placed = bare.encode(tooltip=tooltip, description=alt.Description("said:N"))
    within = gaps(plot.row)
    layers = [
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(**within)
        .encode(color=alt.Color("value:Q", scale=scale, legend=_legend(plot) if legend else None))
        .add_params(pointed)
        .properties(name="cells"),
        *(outlines(placed, plot.row) if gold else ()),
        *_frames(base.transform_filter(pointed), plot),
    ]
    if masked:
        invalid = "!isValid(datum.value)"
        grey = placed.transform_filter(invalid).mark_rect(
            fill=theme.QUIET, fillOpacity=theme.MASKED_OPACITY, **within
        )
        # A stroke from corner to corner: a faint grey alone could be taken for a faint weight.
        stroke = bare.transform_filter(invalid).mark_rule(
            stroke=theme.QUIET, strokeWidth=1, strokeOpacity=0.6, aria=False, **within
        )
        layers = [grey, *layers, stroke.properties(name="crossed")]
    return layers


def images(
    data: Data, plot: Plot, vmax: float, gold: Data | None = None, note: str = ""
) -> alt.LayerChart | alt.FacetChart:
    """Weights as an image per head.

    Args:
        data, note: what :func:`~dashboard.charts.cell_tables.picture_table` makes.
        gold: as of :func:`picture_layers`.
    """
    layers = picture_layers(alt.Chart(), plot, vmax, gold)
    return _composed(layers, data, plot, note, marks=plot.heads)


def picture_layers(
    source: alt.Chart, plot: Plot, vmax: float, gold: Data | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image: ``light`` or ``dark``, whichever the page is.

    Args:
        gold: the cells that a gold alignment links, see
            :func:`~dashboard.charts.gold.gold_table`.
    """
    # Nothing is seen of this one: it carries the axes, and the ramp that the host has chosen.
    whole = source.transform_calculate(
        left="0", right=f"{len(plot.keys)}", top="0", bottom=f"{len(plot.queries)}"
    )
    unseen = (
        _placed(whole, plot)
        .mark_rect(fillOpacity=0)
        .encode(color=alt.Color("left:Q", scale=theme.sequential(vmax), legend=None))
    )
    picture = (
        source.transform_calculate(url=PICK)
        .mark_image(
            width=plot.end, height=plot.height, aspect=False, smooth=False,
            align="left", baseline="top",
        )
        .encode(url=alt.Url("url:N"), x=alt.XValue(0), y=alt.YValue(0))
    )  # fmt: skip
    if gold is None:
        return [picture, unseen]
    cells = alt.Chart(gold).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
    )  # fmt: skip
    said = alt.Tooltip("gold:N", title="alignment")
    placed = _placed(cells, plot).encode(
        tooltip=[alt.Tooltip("query:N"), alt.Tooltip("key:N"), said]
    )
    return [picture, unseen, *outlines(placed, plot.row)]


def _placed(chart: alt.Chart, plot: Plot) -> alt.Chart:
    """The chart with its marks from ``left`` and ``top`` to ``right`` and ``bottom``, in cells."""
    room = plot.width - plot.query_room if plot.heads == 1 else plot.widest
    # Level labels need their width side by side, upright ones that of a line.
    each = label_width(plot.keys, MOST_ROOM) if plot.flat else _LINE
    columns = middles(
        "keys", thinned(len(plot.keys), min(room, plot.widest), each), orient="top",
        room=plot.key_room, limit=each if plot.flat else plot.key_room,
        angle=0 if plot.flat else -90,
    )  # fmt: skip
    rows = middles(
        "queries", thinned(len(plot.queries), plot.height, _LINE), room=plot.query_room,
        limit=plot.query_room,
    )  # fmt: skip
    x = alt.X("left:Q", scale=positions(len(plot.keys), plot.end), axis=columns)
    y = alt.Y("top:Q", scale=positions(len(plot.queries), plot.height), axis=rows)
    return boxes(chart, x, y)


def _legend(plot: Plot) -> alt.Legend:
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=120, gradientThickness=8,
        title=plot.quantity, titleOrient="left", tickCount=2, format="~g",
    )  # fmt: skip


def _frames(pointed: alt.Chart, plot: Plot) -> list[alt.Chart]:
    """Frames around the row and the column of the cell that is pointed at."""
    frame = boxes(pointed, alt.X("left:Q"), alt.Y("top:Q")).mark_rect(
        filled=False, stroke=theme.POINTER, strokeWidth=1
    )
    return [
        frame.transform_calculate(left="0", right=f"{len(plot.keys)}"),
        frame.transform_calculate(top="0", bottom=f"{len(plot.queries)}"),
    ]


def _composed(
    layers: list[alt.Chart], data: Data, plot: Plot, note: str = "", *, marks: int
) -> alt.LayerChart | alt.FacetChart:
    # Labels travel as data, not inside expressions: a token may hold quotes.
    lists = {"queries": plot.queries, "keys": plot.keys}
    title = theme.heading(plot.title, note)
    chart = alt.LayerChart(layer=layers, data=data)
    if plot.heads == 1:
        return theme.finished(
            chart, width=plot.width, height=plot.height, title=title, params=lists, marks=marks
        )
    header = alt.Header(labelExpr="'head ' + datum.value", labelOrient="bottom")
    grid = chart.properties(width=plot.widest, height=plot.height).facet(
        facet=alt.Facet("head:N", title=None, header=header), columns=plot.columns
    )
    return theme.finished(grid, title=title, params=lists, stretch=False, marks=marks)
