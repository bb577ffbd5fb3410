"""What stands around the maps of the linked chart: labels, titles, bars."""

from __future__ import annotations

import altair as alt

from dashboard.charts import theme
from dashboard.charts.image import at
from dashboard.charts.template import Data
from dashboard.features.differences.chart_linked_layers import Sizes, placed
from dashboard.language import gettext

BESIDE = 80  # px, right of a map, for bars
_BAR, _FROM_MAP = 40, 8  # px: of one bit, between map and bar
_SMALL = theme.FONT_SIZE - 1
_PANEL = f"{theme.PANEL_COLOURS!r}[datum.letter] || '{theme.QUIET}'"


def labels(rows: Data, columns: Data, sizes: Sizes) -> list[alt.Chart]:
    """The labels of rows and columns, the frame around the row, and where a label is hit."""
    ink = alt.ExprRef(theme.INK)
    placed_rows = placed(alt.Chart(rows), sizes)
    top = f"datum.top + datum.q * {sizes.row:g}"
    bottom = f"datum.top + (datum.q + 1) * {sizes.row:g}"
    query = (
        at(placed_rows, "datum.left - 4", f"datum.top + (datum.q + 0.5) * {sizes.row:g}")
        .mark_text(
            fontSize=theme.FONT_SIZE, fill=ink, align="right", baseline="middle",
            limit=sizes.query_room - 4,
            fontWeight=alt.ExprRef("datum.q == row ? 'bold' : 'normal'"),
        )
        .encode(text=alt.TextValue(alt.ExprRef("queries[datum.q]")))
        .properties(name="rows")
    )  # fmt: skip
    key = (
        at(
            placed(alt.Chart(columns), sizes),
            "datum.left + (datum.k + 0.5) * datum.side",
            "datum.top - 4",
        )
        .mark_text(
            fontSize=theme.FONT_SIZE, fill=ink, align="center" if sizes.level else "left",
            baseline="bottom" if sizes.level else "middle",
            angle=alt.Undefined if sizes.level else 270, limit=sizes.key_room + 10, aria=False,
        )
        .encode(text=alt.TextValue(alt.ExprRef("keys[datum.k]")))
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


def bars(rows: Data, sizes: Sizes) -> list[alt.Chart]:
    """A bar from 0 to 1 and its number beside each row of a difference: ``tile, q, bar``."""
    base = placed(alt.Chart(rows), sizes).transform_calculate(
        from_=f"datum.left + datum.side * {sizes.keys} + {_FROM_MAP}",
        middle=f"datum.top + (datum.q + 0.5) * {sizes.row:g}",
        word="queries[datum.q]",
    )
    half = min(sizes.row * 0.3, 7)
    top, bottom = f"datum.middle - {half:g}", f"datum.middle + {half:g}"
    tooltip = [
        alt.Tooltip("word:N", title=gettext("query")),
        alt.Tooltip("bar:Q", title=gettext("bits"), format=".3f"),
    ]
    track = (
        at(base, "datum.from_", top, f"datum.from_ + {_BAR}", bottom)
        .mark_rect(fill=theme.QUIET, fillOpacity=0.15, aria=False)
        .encode(tooltip=tooltip)
        .properties(name="tracks")
    )
    bar = (
        at(base, "datum.from_", top, f"datum.from_ + datum.bar * {_BAR}", bottom)
        .mark_rect(fill=theme.QUIET)
        .encode(tooltip=tooltip)
        .properties(name="bars")
    )
    ink = alt.ExprRef(theme.INK)
    number = (
        at(base, f"datum.from_ + {_BAR + 4}", "datum.middle")
        .mark_text(fontSize=_SMALL, fill=ink, aria=False, align="left", baseline="middle")
        .encode(text=alt.TextValue(alt.ExprRef("format(datum.bar, '.2f')")))
    )
    head = (
        at(base.transform_filter("datum.q == 0"), "datum.from_", "datum.top - 4")
        .mark_text(fontSize=_SMALL, fill=ink, aria=False, align="left", baseline="bottom")
        .encode(text=alt.TextValue(gettext("JS, 0–1 bit")))
    )
    return [track, bar, number, head] if sizes.row >= _SMALL else [track, bar, head]


def titles(names: Data, sizes: Sizes) -> list[alt.Chart]:
    """Over every map its ``letter``, ``title`` and ``subtitle``."""
    base = placed(alt.Chart(names), sizes)
    base = base.transform_calculate(start=f"datum.left - {sizes.query_room}")
    top, below = f"datum.top - {sizes.top:g}", f"datum.top - {sizes.top - 18:g}"
    wide = "(length(datum.letter) * 8 + 5)"
    letter = at(base, "datum.start", top).mark_text(
        align="left", baseline="top", limit=alt.ExprRef("tile - 6"), fontSize=13, fontWeight=700,
        fill=alt.ExprRef(_PANEL),
    )  # fmt: skip
    title = at(base, f"datum.start + {wide}", top).mark_text(
        align="left", baseline="top", limit=alt.ExprRef(f"tile - 6 - {wide}"), fontSize=13,
        fontWeight=600, fill=alt.ExprRef(theme.INK),
    )  # fmt: skip
    subtitle = at(base, "datum.start", below).mark_text(
        align="left", baseline="top", limit=alt.ExprRef("tile - 6"), fontSize=theme.FONT_SIZE,
        fill=theme.QUIET,
    )  # fmt: skip
    return [
        letter.encode(text="letter:N"),
        title.encode(text="title:N"),
        subtitle.encode(text="subtitle:N"),
    ]
