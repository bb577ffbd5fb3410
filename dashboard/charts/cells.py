"""The cells of a heatmap: rectangles that answer the pointer, or one image per head."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.grid import GAP, SMALL, boxes, hover, inset, middles, positions
from dashboard.charts.image import PICK
from dashboard.charts.labels import INSIDE, MOST_ROOM, goes_on, labels_of, quoted, step, vega_text
from dashboard.charts.labels import room as label_width
from dashboard.charts.template import Data, Value
from dashboard.language import gettext, gettext_noop, translated

CELL = 24  # px, the side of a cell; columns get narrower where the host's column is
TALLEST = 420  # px, of a plot; rows get lower above
_LARGEST = 200  # px, of either side of a plot in a grid of heads
_FLAT = 16  # px, the room of one line of labels
FAR = 1.001
_LINE = theme.FONT_SIZE + 1  # px that a label needs across its direction

# Vega expressions, of the parameters that Sizes.values names.
WIDEST = "(length(keys) * side)"  # px, the plot with square cells
HEIGHT = "(length(queries) * side)"  # px
VMAX = alt.ExprRef("vmax")
# Columns of a cell, from its ``q`` and ``k``.
WORDS = {"query": "queries[datum.q]", "key": "keys[datum.k]"}
_SIDES = {"left": "datum.k", "right": "datum.k + 1", "top": "datum.q", "bottom": "datum.q + 1"}
_ROW = {"left": "0", "right": "length(keys)"}  # from end to end
_COLUMN = {"top": "0", "bottom": "length(queries)"}


class Plot(NamedTuple):
    """What the specification of a heatmap follows from."""

    quantity: str = gettext_noop("weight")  # that a cell holds, for the tooltip and the legend
    title: str = ""
    width: int = theme.WIDTH
    columns: int = 1  # heads in a row
    small: bool = False  # whether cells have no room for gaps between them
    panel: tuple[float, float] | None = None  # px, of a head's plot where there are several
    pieces: bool = False  # whether labels are pieces of words: rules then stand between words
    legend: bool = False
    signed: bool = False  # whether values may be below 0, on the scale of two sides
    masked: bool = False  # whether any value is invalid, which looks grey and crossed out
    gold: bool = False  # whether the cells have a column ``gold``, see `gold_cells`
    canvas: bool = False
    note: str = ""  # of what was done to the weights
    log: bool = False  # whether colours follow the logarithm of a weight
    far: bool = False  # whether a value is above 1, more than rounding makes one

    @property
    def end(self) -> str:
        """Where the columns end, in px: squares, or less where the host has no room for them."""
        return WIDEST if self.panel else f"min(width, {WIDEST})"

    @property
    def across(self) -> str:
        """The width of a column, in px."""
        return f"({self.end} / length(keys))"


class Sizes(NamedTuple):
    """The words of a heatmap, and the px that follow from them."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    side: float  # the height of a row, and the width of a column where there is room
    query_room: int  # for the labels
    key_room: int
    flat: bool  # whether the keys' labels lie level
    room: float  # that the columns have in a chart of its own width

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
            "queries": self.queries, "keys": self.keys, "side": self.side, "height": self.height,
            "query_room": self.query_room, "key_room": self.key_room,
            "key_limit": each if self.flat else self.key_room,
            "key_angle": 0 if self.flat else 270,
            "query_step": step(len(self.queries), self.height, _LINE),
            "key_step": step(len(self.keys), min(self.room, self.widest), each),
        }  # fmt: skip


