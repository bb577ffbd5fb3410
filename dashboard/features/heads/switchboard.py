"""The switchboard of the page *Heads*: a row per head with its figures, and a switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.template import chart_of
from dashboard.features.heads.chart_heads import draw_heads, prepare_heads
from dashboard.features.heads.health import SHORT
from dashboard.features.heads.listing import FIGURE_TITLES, listed
from dashboard.features.heads.view import EVERY_KIND, Heads
from dashboard.language import gettext, gettext_noop
from dashboard.language.joining import together
from dashboard.records.interventions import (
    ACTIONS,
    ON,
    Change,
    Place,
    State,
    in_order,
    of_states,
    state_of,
)
from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.session import Session
from dashboard.ui.translations import without

_STATE, _EDITOR = "heads-board-state", "heads-editor"
_OFF, _UNIFORM = "Off", "Uniform"  # columns of switches
_ROW, _TALLEST = 33, 640  # px; 16 heads are seen at once
_NARROW, _WIDE = 108, 142  # px of a column, so that its unit is read
_TITLES = {
    "Head": gettext_noop("Head"), _OFF: gettext_noop("Off"), _UNIFORM: gettext_noop("Uniform"),
    "Finding": gettext_noop("Finding"), **{title: title for title in FIGURE_TITLES.values()},
}  # fmt: skip
_HELP = {
    "leave_one_out": gettext_noop(
        "How much more likely the translation becomes when this head alone is off, in nats: the "
        "change of its log-probability. Below 0 the translation becomes less likely, so the "
        "model needs the head."
    ),
    "entropy": gettext_noop(
        "How evenly a row spreads its weight: its entropy divided by the largest possible one, so "
        "it has no unit. At 0 all weight is on one word, at 1 every word has the same weight."
    ),
    "eos": gettext_noop(
        "Mean weight on <eos>, the token that ends the sentence: from 0, none, to 1, all of it."
    ),
    "concentration": gettext_noop(
        "How much weight goes to the same word in all rows: the mean weight on the word that gets "
        "the most. At 1 all rows look at that word alone."
    ),
    "diagonality": gettext_noop(
        "Whether later rows look at later words: the correlation of the positions of query and "
        "key under the weights. 1 is the diagonal, 0 no order, −1 the reverse order."
    ),
    "distance": gettext_noop(
        "How far the rows are from those of the same model before training: mean Jensen–Shannon "
        "divergence in bits. 0 means equal, 1 without overlap."
    ),
    "padding": gettext_noop(
        "Largest weight of a row on padding, measured in a batch with a longer sentence. It must "
        "be nearly 0."
    ),
    "row_error": gettext_noop("Largest distance of a row's sum from 1. It must be nearly 0."),
}
_SHARES = ("entropy", "eos", "concentration", "distance")  # between 0 and 1, drawn as bars
_SMALL = ("padding", "row_error")
_LONG = ("leave_one_out", "concentration", "distance", "padding")  # titles


@dataclass(frozen=True)
class _Board:
    """What the editor was given under its present key; it keeps its edits against this."""

    version: int
    signature: str
    places: tuple[Place, ...]  # its rows
    base: tuple[State, ...]  # their switches
    every: tuple[Place, ...]  # all heads of the model

    @property
    def key(self) -> str:
        return f"{_EDITOR}-{self.version}"

    def now(self) -> dict[Place, State]:
        """The switches as the reader sees them."""
        edits = st.session_state.get(self.key, {}).get("edited_rows", {})
        return {
            place: _state(_switches(state) | edits.get(row, {}))
            for row, (place, state) in enumerate(zip(self.places, self.base, strict=True))
        }


def _switches(state: str) -> dict[str, bool]:
    return {_OFF: state == "off", _UNIFORM: state == "uniform"}


def _state(switches: Mapping[str, Any]) -> State:
    if switches[_OFF]:
        return "off"
    return "uniform" if switches[_UNIFORM] else ON


def take_edits(session: Session[Heads]) -> None:
    """Put what was switched in the table into the view, before anything is asked for."""
    board: _Board | None = st.session_state.get(_STATE)
    if board is None or session.fresh or board.key not in st.session_state:
        return
    states = _states(session, board.every)
    switched = states | board.now()
    if switched != states:
        session.update(changes=_with_pins(session, switched))


def switchboard(session: Session[Heads], result: Result) -> None:
    """The table and what switches many heads at once."""
    every = _places(result.tables["heads"].to_pandas())
    heads = listed(session.view, result)
    places = _places(heads)
    with shown.container(
        horizontal=True, gap="small", key="heads-buttons", vertical_alignment="center"
    ):
        shown.caption(
            gettext("{count} of {all} heads are listed.", count=len(places), all=len(every)),
            width="content",
        )  # fmt: skip
        st.button(
            gettext("Switch all listed heads off"), icon=":material/toggle_off:",
            on_click=_switch_off, args=(session, every, places), disabled=not places,
        )  # fmt: skip
        st.button(
            gettext("Undo all changes"), icon=":material/undo:", on_click=_reset,
            args=(session,), disabled=not session.view.changes,
        )  # fmt: skip
    if heads.empty:
        known = {EVERY_KIND, *result.tables["heads"]["kind"].to_pylist()}
        kind = session.view.kind
        shown.caption(
            gettext("No head matches; choose another filter above.")
            if kind in known
            else together([without(kind), gettext("Choose another kind of attention above.")])
        )
        return
    board = _board(session, result, places, every)
    table = _table(heads, board.base)
    st.data_editor(
        table,
        key=board.key,
        hide_index=True,
        num_rows="fixed",
        height=min((len(table) + 1) * _ROW + 3, _TALLEST),
        disabled=[name for name in table.columns if name not in (_OFF, _UNIFORM)],
        column_config=_columns(),
    )
    titles = {name: gettext(title) for name, title in _TITLES.items()}
    shown.note_table(
        table.rename(columns=titles), alt=gettext("Heads"),
        column_config={titles[name]: config for name, config in _columns().items()},
    )  # fmt: skip


def chart(session: Session[Heads], result: Result) -> None:
    """The ablation effect of each listed head, as bars."""
    heads = listed(session.view, result)
    if heads.empty:
        return
    shown.markdown(gettext("**Leave one out**: what the translation loses without each head"))
    names = " ".join(heads["name"])
    charts.show_filled(
        f"heads {result.digest} {names}", draw_heads, lambda: prepare_heads(heads),
        gettext("Change of log-probability without each head"),
    )  # fmt: skip


def export_menu(
    session: Session[Heads], request: Request, result: Result, link: Mapping[str, str]
) -> None:
    """The figures of all heads as files."""
    view = replace(session.view, only=None, kind="all")
    charts = {
        gettext("leave one out"): lambda: chart_of(draw_heads, prepare_heads(listed(view, result)))
    }
    title = gettext(
        "Heads, {model} with {scoring}",
        model=result.facts["model"], scoring=result.facts["scoring"],
    )  # fmt: skip
    export.menu(request, result, charts, "heads", title=title, link=link)


def _board(
    session: Session[Heads], result: Result, places: tuple[Place, ...], every: tuple[Place, ...]
) -> _Board:
    """The editor as it is, or a new one where it no longer shows what the view says."""
    states = _states(session, places)
    signature = f"{result.digest} {places}"
    board: _Board | None = st.session_state.get(_STATE)
    if board is None or board.signature != signature or board.now() != states:
        version = board.version + 1 if board else 0
        board = _Board(version, signature, places, tuple(states.values()), every)
        st.session_state[_STATE] = board
    return board


def _places(heads: pd.DataFrame) -> tuple[Place, ...]:
    rows = zip(heads["kind"], heads["layer"], heads["head"], strict=True)
    return tuple((kind, int(layer) + 1, int(head) + 1) for kind, layer, head in rows)


def _states(session: Session[Heads], places: Sequence[Place]) -> dict[Place, State]:
    return {place: state_of(session.view.changes, place) for place in places}


def _with_pins(session: Session[Heads], states: Mapping[Place, State]) -> tuple[Change, ...]:
    pins = [change for change in session.view.changes if change.action == ACTIONS[-1]]
    return in_order((*of_states(states), *pins))


def _switch_off(session: Session[Heads], every: Sequence[Place], places: Sequence[Place]) -> None:
    off: dict[Place, State] = dict.fromkeys(places, "off")
    states = _states(session, every) | off
    session.change(replace(session.view, changes=_with_pins(session, states)))


def _reset(session: Session[Heads]) -> None:
    session.change(replace(session.view, changes=()))


def _table(heads: pd.DataFrame, switches: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(map(_switches, switches))
    table.insert(0, "Head", heads["name"].to_list())
    for figure, title in FIGURE_TITLES.items():
        table[title] = heads[figure].to_numpy()
    said = [", ".join(gettext(SHORT[name]) for name in text.split()) for text in heads["verdicts"]]
    if any(said):
        table.insert(3, "Finding", said)
    return table


def _columns() -> dict[str, Any]:
    kinds, said = st.column_config, {name: gettext(title) for name, title in _TITLES.items()}
    columns: dict[str, Any] = {
        "Head": kinds.TextColumn(said["Head"], pinned=True, width=92),
        _OFF: kinds.CheckboxColumn(
            said[_OFF], pinned=True, width=52,
            help=gettext("Tick to switch the head off: it then adds nothing to the model."),
        ),
        _UNIFORM: kinds.CheckboxColumn(
            said[_UNIFORM], pinned=True, width=76,
            help=gettext("Tick to give all words the same weight."),
        ),
        "Finding": kinds.TextColumn(
            said["Finding"], width=104, help=gettext("Bugs and findings, see map health.")
        ),
    }  # fmt: skip
    for figure, title in FIGURE_TITLES.items():
        help, width = gettext(_HELP[figure]), _WIDE if figure in _LONG else _NARROW
        if figure in _SHARES:
            columns[title] = kinds.ProgressColumn(
                said[title], help=help, format="%.2f", min_value=0.0, max_value=1.0, width=width
            )
        else:
            form = "%.1e" if figure in _SMALL else "%+.3f"
            columns[title] = kinds.NumberColumn(said[title], help=help, format=form, width=width)
    return columns
