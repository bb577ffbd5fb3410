"""The cells of a heatmap: rectangles that answer the pointer, or one image per head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from dashboard.charts import theme
from dashboard.charts.grid import GAP, Every, boxes, inset, middles, outlines, positions
from dashboard.charts.image import PICK
from dashboard.charts.labels import INSIDE, MOST_ROOM, quoted, step, vega_text
from dashboard.charts.labels import room as label_width
from dashboard.charts.lanes import hover
from dashboard.charts.template import Data, Value
from dashboard.language import gettext, gettext_noop, translated

_LINE = theme.FONT_SIZE + 1  # px that a label needs across its direction


# Vega expressions, of the parameters that Sizes.values names.
WIDEST = "(length(keys) * side)"  # px, the plot with square cells
HEIGHT = "(length(queries) * side)"  # px
VMAX = alt.ExprRef("vmax")


class Plot(NamedTuple):
    """What the specification of a heatmap follows from.

    Args:
        quantity: what a cell holds, for the tooltip and the legend.
        width: px, of the whole chart.
        columns: heads in a row.
        small: whether cells have no room for gaps between them.
        panel: px, width and height of a head's plot where there are several, else None.
        pieces: whether labels are pieces of words: rules then stand between words.
        legend: whether the chart has one.
        signed: whether values are differences, on the scale of two sides.
        masked: whether any value is invalid, which looks grey and crossed out.
        gold: whether the cells have a column ``gold``, see
            :func:`~dashboard.charts.grid.gold_cells`.
        canvas: whether cells are painted on a canvas.
        note: of what was done to the weights.
    """

    quantity: str = gettext_noop("weight")
    title: str = ""
    width: int = theme.WIDTH
    columns: int = 1
    small: bool = False
    panel: tuple[float, float] | None = None
    pieces: bool = False
    legend: bool = False
    signed: bool = False
    masked: bool = False
    gold: bool = False
    canvas: bool = False
    note: str = ""

    @property
    def end(self) -> str:
        """Where the columns end, in px: squares, or less where the host has no room for them."""
        return WIDEST if self.panel else f"min(width, {WIDEST})"

    @property
    def across(self) -> str:
        """The width of a column, in px."""
        return f"({self.end} / length(keys))"


class Sizes(NamedTuple):
    """The words of a heatmap, and the numbers that follow from them.

    Args:
        queries, keys: the labels of rows and columns.
        side: px, the height of a row, and the width of a column where there is room.
        query_room, key_room: px for the labels.
        flat: whether the keys' labels lie level.
        room: px, that the columns have in a chart of its own width.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    side: float
    query_room: int
    key_room: int
    flat: bool
    room: float

    @property
    def height(self) -> float:
        """Of the plot, in px."""
        return len(self.queries) * self.side

    @property
    def widest(self) -> float:
        """Of the plot with square cells, in px."""
        return len(self.keys) * self.side

    @property
    def values(self) -> dict[str, Value]:
        """The chart's parameters; ``query_step`` and ``key_step`` lie between two labels."""
        # Level labels need their width side by side, upright ones that of a line.
        each = label_width(self.keys, MOST_ROOM) if self.flat else _LINE
        return {
            "queries": self.queries,
            "keys": self.keys,
            "side": self.side,
            "height": self.height,
            "query_room": self.query_room,
            "key_room": self.key_room,
            "key_limit": each if self.flat else self.key_room,
            "key_angle": 0 if self.flat else 270,
            "query_step": step(len(self.queries), self.height, _LINE),
            "key_step": step(len(self.keys), min(self.room, self.widest), each),
        }


def cell_layers(
    plot: Plot, source: alt.Chart | None = None, more: Sequence[alt.Tooltip] = ()
) -> list[alt.Chart]:
    """Rectangles of the rows ``q``, ``k``, ``value`` of ``source``, and what the pointer frames.

    Args:
        source: makes these columns of its data; None where the data of the whole chart have them.
        more: more lines for the tooltip.
    """
    pointed = hover("q", "k")
    base = (alt.Chart() if source is None else source).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
        shown=shown_weight("datum.value"), said=_sentence(plot),
    )  # fmt: skip
    tooltip = [*pair_tooltip(), alt.Tooltip("shown:N", title=translated(plot.quantity)), *more]
    tooltip += [alt.Tooltip("gold:N", title=gettext("alignment"))] if plot.gold else []
    scale = theme.diverging(VMAX) if plot.signed else theme.sequential(VMAX)
    legend = _legend(plot) if plot.legend else None
    bare = _placed(base, plot)
    placed = bare.encode(tooltip=tooltip, description=alt.Description("said:N"))
    within = inset(0 if plot.small else GAP)
    layers = [
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(**within)
        .encode(color=alt.Color("value:Q", scale=scale, legend=legend))
        .add_params(pointed)
        .properties(name="cells"),
        *(_words(base, plot) if plot.pieces else ()),
        *(outlines(placed, plot.small) if plot.gold else ()),
        *_frames(base.transform_filter(pointed)),
    ]
    if plot.masked:
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


