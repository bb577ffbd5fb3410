"""The frame around the pages, run for each visitor: the window's title, and the menu."""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.asked_uploads import uploaders
from dashboard.records.beside import read_beside
from dashboard.ui import navigation, speaking
from dashboard.ui.turns import TURNS

TITLE = "Attention Workbench"

_STYLE = Path(__file__).with_name("style.css")


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
    # A small attention map, which stands in the page: an icon by name is fetched from the
    # internet; one of pixels is a file of Streamlit's, gone perhaps when the browser asks for it.
    icon = read_beside(__file__, "icon.svg")
    st.set_page_config(
        page_title=TITLE, page_icon=icon, layout="wide", initial_sidebar_state="collapsed"
    )
    st.html(_STYLE)
    # Its blue reads on light and on dark alike; an image cannot know which theme a page has.
    st.logo(read_beside(__file__, "logo.svg"), size="large")
    st.navigation(navigation.menu(), position="top").run()


if __name__ == "__main__":
    main()
