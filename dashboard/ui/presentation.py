"""Folds the controls of a page away, where a server only shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.language import gettext
from dashboard.ui import layout
from dashboard.ui.owner import visitor

_SHOW = "presentation-controls"
_HIDDEN = '<style>[class*="st-key-folded-"] { display: none; }</style>'


@contextmanager
def folded() -> Iterator[None]:
    """Hide the rows of controls that are drawn inside, until the reader asks for them.

    They are drawn all the same, since a page's view is what its widgets say. Nothing is hidden
    unless the setting ``classroom`` is on, nor from an administrator. A page without such rows
    has no toggle.
    """
    if not visitor().presents:
        yield
        return
    place = st.container()
    if not st.session_state.get(_SHOW):
        place.html(_HIDDEN)
    with layout.folding() as rows:
        yield
    if rows:
        place.toggle(gettext("Show the controls"), key=_SHOW)
