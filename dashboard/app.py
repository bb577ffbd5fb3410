"""The frame around the pages: the window's title and the way from one page to another."""

from __future__ import annotations

import streamlit as st
from PIL import Image

from dashboard.pages import regression, translation

TITLE = "Attention Workbench"

# Streamlit leaves room for a menu twice as high as ours.
_STYLE = "<style>.stMainBlockContainer { padding-top: 4.75rem; }</style>"
_ICON_CELLS = (230, 90, 40, 90, 230, 90, 40, 90, 230)


def main() -> None:
    """Draw the page that the address names."""
    st.set_page_config(
        page_title=TITLE, page_icon=_icon(), layout="wide",
        initial_sidebar_state="collapsed",
    )  # fmt: skip
    st.html(_STYLE)
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


def _icon() -> Image.Image:
    """A small attention map; made here, since an icon by name is fetched from the internet."""
    cells = Image.new("P", (3, 3))
    cells.putdata(_ICON_CELLS)
    blues = ((240 - 3 * v // 4, 245 - v // 2, 250 - v // 6) for v in range(256))
    cells.putpalette([channel for blue in blues for channel in blue])
    return cells.convert("RGB").resize((48, 48), Image.Resampling.NEAREST)
