"""Looking for plugins again, and saying what that changed."""

from __future__ import annotations

import streamlit as st

from dashboard.records.catalogue import Catalogue
from dashboard.records.catalogue_diff import describe_changes
from dashboard.ui.owner import visitor
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_MOST_SAID = 3  # changes that pop up with their words; the others are counted
_BEFORE, _CHANGES = "catalogue before", "catalogue changes"


def reload() -> None:
    """Look for plugins again; once they are there, the page says what changed.

    Raises:
        NotAllowed: the visitor does not administer this server.
    """
    visitor().see_that_it_administers("Reloading plugins")
    before = workbench().catalogue()
    if isinstance(before, Catalogue):
        st.session_state[_BEFORE] = before
    workbench().reload()


def changes(catalogue: Catalogue, *, aloud: bool = True) -> tuple[str, ...]:
    """What the last reload of this session changed, until there is another catalogue.

    Args:
        aloud: whether the changes pop up when they are first known; not on a page that lists
            them.
    """
    before: Catalogue | None = st.session_state.pop(_BEFORE, None)
    if before is not None:
        sentences = tuple(describe_changes(before, catalogue))
        st.session_state[_CHANGES] = (catalogue, sentences)
        if aloud:
            _pop_up(sentences)
    known, sentences = st.session_state.get(_CHANGES, (None, ()))
    return sentences if known is catalogue else ()


def _pop_up(sentences: tuple[str, ...]) -> None:
    """One message for all changes, which goes away by itself."""
    words = [plain(sentence) for sentence in sentences[:_MOST_SAID]]
    if (more := len(sentences) - _MOST_SAID) > 0:
        words.append(f"and {more:,} more: see the page Plugins")
    if len(sentences) > 1:
        words.insert(0, f"**{len(sentences):,} changes**")
    st.toast("\n\n".join(words), icon=":material/extension:", duration="short")
