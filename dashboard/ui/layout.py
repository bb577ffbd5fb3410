"""How a page is laid out: rows of controls, panels beside each other, and their letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.language import gettext
from dashboard.records.catalogue import Entry
from dashboard.ui import shown
from dashboard.ui.shown import Place
from dashboard.ui.widgets import formula

_FORMULA_HEIGHT = 64  # px, holds a fraction
FOLDED = "folded-"
_FOLDING: ContextVar[list[str] | None] = ContextVar("folding", default=None)
_NARROWEST = 230  # px of a panel, before panels wrap
_MOST_COLUMNS = 24  # that Streamlit takes
_BADGES: dict[str, Literal["blue", "orange", "green", "violet"]] = {
    "a": "blue",
    "b": "orange",
    "c": "green",
    "d": "violet",
}


def row(key: str) -> DeltaGenerator:
    """A row of controls that wraps where the window is narrow."""
    place = st if _FOLDING.get() is None else controls(key)
    return place.container(horizontal=True, vertical_alignment="bottom", gap="small", key=key)


def controls(key: str) -> DeltaGenerator:
    """A place for controls and nothing else, which :func:`folding` can hide."""
    places = _FOLDING.get()
    if places is None:
        return st.container()
    places.append(key)
    return st.container(key=f"{FOLDED}{key}")


@contextmanager
def folding() -> Iterator[list[str]]:
    """Have every place for controls that is made inside begin its key with :data:`FOLDED`.

    The keys of those places are in the list, as soon as they are made.
    """
    places: list[str] = []
    token = _FOLDING.set(places)
    try:
        yield places
    finally:
        _FOLDING.reset(token)


def grid(panels: int) -> Place:
    """Panels beside each other, as many as have room."""
    return shown.grid(min(panels, _MOST_COLUMNS), min_column_width=_NARROWEST, gap="medium")


def badge(letter: str) -> None:
    """A panel's letter in the colour that its curve has."""
    st.badge(letter, color=_BADGES[letter])
    shown.panel(letter)


def remove(letter: str, action: Callable[..., None], *arguments: Any) -> None:
    """The button that takes a panel away."""
    label = gettext("Remove panel {letter}", letter=letter)
    st.button(
        label,
        icon=":material/close:",
        type="tertiary",
        key=f"panel-{letter}-remove",
        help=label,
        on_click=action,
        args=arguments,
    )


def formula_of(letter: str, scoring: Entry) -> None:
    """A scoring's formula in a place of one height, so that the panels stay aligned."""
    with shown.container(
        height=_FORMULA_HEIGHT,
        border=False,
        vertical_alignment="center",
        key=f"panel-{letter}-formula",
    ):
        formula(scoring.formula, description=scoring.description)
