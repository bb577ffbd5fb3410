"""One panel of the page *Differences*: what its model makes of the target, which map it shows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from dashboard.charts import map_names, usual_map
from dashboard.features.differences.pair import Asked, Compared, Pair, Side, map_title
from dashboard.features.differences.view import Differences
from dashboard.language import gettext, gettext_noop
from dashboard.links.fits import resolve, untrained
from dashboard.links.panels import with_map
from dashboard.records.request import Result
from dashboard.ui import results, shown
from dashboard.ui.session import Session
from dashboard.ui.translations import unknown_words, without
from dashboard.ui.widgets import choose, plain

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
        help=_pair_help(pair, start) if start else None,
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


def _pair_help(pair: Pair, start: _Match) -> str:
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


_FACTS, _FAILED = 92, 170  # px: a panel's few words, its failure


def panel(
    session: Session[Differences], letter: str, name: str, what: Asked,
    seen: Compared,
) -> None:  # fmt: skip
    """A panel's few words, and its choice of a map.

    Args:
        name: what the panel calls its checkpoint.
    """
    view = session.view
    if resolve(session.catalogue, view.corpus, name) is None:
        sentence = untrained(session.catalogue, view.corpus, name)
        results.absent(sentence, _FAILED, f"panel-{letter}-result")
        return
    if letter not in what.forced:
        if not view.text:
            shown.caption(gettext("The sentence is empty: write one above."))
        return
    request = what.forced[letter]
    event = session.jobs.final(request)
    height = _FAILED if event and event.result is None else _FACTS
    results.results(session.jobs, request, _facts, height, f"panel-{letter}-result", grows=True)
    side = next((side for side in seen.sides if side.letter == letter), None)
    if side:
        _choose_map(session, side)
    elif letter in seen.misfits:
        shown.caption(f":material/grid_off: {seen.misfits[letter]}")
    elif event and event.result:
        shown.caption(without(view.kind))


def target_missing(session: Session[Differences], what: Asked) -> None:
    """Why there is no target, where the reader gave none and no panel has said one."""
    if not what.speaker:
        return
    request = what.words[-1]
    event = session.jobs.final(request)
    if event is None or event.result is None:
        results.results(session.jobs, request, lambda _: None, _FAILED, "differences-words")
        return
    if not what.target:
        shown.caption(
            gettext(
                "Panel {panel} gives no translation: write a common target above.",
                panel=what.speaker,
            )
        )


def target_said(session: Session[Differences], what: Asked) -> None:
    """The target, where a panel said it, and the way to keep it."""
    if not (what.speaker and what.target):
        return
    with shown.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = gettext(
            "Every panel is given the translation of panel {panel}: “{target}”",
            panel=what.speaker, target=plain(what.target),
        )  # fmt: skip
        shown.caption(words, width="content")
        st.button(
            gettext("Force these words"),
            type="tertiary",
            icon=":material/push_pin:",
            help=gettext("Writes them into the field, and so into the link."),
            on_click=_force,
            args=(session, what.target),
        )


def _force(session: Session[Differences], target: str) -> None:
    session.update(target=target)
    session.change(session.view)


def _facts(result: Result) -> None:
    value = f"{result.facts['log_probability']:.2f}".replace("-", "−")
    shown.caption(gettext("log-probability {value} of the target", value=value))
    unknown_words(result)


def _choose_map(session: Session[Differences], side: Side) -> None:
    """The choice among a panel's maps; the chart names the map of a panel that has only one."""
    offered = map_names(side.frames)
    if len(offered) < 2:
        return
    key = session.key(side.letter, "map")

    def select() -> None:
        chosen = st.session_state[key]
        name = "" if chosen == usual_map(side.frames) else chosen
        session.update(selected=with_map(session.view, side.letter, name).selected)

    choose(
        gettext("Map of panel {letter}", letter=side.letter),
        offered,
        side.selected,
        key,
        True,
        format_func=partial(map_title, side.frames),
        on_change=select,
        label_visibility="collapsed",
    )
