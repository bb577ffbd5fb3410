"""The layers of the linked chart: marks whose places are expressions.

Data name a map by its number ``tile`` and a cell by ``q`` and ``k``, and say what its marks need
of the map; labels are looked up in lists that are parameters of the chart. The parameters
``across`` (maps in a row), ``tile`` (the width of one), ``pitch`` (from one to the next) and
``row`` follow from the view's width and from the pointer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from dashboard.charts import theme
from dashboard.charts.cells import shown_weight
from dashboard.charts.image import at
from dashboard.charts.labels import vega_text
from dashboard.charts.template import Data
from dashboard.language import gettext

BESIDE = 80  # px, right of a map, for bars
_BAR, _FROM_MAP = 40, 8  # px: of one bit, between map and bar
_SMALL = theme.FONT_SIZE
_PANEL = f"{theme.PANEL_COLOURS!r}[datum.letter] || '{theme.QUIET}'"


def _text(base: alt.Chart, x: str, y: str, text: str, **mark: Any) -> alt.Chart:
    """A text, which is an expression, in ink."""
    style = {"fontSize": theme.FONT_SIZE, "fill": alt.ExprRef(theme.INK), **mark}
    return at(base, x, y).mark_text(**style).encode(text=alt.TextValue(alt.ExprRef(text)))


def labels(rows: Data, columns: Data, sizes: "Sizes") -> list[alt.Chart]:
    """The labels of rows and columns, the frame around the row, and where a label is hit."""
    placed_rows, placed_columns = placed(alt.Chart(rows), sizes), placed(alt.Chart(columns), sizes)
    top = f"datum.top + datum.q * {sizes.row:g}"
    bottom = f"datum.top + (datum.q + 1) * {sizes.row:g}"
    query = _text(
        placed_rows, "datum.left - 4", f"datum.top + (datum.q + 0.5) * {sizes.row:g}",
        "queries[datum.q]", align="right", baseline="middle", limit=sizes.query_room - 4,
        fontWeight=alt.ExprRef("datum.q == row ? 'bold' : 'normal'"),
    ).properties(name="rows")  # fmt: skip
    key = _text(
        placed_columns, "datum.left + (datum.k + 0.5) * datum.side", "datum.top - 4",
        "keys[datum.k]", align="center" if sizes.level else "left",
        baseline="bottom" if sizes.level else "middle",
        angle=alt.Undefined if sizes.level else 270, limit=sizes.key_room + 10, aria=False,
    )  # fmt: skip
    right = f"datum.left + datum.side * {sizes.keys}"
    frame = (
        at(placed_rows.transform_filter("datum.q == row"), "datum.left", top, right, bottom)
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .properties(name="frames")
    )
    # Words are hard to hit: what the pointer finds is the place around each. Without a tooltip
    # Vega-Lite would let it through.
    handle = (
        at(placed_rows, f"datum.left - {sizes.query_room}", top, "datum.left", bottom)
        .transform_calculate(query="queries[datum.q]")
        .mark_rect(fill="white", fillOpacity=0, aria=False)
        .encode(tooltip=alt.Tooltip("query:N", title=gettext("query")))
        .properties(name="handles")
    )
    return [query, key, frame, handle]


def bars(rows: Data, sizes: "Sizes") -> list[alt.Chart]:
    """A bar from 0 to 1 and its number beside each row of a difference: ``tile, q, bar``."""
    base = placed(alt.Chart(rows), sizes).transform_calculate(
        from_=f"datum.left + datum.side * {sizes.keys} + {_FROM_MAP}",
        middle=f"datum.top + (datum.q + 0.5) * {sizes.row:g}", word="queries[datum.q]",
    )  # fmt: skip
    half = min(sizes.row * 0.3, 7)
    tooltip = [
        alt.Tooltip("word:N", title=gettext("query")),
        alt.Tooltip("bar:Q", title=gettext("bits"), format=".3f"),
    ]
    track, bar = (
        at(base, "datum.from_", f"datum.middle - {half:g}", end, f"datum.middle + {half:g}")
        .mark_rect(fill=theme.QUIET, **style)
        .encode(tooltip=tooltip)
        .properties(name=name)
        for name, end, style in (
            ("tracks", f"datum.from_ + {_BAR}", {"fillOpacity": 0.15, "aria": False}),
            ("bars", f"datum.from_ + datum.bar * {_BAR}", {}),
        )
    )
    number = _text(
        base, f"datum.from_ + {_BAR + 4}", "datum.middle", "format(datum.bar, '.2f')",
        fontSize=_SMALL, aria=False, align="left", baseline="middle",
    )  # fmt: skip
    head = (
        at(base.transform_filter("datum.q == 0"), "datum.from_", "datum.top - 4")
        .mark_text(
            fontSize=_SMALL, fill=alt.ExprRef(theme.INK), aria=False, align="left",
            baseline="bottom",
        )
        .encode(text=alt.TextValue(gettext("JS, 0–1 bit")))
    )  # fmt: skip
    return [track, bar, number, head] if sizes.row >= _SMALL else [track, bar, head]


def titles(names: Data, sizes: "Sizes") -> list[alt.Chart]:
    """Over every map its ``letter``, ``title`` and ``subtitle``."""
    base = placed(alt.Chart(names), sizes)
    base = base.transform_calculate(start=f"datum.left - {sizes.query_room}")
    wide, whole = "(length(datum.letter) * 8 + 5)", "tile - 6"
    bold, semibold = {"fontSize": 13, "fontWeight": 700}, {"fontSize": 13, "fontWeight": 600}
    quiet = {"fontSize": theme.FONT_SIZE, "fill": theme.QUIET}
    return [
        at(base, left, f"datum.top - {above:g}")
        .mark_text(align="left", baseline="top", limit=alt.ExprRef(limit), **style)
        .encode(text=f"{name}:N")
        for name, left, above, limit, style in (
            ("letter", "datum.start", sizes.top, whole, {**bold, "fill": alt.ExprRef(_PANEL)}),
            ("title", f"datum.start + {wide}", sizes.top, f"{whole} - {wide}",
             {**semibold, "fill": alt.ExprRef(theme.INK)}),
            ("subtitle", "datum.start", sizes.top - 18, whole, quiet),
        )
    ]  # fmt: skip


_TITLE, _NOTE, _BELOW = 40, 28, 30  # px: over a map, between it and its words, under them
_WORD, _LINE = 20, 24  # px: a word's height, a line's
_POINTED = ("cells", "handles", "bars", "tracks")  # where the pointer chooses a row

_SCALED = "(datum.signed ? scale('fill', datum.value) : scale('color', datum.value))"
_FILL = alt.FillValue(alt.ExprRef(f"isValid(datum.value) ? {_SCALED} : '{theme.QUIET}'"))
_OPACITY = alt.FillOpacityValue(alt.ExprRef(f"isValid(datum.value) ? 1 : {theme.MASKED_OPACITY}"))
_ON_WORD = (
    f"!isValid(datum.value) ? '{theme.QUIET}' : luminance({_SCALED}) > 0.3 ? "
    f"'{theme.TEXT['light']}' : '{theme.BACKGROUND['light']}'"
)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What all maps share: counts, and lengths in px; ``lines`` of words lie under each."""

    queries: int
    keys: int
    cell: float
    row: float
    query_room: int
    key_room: int
    level: bool
    lines: int

    @property
    def top(self) -> float:
        """Of the cells."""
        return _TITLE + self.key_room

    @property
    def bottom(self) -> float:
        """Of the cells."""
        return self.top + self.queries * self.row

    @property
    def pitch(self) -> float:
        """From one map to that below it."""
        return self.bottom + _NOTE + self.lines * _LINE + _BELOW


