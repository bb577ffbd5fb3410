"""One panel of the page *Differences*: what its model makes of the target, which map it shows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.charts import map_names, usual_map
from dashboard.features.differences.asking import Asked, Compared
from dashboard.features.differences.sides import Side, map_title
from dashboard.features.differences.view import Differences
from dashboard.language import gettext
from dashboard.links.checkpoints import resolve, untrained
from dashboard.links.panels import with_map
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import results, shown
from dashboard.ui.session import Session
from dashboard.ui.translations import unknown_words, without
from dashboard.ui.widgets import choose, plain

_FACTS, _FAILED = 92, 170  # px: a panel's few words, its failure


def panel(
    session: Session[Differences], catalogue: Catalogue, letter: str, name: str, what: Asked,
    seen: Compared,
) -> None:  # fmt: skip
    """A panel's few words, and its choice of a map.

    Args:
        name: what the panel calls its checkpoint.
    """
    view = session.view
    if resolve(catalogue, view.corpus, name) is None:
        sentence = untrained(catalogue, view.corpus, name)
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
        title=partial(map_title, side.frames),
        on_change=select,
        label_visibility="collapsed",
    )
