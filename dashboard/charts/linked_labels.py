"""What stands around the maps of :mod:`dashboard.charts.linked`: labels, titles, bars."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.linked_layers import Sizes, at, of, placed

BESIDE = 80  # px, right of a map, for bars
_BAR, _FROM_MAP = 40, 8  # px: of one bit, between map and bar
_SMALL = theme.FONT_SIZE - 1
_PANEL = f"{theme.PANEL_COLOURS!r}[datum.letter] || '{theme.QUIET}'"


def labels(tiles: int, sizes: Sizes) -> list[alt.Chart]:
    """The labels of rows and columns, the frame around the row, and where a label is hit."""
    rows = pd.DataFrame([{"tile": t, "q": q} for t in range(tiles) for q in range(sizes.queries)])
    columns = pd.DataFrame([{"tile": t, "k": k} for t in range(tiles) for k in range(sizes.keys)])
    look = {"fontSize": theme.FONT_SIZE, "fill": alt.ExprRef(theme.INK)}
    query = (
        placed(alt.Chart(rows), sizes)
        .mark_text(
            **look, align="right", baseline="middle", limit=sizes.query_room - 4,
            fontWeight=alt.ExprRef("datum.q == row ? 'bold' : 'normal'"),
        )
        .encode(
            **at("datum.left - 4", f"datum.top + (datum.q + 0.5) * {sizes.row:g}"),
            text=of(alt.TextValue, "queries[datum.q]"),
        )
        .properties(name="rows")
    )  # fmt: skip
    turned = {"align": "center"} if sizes.level else {"angle": 270, "align": "left"}
    key = (
        placed(alt.Chart(columns), sizes)
        .mark_text(
            **look, **turned, baseline="bottom" if sizes.level else "middle",
            limit=sizes.key_room + 10, aria=False,
        )
        .encode(
            **at("datum.left + (datum.k + 0.5) * datum.side", "datum.top - 4"),
            text=of(alt.TextValue, "keys[datum.k]"),
        )
    )  # fmt: skip
    frame = (
        placed(alt.Chart(rows), sizes)
        .transform_filter("datum.q == row")
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .encode(
            **at(
                "datum.left",
                f"datum.top + datum.q * {sizes.row:g}",
                f"datum.left + datum.side * {sizes.keys}",
                f"datum.top + (datum.q + 1) * {sizes.row:g}",
            )
        )
        .properties(name="frames")
    )
    # Words are hard to hit: what the pointer finds is the place around each. Without a tooltip
    # Vega-Lite would let it through.
    handle = (
        placed(alt.Chart(rows), sizes)
        .transform_calculate(query="queries[datum.q]")
        .mark_rect(fill="white", fillOpacity=0, aria=False)
        .encode(
            **at(
                f"datum.left - {sizes.query_room}",
                f"datum.top + datum.q * {sizes.row:g}",
                "datum.left",
                f"datum.top + (datum.q + 1) * {sizes.row:g}",
            ),
            tooltip=alt.Tooltip("query:N"),
        )
        .properties(name="handles")
    )
    return [query, key, frame, handle]


def bars(rows: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """A bar from 0 to 1 and its number beside each row of a difference: ``tile, q, bar``."""
    base = placed(alt.Chart(rows), sizes).transform_calculate(
        from_=f"datum.left + datum.side * {sizes.keys} + {_FROM_MAP}",
        middle=f"datum.top + (datum.q + 0.5) * {sizes.row:g}",
        word="queries[datum.q]",
    )
    half = min(sizes.row * 0.3, 7)

    def rect(right: str) -> dict[str, object]:
        return at("datum.from_", f"datum.middle - {half:g}", right, f"datum.middle + {half:g}")

    told = [alt.Tooltip("word:N", title="query"), alt.Tooltip("bar:Q", title="bits", format=".3f")]
    track = base.mark_rect(fill=theme.QUIET, fillOpacity=0.15, aria=False).encode(
        **rect(f"datum.from_ + {_BAR}"), tooltip=told
    )
    bar = base.mark_rect(fill=theme.QUIET).encode(
        **rect(f"datum.from_ + datum.bar * {_BAR}"), tooltip=told
    )
    look = {"fontSize": _SMALL, "fill": alt.ExprRef(theme.INK), "aria": False}
    number = base.mark_text(**look, align="left", baseline="middle").encode(
        **at(f"datum.from_ + {_BAR + 4}", "datum.middle"),
        text=of(alt.TextValue, "format(datum.bar, '.2f')"),
    )
    head = (
        base.transform_filter("datum.q == 0")
        .mark_text(**look, align="left", baseline="bottom")
        .encode(**at("datum.from_", "datum.top - 4"), text=alt.TextValue("JS, 0–1 bit"))
    )
    named = [track.properties(name="tracks"), bar.properties(name="bars")]
    return [*named, number, head] if sizes.row >= _SMALL else [*named, head]


def titles(names: pd.DataFrame, sizes: Sizes) -> list[alt.Chart]:
    """Over every map its ``letter``, ``title`` and ``subtitle``."""
    base = placed(alt.Chart(names.assign(tile=range(len(names)))), sizes)
    base = base.transform_calculate(start=f"datum.left - {sizes.query_room}")
    ink = alt.ExprRef(theme.INK)
    whole = alt.ExprRef("tile - 6")

    def text(field: str, below: float, **look: object) -> alt.Chart:
        return base.mark_text(align="left", baseline="top", limit=whole, **look).encode(
            **at("datum.start", f"datum.top - {sizes.top - below:g}"), text=f"{field}:N"
        )

    wide = "length(datum.letter) * 5 + 9"
    title = base.mark_text(
        align="left", baseline="top", limit=alt.ExprRef(f"tile - 6 - {wide}"), fontSize=13,
        fontWeight=600, fill=ink,
    ).encode(
        **at(f"datum.start + {wide}", f"datum.top - {sizes.top:g}"), text="title:N"
    )  # fmt: skip
    return [
        text("letter", 0, fontSize=13, fontWeight=700, fill=alt.ExprRef(_PANEL)),
        title,
        text("subtitle", 18, fontSize=theme.FONT_SIZE, fill=theme.QUIET),
    ]
