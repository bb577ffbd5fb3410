"""The layers of :mod:`dashboard.charts.linked`: marks whose places are expressions.

Data name a map by its number ``tile`` and a cell by ``q`` and ``k``; labels, notes and the places
of words are looked up in lists that travel as parameters of the chart. The parameters ``across``
(maps in a row), ``tile`` (the width of one), ``pitch`` (from one to the next) and ``row`` follow
from the view's width and from the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from dashboard.charts import theme

BESIDE = 80  # px, right of a map, for bars
_TITLE, _NOTE, _BELOW = 40, 28, 30  # px: over a map, between it and its words, under them
_BAR, _FROM_MAP = 40, 8  # px: of one bit, between map and bar
_WORD, _LINE = 20, 24  # px: a word's height, a line's
_SMALL = theme.FONT_SIZE - 1
_POINTED = ("cells", "words_of_rows", "bars", "tracks")  # where the pointer chooses a row

_SCALED = "(signed[datum.tile] ? scale('fill', datum.value) : scale('color', datum.value))"
_FILL = f"isValid(datum.value) ? {_SCALED} : '{theme.QUIET}'"
_OPACITY = f"isValid(datum.value) ? 1 : {theme.MASKED_OPACITY}"
_ON_WORD = (
    f"!isValid(datum.value) ? '{theme.QUIET}' : luminance({_SCALED}) > 0.3 ? "
    f"'{theme.TEXT['light']}' : '{theme.BACKGROUND['light']}'"
)
_PANEL = f"{theme.PANEL_COLOURS!r}[datum.letter] || '{theme.QUIET}'"


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


def ramps(vmax: float, signed: bool) -> list[alt.Chart]:
    """Layers that are not seen: the scales that expressions read, and their legends."""
    point = alt.Chart(pd.DataFrame({"zero": [0]})).mark_point(opacity=0, aria=False)
    weight = _legend("attention weight", [0, vmax / 2, vmax])
    found = [point.encode(alt.Color("zero:Q", scale=theme.sequential(vmax), legend=weight))]
    if signed:
        difference = _legend("difference", [-1, 0, 1])
        found.append(point.encode(alt.Fill("zero:Q", scale=theme.diverging(1), legend=difference)))
    return found


def maps(cells: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """The cells of all maps; they tell their weight, and choose their row."""
    pointed = alt.selection_point(
        name="pointed", fields=["q"], clear=False, toggle=False, empty=False,
        on=", ".join(f"@{name}_marks:pointerover" for name in _POINTED),
    )  # fmt: skip
    base = _placed(alt.Chart(cells), sizes).transform_calculate(
        near="datum.left + datum.k * datum.side",
        query="queries[datum.q]",
        key="keys[datum.k]",
        map="letters[datum.tile]",
        shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'",
        said="datum.map + ', query ' + datum.query + ', key ' + datum.key + ', ' + datum.shown",
    )
    place = _at(
        "datum.near + 0.5",
        f"datum.top + datum.q * {sizes.row:g} + 0.5",
        "datum.near + datum.side - 0.5",
        f"datum.top + (datum.q + 1) * {sizes.row:g} - 0.5",
    )
    drawn = base.mark_rect().encode(
        **place,
        fill=_of(alt.FillValue, _FILL),
        fillOpacity=_of(alt.FillOpacityValue, _OPACITY),
        tooltip=[
            alt.Tooltip("map:N", title="panel"), alt.Tooltip("query:N"), alt.Tooltip("key:N"),
            alt.Tooltip("shown:N", title="value"),
        ],
        description=alt.Description("said:N"),
    )  # fmt: skip
    found = [drawn.add_params(pointed).properties(name="cells")]
    if cells["value"].isna().any():
        stroke = {"stroke": theme.QUIET, "strokeWidth": 1, "strokeOpacity": 0.6, "aria": False}
        unseen = base.transform_filter("!isValid(datum.value)").mark_rule(**stroke)
        found.append(unseen.encode(**place).properties(name="crossed"))
    return found


def labels(tiles: int, sizes: Sizes) -> list[alt.Chart]:
    """The labels of rows and columns, and the frame around the row."""
    rows = pd.DataFrame([{"tile": t, "q": q} for t in range(tiles) for q in range(sizes.queries)])
    columns = pd.DataFrame([{"tile": t, "k": k} for t in range(tiles) for k in range(sizes.keys)])
    look = {"fontSize": theme.FONT_SIZE, "fill": alt.ExprRef(theme.INK)}
    query = (
        _placed(alt.Chart(rows), sizes)
        .mark_text(
            **look, align="right", baseline="middle", limit=sizes.query_room - 4,
            fontWeight=alt.ExprRef("datum.q == row ? 'bold' : 'normal'"),
        )
        .encode(
            **_at("datum.left - 4", f"datum.top + (datum.q + 0.5) * {sizes.row:g}"),
            text=_of(alt.TextValue, "queries[datum.q]"),
        )
        .properties(name="words_of_rows")
    )  # fmt: skip
    turned = {"align": "center"} if sizes.level else {"angle": 270, "align": "left"}
    key = (
        _placed(alt.Chart(columns), sizes)
        .mark_text(
            **look, **turned, baseline="bottom" if sizes.level else "middle",
            limit=sizes.key_room + 10, aria=False,
        )
        .encode(
            **_at("datum.left + (datum.k + 0.5) * datum.side", "datum.top - 4"),
            text=_of(alt.TextValue, "keys[datum.k]"),
        )
    )  # fmt: skip
    frame = (
        _placed(alt.Chart(rows), sizes)
        .transform_filter("datum.q == row")
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .encode(
            **_at(
                "datum.left",
                f"datum.top + datum.q * {sizes.row:g}",
                f"datum.left + datum.side * {sizes.keys}",
                f"datum.top + (datum.q + 1) * {sizes.row:g}",
            )
        )
        .properties(name="frames")
    )
    return [query, key, frame]


def bars(rows: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """A bar from 0 to 1 and its number beside each row of a difference: ``tile, q, bar``."""
    base = _placed(alt.Chart(rows), sizes).transform_calculate(
        from_=f"datum.left + datum.side * {sizes.keys} + {_FROM_MAP}",
        middle=f"datum.top + (datum.q + 0.5) * {sizes.row:g}",
        word="queries[datum.q]",
    )
    half = min(sizes.row * 0.3, 7)

    def rect(right: str) -> dict[str, object]:
        return _at("datum.from_", f"datum.middle - {half:g}", right, f"datum.middle + {half:g}")

    told = [alt.Tooltip("word:N", title="query"), alt.Tooltip("bar:Q", title="bits", format=".3f")]
    track = base.mark_rect(fill=theme.QUIET, fillOpacity=0.15, aria=False).encode(
        **rect(f"datum.from_ + {_BAR}"), tooltip=told
    )
    bar = base.mark_rect(fill=theme.QUIET).encode(
        **rect(f"datum.from_ + datum.bar * {_BAR}"), tooltip=told
    )
    look = {"fontSize": _SMALL, "fill": alt.ExprRef(theme.INK), "aria": False}
    number = base.mark_text(**look, align="left", baseline="middle").encode(
        **_at(f"datum.from_ + {_BAR + 4}", "datum.middle"),
        text=_of(alt.TextValue, "format(datum.bar, '.2f')"),
    )
    head = (
        base.transform_filter("datum.q == 0")
        .mark_text(**look, align="left", baseline="bottom")
        .encode(**_at("datum.from_", "datum.top - 4"), text=alt.TextValue("JS, 0–1 bit"))
    )
    named = [track.properties(name="tracks"), bar.properties(name="bars")]
    return [*named, number, head] if sizes.row >= _SMALL else [*named, head]


def titles(names: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """Over every map its ``letter``, ``title`` and ``subtitle``."""
    base = _placed(alt.Chart(names.assign(tile=range(len(names)))), sizes)
    base = base.transform_calculate(start=f"datum.left - {sizes.query_room}")
    ink = alt.ExprRef(theme.INK)
    whole = alt.ExprRef("tile")

    def text(field: str, below: float, **look: object) -> alt.Chart:
        return base.mark_text(align="left", baseline="top", limit=whole, **look).encode(
            **_at("datum.start", f"datum.top - {sizes.top - below:g}"), text=f"{field}:N"
        )

    wide = "length(datum.letter) * 7 + 8"
    title = base.mark_text(
        align="left", baseline="top", limit=alt.ExprRef(f"tile - {wide}"), fontSize=13,
        fontWeight=600, fill=ink,
    ).encode(
        **_at(f"datum.start + {wide}", f"datum.top - {sizes.top:g}"), text="title:N"
    )  # fmt: skip
    return [
        text("letter", 0, fontSize=13, fontWeight=700, fill=alt.ExprRef(_PANEL)),
        title,
        text("subtitle", 18, fontSize=theme.FONT_SIZE, fill=theme.QUIET),
    ]


def words(cells: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """Under every map the keys as words, shaded by the row, and the row's note over them."""
    base = _placed(alt.Chart(cells).transform_filter("datum.q == row"), sizes)
    base = base.transform_calculate(
        start=f"datum.left - {sizes.query_room}",
        from_="datum.start + places[datum.k][0]",
        over=f"datum.top + {sizes.bottom - sizes.top + _NOTE:g} + places[datum.k][1] * {_LINE}",
        word="keys[datum.k]",
        shown="isValid(datum.value) ? format(datum.value, '.3f') : 'masked'",
    )
    told = [alt.Tooltip("word:N"), alt.Tooltip("shown:N", title="value")]
    back = (
        base.mark_rect(cornerRadius=3)
        .encode(
            **_at(
                "datum.from_",
                "datum.over",
                "datum.from_ + places[datum.k][2]",
                f"datum.over + {_WORD}",
            ),
            fill=_of(alt.FillValue, _FILL),
            fillOpacity=_of(alt.FillOpacityValue, _OPACITY),
            tooltip=told,
        )
        .properties(name="sentence")
    )
    text = base.mark_text(
        align="center", baseline="middle", fontSize=theme.FONT_SIZE, aria=False,
        fill=alt.ExprRef(_ON_WORD), limit=alt.ExprRef("places[datum.k][2] - 4"),
    ).encode(
        **_at("datum.from_ + places[datum.k][2] / 2", f"datum.over + {_WORD / 2:g}"),
        text="word:N",
    )  # fmt: skip
    note = (
        base.transform_filter("datum.k == 0")
        .mark_text(
            align="left", baseline="bottom", fontSize=theme.FONT_SIZE, aria=False,
            fill=alt.ExprRef(theme.INK), limit=alt.ExprRef("tile"),
        )
        .encode(
            **_at("datum.start", "datum.over - 6"),
            text=_of(
                alt.TextValue,
                "'“' + queries[row] + '”' + (length(notes[datum.tile]) ? ' · ' + "
                "notes[datum.tile][row] : '')",
            ),
        )
    )  # fmt: skip
    return [note, back, text]


def _legend(title: str, values: Sequence[float]) -> alt.Legend:
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=110, gradientThickness=8,
        title=title, values=list(values), format="~g", offset=0,
    )  # fmt: skip


def _placed(chart: alt.Chart, sizes: Sizes) -> alt.Chart:
    """With the place of the cells of each row's map: ``left``, ``top``, and a cell's ``side``."""
    return chart.transform_calculate(
        left=f"(datum.tile % across) * pitch + {sizes.query_room}",
        top=f"floor(datum.tile / across) * {sizes.pitch:g} + {sizes.top:g}",
        side=f"min({sizes.cell}, (tile - {sizes.query_room} - beside[datum.tile]) / {sizes.keys})",
    )


def _at(left: str, top: str, right: str = "", bottom: str = "") -> dict[str, object]:
    """The channels of a place, each an expression in px."""
    place = {"x": _of(alt.XValue, left), "y": _of(alt.YValue, top)}
    if right:
        place |= {"x2": _of(alt.X2Value, right), "y2": _of(alt.Y2Value, bottom)}
    return place


def _of(channel: type, expression: str) -> object:
    return channel(alt.ExprRef(expression))
