"""Which head of one panel looks like which head of another: a table, and a way to show them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import usual_spot
from dashboard.charts.divergence import match_heads
from dashboard.pages.differences_maps import Pair, Side, spot_name
from dashboard.pages.translation_panel import with_spot
from dashboard.state import Visit

_HEADER, _ROW, _MOST_ROWS = 38, 35, 8  # px, px, and rows before the table scrolls
_WIDTH = 520  # px
_HOW = (
    "For each head the one with the highest Pearson correlation r of their weights, over all "
    "cells of this sentence; one head may be the match of several, and one whose weights are all "
    "the same has none. A row that is clicked puts its two heads into the panels."
)


def head_matching(here: Visit, pair: Pair) -> None:
    """For each head of the one panel the most similar head of the other."""
    if len(pair.one.heads) * len(pair.other.heads) < 2:
        r = pair.correlation
        if np.isfinite(r):
            st.caption(f"Pearson correlation of the weights of the two maps: r = {_number(r)}")
        return
    table, matches = _table(pair)
    one, other = pair.one, pair.other
    st.markdown(f"##### Each head of panel {one.letter}, and its match in panel {other.letter}")
    st.caption(_HOW)
    start = one.spot if one.spot in matches else _best(table)
    st.button(
        "Use matched heads",
        icon=":material/join_inner:",
        key="differences-use-matched",
        disabled=start not in matches,
        help=f"Panel {one.letter} shows {spot_name(one.frames, start)}, panel {other.letter} its "
        "match." if start in matches else None,
        on_click=_use,
        args=(here, one, other, start, matches),
    )  # fmt: skip
    key = f"differences-match {one.key} {other.key}"
    st.dataframe(
        table.drop(columns="spot"),
        hide_index=True,
        width=_WIDTH,
        height=_HEADER + _ROW * min(len(table), _MOST_ROWS),
        column_config={"r": st.column_config.NumberColumn(format="%.3f")},
        on_select=lambda: _use_row(here, pair, key),
        selection_mode="single-row",
        key=key,
    )


def _table(pair: Pair) -> tuple[pd.DataFrame, dict[str, str]]:
    """What is shown, with the spot of each row; and the match of each spot that has one."""
    one, other = pair.one, pair.other
    spots = list(other.heads)
    found = match_heads(np.stack([*one.heads.values()]), np.stack([*other.heads.values()]))
    rows, matches = [], {}
    for spot, match in zip(one.heads, found, strict=True):
        name = "none"
        if match.head is not None:
            matches[spot] = spots[match.head]
            name = spot_name(other.frames, matches[spot])
        rows.append((spot, spot_name(one.frames, spot), name, match.r))
    columns = ["spot", f"panel {one.letter}", f"best match in panel {other.letter}", "r"]
    return pd.DataFrame(rows, columns=columns), matches


def _best(table: pd.DataFrame) -> str:
    """The spot of the head with the highest correlation of all; empty where none has one."""
    return "" if table["r"].isna().all() else str(table.loc[table["r"].idxmax(), "spot"])


def _use(here: Visit, one: Side, other: Side, spot: str, matches: Mapping[str, str]) -> None:
    view = here.view
    for side, wanted in ((one, spot), (other, matches[spot])):
        view = with_spot(view, side.letter, "" if wanted == usual_spot(side.frames) else wanted)
    here.change(view)


def _use_row(here: Visit, pair: Pair, key: str) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    table, matches = _table(pair)
    if rows and (spot := str(table["spot"].iloc[rows[0]])) in matches:
        _use(here, pair.one, pair.other, spot, matches)


def _number(r: float) -> str:
    return f"{r:.2f}".replace("-", "−")
