"""Which head of one panel looks like which head of another: a table, and a way to show them."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from dashboard.charts import usual_map
from dashboard.features.differences.pair import Pair
from dashboard.features.differences.sides import map_title
from dashboard.features.differences.view import Differences
from dashboard.language import gettext, gettext_noop
from dashboard.links.panels import with_map
from dashboard.records.result import Result
from dashboard.ui import shown
from dashboard.ui.session import Session

_HEADER, _ROW, _MOST_ROWS = 38, 35, 8  # px, px, and rows before the table scrolls
_WIDTH = 520  # px
_HOW = gettext_noop(
    "The match of a head is the head of the other panel whose weights correlate most with its own "
    "(Pearson's r over all cells of this sentence). One head may be the match of several. A head "
    "whose weights are all equal has none. Click a row to see its two heads in the panels."
)


class _Match(NamedTuple):
    """Two heads by their names; ``other`` and ``r`` are None where there is no match."""

    one: str
    other: str | None
    r: float | None


def head_matching(session: Session[Differences], pair: Pair, result: Result) -> None:
    """For each head of the one panel the most similar head of the other."""
    one, other = pair.one, pair.other
    if one.heads * other.heads < 2:
        r = result.facts["correlation"]
        if r is not None:
            number = f"{r:.2f}".replace("-", "−")
            shown.caption(
                gettext(
                    "Pearson correlation of the weights of the two maps: r = {number}",
                    number=number,
                )
            )
        return
    rows = [_Match(*row.values()) for row in result.tables["matches"].to_pylist()]
    shown.header(
        gettext(
            "Each head of panel {one}, and its match in panel {other}",
            one=one.letter, other=other.letter,
        )
    )  # fmt: skip
    shown.caption(gettext(_HOW))
    start = _start(pair, rows)
    st.button(
        gettext("Use matched heads"),
        icon=":material/join_inner:",
        key="differences-use-matched",
        disabled=start is None,
        help=_told(pair, start) if start else None,
        on_click=_use,
        args=(session, pair, start),
    )
    key = f"differences-match {one.key} {other.key}"

    def use_row() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen:
            _use(session, pair, rows[chosen[0]])

    shown.table(
        _table(pair, rows),
        hide_index=True,
        width=_WIDTH,
        height=_HEADER + _ROW * min(len(rows), _MOST_ROWS),
        column_config={"r": st.column_config.NumberColumn(format="%.3f")},
        on_select=use_row,
        selection_mode="single-row",
        key=key,
    )


def _told(pair: Pair, start: _Match) -> str:
    return gettext(
        "Panel {one} shows {head}, panel {other} its match.",
        one=pair.one.letter, head=map_title(pair.one.frames, start.one), other=pair.other.letter,
    )  # fmt: skip


def _start(pair: Pair, rows: list[_Match]) -> _Match | None:
    """The selected head and its match; the two heads that are most alike where it has none."""
    matched = {row.one: row for row in rows if row.other is not None}
    best = max(matched.values(), key=lambda row: row.r or 0.0, default=None)
    return matched.get(pair.one.selected, best)


def _table(pair: Pair, rows: list[_Match]) -> pd.DataFrame:
    one, other = pair.one, pair.other
    none = gettext("none")
    return pd.DataFrame(
        {
            gettext("panel {letter}", letter=one.letter): [
                map_title(one.frames, row.one) for row in rows
            ],
            gettext("best match in panel {letter}", letter=other.letter): [
                none if row.other is None else map_title(other.frames, row.other) for row in rows
            ],
            "r": pd.Series([row.r for row in rows], dtype="float64"),
        }
    )


def _use(session: Session[Differences], pair: Pair, match: _Match | None) -> None:
    if match is None or match.other is None:
        return
    view = session.view
    for side, name in ((pair.one, match.one), (pair.other, match.other)):
        view = with_map(view, side.letter, "" if name == usual_map(side.frames) else name)
    session.change(view)
