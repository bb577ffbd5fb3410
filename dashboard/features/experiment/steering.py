"""What starts, resumes and cancels the trainings of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st

from dashboard.features.experiment.cells import AT_WORK, MISSING, Cell
from dashboard.features.experiment.view import Place
from dashboard.language import gettext, gettext_noop, ngettext, translated
from dashboard.records.request import Request
from dashboard.ui import owner
from dashboard.ui.widgets import plain

_REFUSED = "experiment refused"
_One = TypeVar("_One")


def buttons(asked: Mapping[Place, Request], cells: Sequence[Cell]) -> None:
    """The buttons that start, go on and stop; opening a link does none of it.

    Args:
        asked: the requests of all runs.
        cells: how each of them stands.
    """
    service, refused = owner.trainings(), owner.refusal("Training")
    state = {(cell.scoring, cell.seed): cell for cell in cells}
    # In the order of the requests: the first seed of every scoring first.
    absent = [request for place, request in asked.items() if state[place].state == MISSING]
    count = len(absent)
    words = gettext("Nothing is missing")
    if count:
        words = ngettext(
            "Train the {count} that is missing", "Train the {count} that are missing", count
        )
    st.button(
        words, icon=":material/play_arrow:", type="primary" if count else "secondary",
        key="experiment-train",
        disabled=bool(refused) or not count, help=plain(translated(refused)) or None,
        on_click=_each, args=(service.start, absent),
    )  # fmt: skip

    def button(label: str, icon: str, states: Sequence[str], action: Callable[[str], object]):
        own = [one.training for one in cells if one.training and one.state in states]
        ids = [training.id for training in own if service.owns(training)]
        if ids:
            st.button(
                gettext(label, count=len(ids)), icon=f":material/{icon}:", type="tertiary",
                key=f"experiment-{icon}", on_click=_each, args=(action, ids),
            )  # fmt: skip

    button(gettext_noop("Go on with {count} paused"), "resume", ("paused",), service.resume)
    button(gettext_noop("Try {count} failed again"), "refresh", ("failed",), service.resume)
    button(gettext_noop("Cancel all {count}"), "stop", (*AT_WORK, "paused"), service.cancel)


def refusal() -> None:
    """Why the last press of a button did not do all that it should."""
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="experiment-refused", gap="xsmall"):
            words = gettext("Not everything was started")
            st.markdown(f":material/error: **{words}**")
            st.text(translated(refused))


def _each(action: Callable[[_One], object], ones: Sequence[_One]) -> None:
    """Do it with each; the first that is refused says why, and the rest are left."""
    st.session_state[_REFUSED] = ""
    for one in ones:
        try:
            action(one)
        except KeyError:  # removed in another tab meanwhile
            continue
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
            return
