"""A button that every page has: what the words of the field mean."""

from __future__ import annotations

import streamlit as st

from dashboard import navigation
from dashboard.ui.terms import TERMS

_HEIGHT = 380  # px, of the list
_LESSONS = "lessons"


def glossary_button() -> None:
    """A popover with all terms; its content is sent only while it is open."""
    opened = st.popover(
        "Glossary", icon=":material/menu_book:", type="tertiary", key="glossary",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        sought = st.text_input(
            "Find a term", key="glossary-sought", placeholder="such as query", max_chars=40
        )
        found = [term for term in TERMS if sought.strip().lower() in term.lower()]
        with st.container(height=_HEIGHT, border=False):
            if found:
                st.markdown("\n\n".join(defined(term) for term in found))
            else:
                st.caption("No term has these letters. Try fewer of them.")
        navigation.link_to(_LESSONS, {}, "Lessons explain them one after the other")


def defined(term: str) -> str:
    """A term and its meaning, in Markdown."""
    return f"**{term}**: {TERMS[term]}"