def ramps(signed: bool, below: bool) -> list[alt.Chart]:
    """Layers that are not seen: the scales that expressions read, and their legends.

    ``signed``: of differences, or ``below``, of weights below 0.
    """
    # Two columns: of one column Vega-Lite would draw one legend for both.
    zeros = alt.sequence(0, 1, as_="weight")
    point = alt.Chart(zeros).transform_calculate(difference="datum.weight")
    point = point.mark_point(opacity=0, aria=False)
    weight = _legend(gettext("attention weight"), [0, 0.5, 1.0])
    found = [point.encode(alt.Color("weight:Q", scale=theme.sequential(1.0), legend=weight))]
    if signed or below:
        said = gettext("attention weight") if below else gettext("difference")
        legend = _legend(said, [-1, 0, 1])
        scale = theme.diverging(1)
        found.append(point.encode(alt.Fill("difference:Q", scale=scale, legend=legend)))
    return found


def maps(cells: Data, sizes: Sizes, *, masked: bool) -> list[alt.Chart]:
    """The cells of all maps; they tell their weight, and choose their row."""
    pointed = alt.selection_point(
        name="pointed", fields=["q"], clear=False, toggle=False, empty=False,
        on=", ".join(f"@{name}_marks:pointerover" for name in _POINTED),
    )  # fmt: skip
    base = placed(alt.Chart(cells), sizes).transform_calculate(
        near="datum.left + datum.k * datum.side", query="queries[datum.q]", key="keys[datum.k]",
        map="datum.letter", shown=shown_weight("datum.value"),
        said=vega_text(
            gettext("{map}, query {query}, key {key}, {shown}"),
            **{name: f"datum.{name}" for name in ("map", "query", "key", "shown")},
        ),
    )  # fmt: skip
    boxes = at(
        base, "datum.near + 0.5", f"datum.top + datum.q * {sizes.row:g} + 0.5",
        "datum.near + datum.side - 0.5", f"datum.top + (datum.q + 1) * {sizes.row:g} - 0.5",
    )  # fmt: skip
    drawn = boxes.mark_rect().encode(
        fill=_FILL, fillOpacity=_OPACITY,
        tooltip=[
            alt.Tooltip("map:N", title=gettext("panel")),
            alt.Tooltip("query:N", title=gettext("query")),
            alt.Tooltip("key:N", title=gettext("key")),
            alt.Tooltip("shown:N", title=gettext("value")),
        ],
        description=alt.Description("said:N"),
    )  # fmt: skip
    found = [drawn.add_params(pointed).properties(name="cells")]
    if masked:
        crossed = boxes.transform_filter("!isValid(datum.value)").mark_rule(
            stroke=theme.QUIET, strokeWidth=1, strokeOpacity=0.6, aria=False
        )
        found.append(crossed.properties(name="crossed"))
    return found


