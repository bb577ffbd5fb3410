"""The frame around the pages: the window's title and the way from one page to another."""

from __future__ import annotations

import streamlit as st

from dashboard.pages import regression, translation

TITLE = "Attention Workbench"


def main() -> None:
    """Draw the page that the address names."""
    st.set_page_config(
        page_title=TITLE, page_icon=":material/grid_on:", layout="wide",
        initial_sidebar_state="collapsed",
    )  # fmt: skip
    pages = [
        st.Page(
            regression.show,
            title="Kernel regression",
            icon=":material/show_chart:",
            url_path="regression",
            default=True,
        ),
        st.Page(
            translation.show,
            title="Translation",
            icon=":material/translate:",
            url_path="translation",
        ),
    ]
    st.navigation(pages, position="top").run()
