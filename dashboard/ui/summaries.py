"""All charts of a page in words and as tables, for those who do not see them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.charts.summary import Summary
from dashboard.language import gettext, gettext_noop
from dashboard.ui.widgets import plain

_TITLE = gettext_noop("The charts of this page in words and numbers")


def section(found: Sequence[tuple[str, Summary]]) -> None:
    """A part of the page that opens by a click or a key; nothing is made before it does.

    Args:
        found: what each chart is called, and its summary.
    """
    if found:
        _section(found)


@st.fragment
def _section(found: Sequence[tuple[str, Summary]]) -> None:
    opened = st.expander(
        gettext(_TITLE), icon=":material/notes:", key="charts-in-words", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        for title, summary in found:
            st.header(plain(title), anchor=False)
            st.text(summary.words)
            st.dataframe(summary.table(), hide_index=True, alt=title)
