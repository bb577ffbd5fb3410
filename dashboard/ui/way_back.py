"""The way back to a lesson, on the pages that it led to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import streamlit as st

from dashboard import navigation
from dashboard.language import gettext

_LEFT = "lesson left"


class _Lesson(NamedTuple):
    number: int
    query: Mapping[str, str]
    pages: frozenset[str]


def leave(number: int, query: Mapping[str, str], pages: Collection[str]) -> None:
    """Remember the lesson that is open.

    Args:
        number: the lesson's, counted from 1.
        query: the parameters of its link, as far as the visitor has come.
        pages: the features that it leads to, on which :func:`draw` leads back.
    """
    st.session_state[_LEFT] = _Lesson(number, dict(query), frozenset(pages))


def draw() -> None:
    """A link back to the lesson that this session had open, on a page that it led to."""
    left: _Lesson | None = st.session_state.get(_LEFT)
    if left is None or navigation.current().name not in left.pages:
        return
    label = gettext("Back to lesson {number}", number=left.number)
    navigation.link_to("lessons", left.query, label, "arrow_back")
