"""A button that every page has: what the words of the field mean."""

from __future__ import annotations

import streamlit as st

from dashboard import navigation
from dashboard.language import gettext
from dashboard.ui.terms import TERMS

_HEIGHT = 380  # px, of the list
_LESSONS = "lessons"


def glossary_button() -> None:
    """A popover with all terms; its content is sent only while it is open."""
    opened = st.popover(
        gettext("Glossary"), icon=":material/menu_book:", type="tertiary", key="glossary",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        sought = st.text_input(
            gettext("Find a term"), key="glossary-sought", max_chars=40,
            placeholder=gettext("such as query"),
        )  # fmt: skip
        found = [term for term in TERMS if _has(term, _letters(sought.strip()))]
        with st.container(height=_HEIGHT, border=False):
            if found:
                st.markdown("\n\n".join(defined(term) for term in found))
            else:
                st.caption(gettext("No term has these letters. Try fewer of them."))
        navigation.link_to(
            _LESSONS, {}, gettext("Lessons explain most of them one after the other")
        )


def defined(term: str) -> str:
    """A term and its meaning, in Markdown; in another language with the English term."""
    called, meaning = gettext(term), gettext(TERMS[term])
    if called == term:
        return gettext("**{term}**: {meaning}", term=term, meaning=meaning)
    return gettext("**{term}** ({english}): {meaning}", term=called, english=term, meaning=meaning)


def _has(term: str, letters: str) -> bool:
    return letters in _letters(term) or letters in gettext(term)


def _letters(term: str) -> str:
    """In small letters and without hyphens, since a page says *held out* and *held-out*."""
    return term.lower().replace("-", " ")