def map_plot(
    values: np.ndarray, labels: tuple[Sequence[object] | None, Sequence[object] | None],
    rooms: tuple[int | None, int | None], cell: float, plot: Plot,
) -> tuple[Plot, Sizes]:  # fmt: skip
    """What the layers of a heatmap of ``(heads, queries, keys)`` share: looks, labels and sizes.

    Args:
        labels, rooms: of queries and of keys; None for positions, and for the room they need.
        plot: what is wanted; what follows from values and labels is added to it.
    """
    heads, queries, keys = values.shape
    query_labels = labels_of(labels[0], queries, "query")
    key_labels = labels_of(labels[1], keys, "key")
    needed = label_width(key_labels, MOST_ROOM)
    flat = needed <= cell
    key_room = (_FLAT if flat else needed) if rooms[1] is None else rooms[1]
    left = label_width(query_labels, MOST_ROOM) if rooms[0] is None else rooms[0]
    sizes = Sizes(
        queries=tuple(query_labels), keys=tuple(key_labels),
        side=float(min(cell, TALLEST / queries if heads == 1 else _LARGEST / max(queries, keys))),
        query_room=left, key_room=key_room, flat=flat,
        room=plot.width - left if heads == 1 else np.inf,
    )  # fmt: skip
    made = plot._replace(
        small=sizes.side < SMALL, panel=None if heads == 1 else (sizes.widest, sizes.height),
        pieces=any(map(goes_on, (*query_labels, *key_labels))),
        masked=bool(np.isnan(values).any()), far=bool((values > FAR).any()),
    )  # fmt: skip
    return made, sizes


