"""The frame around the pages, run for each visitor: the window's title, and the menu."""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.asked_uploads import uploaders
from dashboard.ui import navigation, speaking
from dashboard.ui.turns import TURNS

TITLE = "Attention Workbench"

_STYLE = Path(__file__).with_name("style.css")
_ICON_CELLS = (230, 90, 40, 90, 230, 90, 40, 90, 230)
# Read on light and on dark alike; an image cannot know which theme a page has.
_LOGO_BLUE = "#4a86c5"


def main() -> None:
    """Draw the page that the address names, in its session's turn."""
    context = get_script_run_ctx()
    session = context.session_id if context else ""
    if context:
        uploaders().redraw(session)
    with TURNS.drawing(session):
        _draw()


def _draw() -> None:
    speaking.begin()
    st.set_page_config(
        page_title=TITLE, page_icon=_icon(), layout="wide",
        initial_sidebar_state="collapsed",
    )  # fmt: skip
    st.html(_STYLE)
    st.logo(_logo(), size="large")
    st.navigation(navigation.menu(), position="top").run()


def _icon() -> str:
    """A small attention map as SVG, which stands in the page.

    An icon by name is fetched from the internet. One of pixels is a file of Streamlit's, which may
    be gone when the browser asks for it.
    """
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 4 24 24" '
        f'fill="{_LOGO_BLUE}">{_cells()}</svg>'
    )


def _cells() -> str:
    return "".join(
        f'<rect x="{8 * (i % 3)}" y="{4 + 8 * (i // 3)}" width="7" height="7" rx="1" '
        f'opacity="{0.15 + shade / 270:.2f}"/>'
        for i, shade in enumerate(_ICON_CELLS)
    )


def _logo() -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="196" height="32" viewBox="0 0 196 32" '
        f'fill="{_LOGO_BLUE}">{_cells()}<text x="33" y="21" font-size="16" font-weight="600" '
        f'font-family="Source Sans, Helvetica, Arial, sans-serif">{TITLE}</text></svg>'
    )


if __name__ == "__main__":
    main()