def shown_weight(value: str) -> str:
    """The Vega expression of a weight in words, where ``value`` is that of its number."""
    return f"isValid({value}) ? format({value}, '.3f') : {quoted(gettext('masked'))}"


def pair_tooltip() -> list[alt.Tooltip]:
    """The lines of a tooltip that name the row and the column."""
    return [
        alt.Tooltip("query:N", title=gettext("query")),
        alt.Tooltip("key:N", title=gettext("key")),
    ]


def _sentence(plot: Plot) -> str:
    """The Vega expression of what a screen reader says of a cell."""
    parts = {"query": "datum.query", "key": "datum.key", "weight": "datum.shown",
             "quantity": quoted(translated(plot.quantity))}  # fmt: skip
    if not plot.gold:
        return vega_text(gettext("query {query}, key {key}, {quantity} {weight}"), **parts)
    sentence = gettext("query {query}, key {key}, {quantity} {weight}, {gold}")
    return vega_text(sentence, gold="datum.gold", **parts)


def picture_layers(source: alt.Chart, plot: Plot, gold: Data | None = None) -> list[alt.Chart]:
    """The one row of ``source`` as an image: ``light`` or ``dark``, whichever the page is.

    Args:
        gold: the cells that a gold alignment links, see
            :func:`~dashboard.charts.grid.gold_table`.
    """
    # Nothing is seen of this one: it carries the axes, and the ramp that the host has chosen.
    whole = source.transform_calculate(
        left="0", right="length(keys)", top="0", bottom="length(queries)"
    )
    unseen = (
        _placed(whole, plot)
        .mark_rect(fillOpacity=0)
        .encode(color=alt.Color("left:Q", scale=theme.sequential(VMAX), legend=None))
    )
    picture = (
        source.transform_calculate(url=PICK)
        .mark_image(
            width=alt.ExprRef(plot.end), height=alt.ExprRef(HEIGHT), aspect=False,
            smooth=False, align="left", baseline="top",
        )
        .encode(url=alt.Url("url:N"), x=alt.XValue(0), y=alt.YValue(0))
    )  # fmt: skip
    if gold is None:
        return [picture, unseen]
    cells = alt.Chart(gold).transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        query="queries[datum.q]", key="keys[datum.k]",
    )  # fmt: skip
    said = alt.Tooltip("gold:N", title=gettext("alignment"))
    placed = _placed(cells, plot).encode(tooltip=[*pair_tooltip(), said])
    return [picture, unseen, *outlines(placed, plot.small)]


def _placed(chart: alt.Chart, plot: Plot) -> alt.Chart:
    """The chart with its marks from ``left`` and ``top`` to ``right`` and ``bottom``, in cells."""
    columns = middles(
        "keys", Every("key_step"), orient="top", room=alt.ExprRef("key_room"),
        limit=alt.ExprRef("key_limit"), angle=alt.ExprRef("key_angle"),
    )  # fmt: skip
    # Vega-Lite knows how labels of a known angle are aligned.
    columns.labelAlign = alt.ExprRef("key_angle ? 'left' : 'center'")
    room = alt.ExprRef("query_room")
    rows = middles("queries", Every("query_step"), room=room, limit=room)
    across = positions(alt.ExprRef("length(keys)"), alt.ExprRef(plot.end))
    down = positions(alt.ExprRef("length(queries)"), alt.ExprRef(HEIGHT))
    x = alt.X("left:Q", scale=across, axis=columns)
    y = alt.Y("top:Q", scale=down, axis=rows)
    return boxes(chart, x, y)


def _legend(plot: Plot) -> alt.Legend:
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=120, gradientThickness=8,
        title=translated(plot.quantity), titleOrient="left", tickCount=2, format="~g",
    )  # fmt: skip


def _words(base: alt.Chart, plot: Plot) -> list[alt.Chart]:
    """Thin rules between words, and none between the pieces of a word."""
    rows = base.transform_filter(_begins("queries", "datum.q", "datum.k")).transform_calculate(
        bottom="datum.q", left="0", right="length(keys)"
    )
    columns = base.transform_filter(_begins("keys", "datum.k", "datum.q")).transform_calculate(
        right="datum.k", top="0", bottom="length(queries)"
    )
    look = {"stroke": alt.ExprRef(theme.INK), "strokeOpacity": 0.6, "aria": False}
    return [
        _placed(lines, plot).mark_rule(**look).properties(name=name)
        for name, lines in (("words_down", rows), ("words_across", columns))
    ]


def _begins(labels: str, at: str, other: str) -> str:
    """Whether a word begins at a row or column that is not the first; once for each of them."""
    label = f"{labels}[{at}]"
    goes_on = f"(length({label}) > 1 && substring({label}, 0, 1) == '{INSIDE}')"
    return f"{at} > 0 && {other} == 0 && !{goes_on}"


def _frames(pointed: alt.Chart) -> list[alt.Chart]:
    """Frames around the row and the column of the cell that is pointed at."""
    frame = boxes(pointed, alt.X("left:Q"), alt.Y("top:Q")).mark_rect(
        filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False
    )
    return [
        frame.transform_calculate(left="0", right="length(keys)"),
        frame.transform_calculate(top="0", bottom="length(queries)"),
    ]