def cell_layers(
    plot: Plot, source: alt.Chart | None = None, more: Sequence[alt.Tooltip] = ()
) -> list[alt.Chart]:
    """Rectangles of the rows ``q``, ``k``, ``value``, and what the pointer frames.

    Args:
        source: makes these columns of its data; None where the data of the whole chart have them.
        more: lines of the tooltip.
    """
    pointed = hover("q", "k")
    base = (alt.Chart() if source is None else source).transform_calculate(
        **_SIDES, **WORDS, shown=shown_weight("datum.value"), said=_sentence(plot)
    )
    tooltip = [*pair_tooltip(), alt.Tooltip("shown:N", title=translated(plot.quantity)), *more]
    tooltip += [alt.Tooltip("gold:N", title=gettext("alignment"))] if plot.gold else []
    scale = scale_of(plot)
    legend = alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=120, gradientThickness=8,
        title=translated(plot.quantity), titleOrient="left", tickCount=2, format="~g",
    ) if plot.legend else None  # fmt: skip
    bare = _placed(base, plot)
    placed = bare.encode(tooltip=tooltip, description=alt.Description("said:N"))
    within = inset(0 if plot.small else GAP)
    framed = boxes(base.transform_filter(pointed), alt.X("left:Q"), alt.Y("top:Q")).mark_rect(
        filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False
    )
    layers = [
        placed.transform_filter("isValid(datum.value)")
        .mark_rect(**within)
        .encode(color=alt.Color("value:Q", scale=scale, legend=legend))
        .add_params(pointed)
        .properties(name="cells"),
        *(_words(base, plot) if plot.pieces else ()),
        *(_outlines(placed, plot.small) if plot.gold else ()),
        framed.transform_calculate(**_ROW),
        framed.transform_calculate(**_COLUMN),
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


def scale_of(plot: Plot) -> alt.Scale:
    """The colours of a plot's numbers, up to the parameter ``vmax``."""
    return theme.diverging(VMAX) if plot.signed else theme.sequential(VMAX, log=plot.log)


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
    sentence = gettext("query {query}, key {key}, {quantity} {weight}")
    if plot.gold:
        sentence = gettext("query {query}, key {key}, {quantity} {weight}, {gold}")
    return vega_text(
        sentence, query="datum.query", key="datum.key", weight="datum.shown", gold="datum.gold",
        quantity=quoted(translated(plot.quantity)),
    )  # fmt: skip


def picture_layers(source: alt.Chart, plot: Plot, gold: Data | None = None) -> list[alt.Chart]:
    """The one row of ``source`` as an image, with the outlines of a :func:`gold_table`."""
    # Nothing is seen of this one: it carries the axes, and the ramp that the host has chosen.
    unseen = (
        _placed(source.transform_calculate(**_ROW, **_COLUMN), plot)
        .mark_rect(fillOpacity=0)
        .encode(color=alt.Color("left:Q", scale=scale_of(plot), legend=None))
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
    said = alt.Tooltip("gold:N", title=gettext("alignment"))
    cells = alt.Chart(gold).transform_calculate(**_SIDES, **WORDS)
    placed = _placed(cells, plot).encode(tooltip=[*pair_tooltip(), said])
    return [picture, unseen, *_outlines(placed, plot.small)]


def _placed(chart: alt.Chart, plot: Plot) -> alt.Chart:
    columns = middles(
        "keys", "key_step", orient="top", room=alt.ExprRef("key_room"),
        labelLimit=alt.ExprRef("key_limit"), labelAngle=alt.ExprRef("key_angle"),
        # Vega-Lite knows how labels of a known angle are aligned.
        labelAlign=alt.ExprRef("key_angle ? 'left' : 'center'"),
    )  # fmt: skip
    room = alt.ExprRef("query_room")
    rows = middles("queries", "query_step", room=room, labelLimit=room)
    across = positions(alt.ExprRef("length(keys)"), alt.ExprRef(plot.end))
    down = positions(alt.ExprRef("length(queries)"), alt.ExprRef(HEIGHT))
    x = alt.X("left:Q", scale=across, axis=columns)
    return boxes(chart, x, alt.Y("top:Q", scale=down, axis=rows))


def _words(base: alt.Chart, plot: Plot) -> list[alt.Chart]:
    """Thin rules between words, and none between the pieces of a word."""
    look = {"stroke": alt.ExprRef(theme.INK), "strokeOpacity": 0.6, "aria": False}
    rules = []
    for name, labels, at, other, line in (
        ("words_down", "queries", "datum.q", "datum.k", {"bottom": "datum.q", **_ROW}),
        ("words_across", "keys", "datum.k", "datum.q", {"right": "datum.k", **_COLUMN}),
    ):
        label = f"{labels}[{at}]"
        goes_on = f"(length({label}) > 1 && substring({label}, 0, 1) == '{INSIDE}')"
        # At a word that is not the first, once for each row or column.
        begins = base.transform_filter(f"{at} > 0 && {other} == 0 && !{goes_on}")
        placed = _placed(begins.transform_calculate(**line), plot)
        rules.append(placed.mark_rule(**look).properties(name=name))
    return rules


# What gold says of a cell, as a tooltip says it, each in the visitor's language.
SURE, POSSIBLE = gettext_noop("gold"), gettext_noop("gold, possible")
OTHER = gettext_noop("not gold")
_DASH = [4, 4]  # px, of a link that is possible only
_EDGE = 1.5  # px, of the dark line under a gold one, both sides together

Cell = tuple[int, int]


def gold_cells(
    shape: tuple[int, int], sure: Iterable[Cell], possible: Iterable[Cell]
) -> np.ndarray:
    """What gold says of every cell; ValueError where a cell ``(query, key)`` is not there."""
    said = np.full(shape, gettext(OTHER), dtype=object)
    for cells, word in ((possible, POSSIBLE), (sure, SURE)):
        for query, key in cells:
            if not (0 <= query < shape[0] and 0 <= key < shape[1]):
                raise ValueError(
                    f"need outlined cells (query, key) of a map of {shape[0]} x {shape[1]}, "
                    f"got ({query}, {key})"
                )
            said[query, key] = gettext(word)
    return said


def gold_table(links: np.ndarray) -> pa.Table:
    """The cells that are linked: ``q``, ``k``, ``gold``, of what :func:`gold_cells` says."""
    query, key = np.nonzero(links != gettext(OTHER))
    return pa.table({"q": query, "k": key, "gold": pa.array(links[query, key], pa.string())})


def _outlines(cells: alt.Chart, small: bool) -> list[alt.Chart]:
    """Gold cells within their sides: a line with a dark edge, broken where it is possible only."""
    thick = 1 if small else 2
    sure, possible, other = (quoted(gettext(word)) for word in (SURE, POSSIBLE, OTHER))
    return [
        cells.transform_filter(f"datum.gold {which}")
        .mark_rect(
            filled=False, aria=False, stroke=stroke, strokeWidth=wide, strokeDash=dash,
            **inset(thick),
        )
        .properties(name=name)
        for name, which, stroke, wide, dash in (
            ("edges", f"!== {other}", theme.GOLD_EDGE, thick + _EDGE, alt.Undefined),
            ("gold", f"=== {sure}", theme.GOLD, thick, alt.Undefined),
            ("possible", f"=== {possible}", theme.GOLD, thick, _DASH),
        )
    ]  # fmt: skip