def words(cells: Data, sizes: Sizes) -> list[alt.Chart]:
    """Under every map the keys as words, shaded by the row, and the row's note over them."""
    base = placed(alt.Chart(cells).transform_filter("datum.q == row"), sizes)
    base = base.transform_calculate(
        start=f"datum.left - {sizes.query_room}", from_="datum.start + datum.word_left",
        over=f"datum.top + {sizes.bottom - sizes.top + _NOTE:g} + datum.word_line * {_LINE}",
        word="keys[datum.k]", shown=shown_weight("datum.value"),
    )  # fmt: skip
    back = (
        at(base, "datum.from_", "datum.over", "datum.from_ + datum.word_width",
           f"datum.over + {_WORD}")
        .mark_rect(cornerRadius=3)
        .encode(
            fill=_FILL, fillOpacity=_OPACITY,
            tooltip=[
                alt.Tooltip("word:N", title=gettext("word")),
                alt.Tooltip("shown:N", title=gettext("value")),
            ],
        )
        .properties(name="sentence")
    )  # fmt: skip
    text = (
        at(base, "datum.from_ + datum.word_width / 2", f"datum.over + {_WORD / 2:g}")
        .mark_text(
            align="center", baseline="middle", fontSize=theme.FONT_SIZE, aria=False,
            fill=alt.ExprRef(_ON_WORD), limit=alt.ExprRef("datum.word_width - 4"),
        )
        .encode(text="word:N")
    )  # fmt: skip
    note = _text(
        base.transform_filter("datum.k == 0"), "datum.start", "datum.over - 6",
        "'“' + queries[row] + '”' + (datum.note ? ' · ' + datum.note : '')",
        align="left", baseline="bottom", aria=False, limit=alt.ExprRef("tile"),
    )  # fmt: skip
    return [note, back, text]


def _legend(title: str, values: Sequence[float]) -> alt.Legend:
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=110, gradientThickness=8,
        padding=4, title=title, values=list(values), format="~g", offset=0,
    )  # fmt: skip


def placed(chart: alt.Chart, sizes: Sizes) -> alt.Chart:
    """With the place of the cells of each row's map: ``left``, ``top``, and a cell's ``side``."""
    return chart.transform_calculate(
        left=f"(datum.tile % across) * pitch + {sizes.query_room}",
        top=f"floor(datum.tile / across) * {sizes.pitch:g} + {sizes.top:g}",
        side=f"min({sizes.cell}, (tile - {sizes.query_room} - datum.beside) / {sizes.keys})",
    )
