"""The frame around the pages: the window's title and the way from one page to another."""

from __future__ import annotations

from typing import Any

import streamlit as st
from PIL import Image

from dashboard.pages import (
    alignment,
    anatomy,
    complexity,
    differences,
    experiment,
    heads,
    norms,
    plugins,
    positions,
    regression,
    runs,
    train,
    translation,
)

TITLE = "Attention Workbench"

# Streamlit leaves room for a menu twice as high as ours.
_STYLE = "<style>.stMainBlockContainer { padding-top: 4.75rem; }</style>"
_ICON_CELLS = (230, 90, 40, 90, 230, 90, 40, 90, 230)
# Read on light and on dark alike; an image cannot know which theme a page has.
_LOGO_BLUE = "#4a86c5"


def main() -> None:
    """Draw the page that the address names."""
    st.set_page_config(
        page_title=TITLE, page_icon=_icon(), layout="wide",
        initial_sidebar_state="collapsed",
    )  # fmt: skip
    st.html(_STYLE)
    st.logo(_logo(), size="large")
    st.navigation(_sections(), position="top").run()


def _sections() -> dict[str, list[Any]]:
    """The pages by what one does on them; the first is where the bare address leads."""
    return {
        "Compare": [
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
            st.Page(
                differences.show,
                title="Differences",
                icon=":material/compare:",
                url_path="differences",
            ),
            st.Page(
                alignment.show,
                title="Alignment",
                icon=":material/join_inner:",
                url_path="alignment",
            ),
        ],
        "Train": [
            st.Page(
                train.show,
                title="Train",
                icon=":material/model_training:",
                url_path="train",
            ),
            st.Page(
                experiment.show,
                title="Experiment",
                icon=":material/science:",
                url_path="experiment",
            ),
        ],
        "Understand": [
            st.Page(
                heads.show,
                title="Heads",
                icon=":material/toggle_on:",
                url_path="heads",
            ),
            st.Page(
                anatomy.show,
                title="Anatomy",
                icon=":material/biotech:",
                url_path="anatomy",
            ),
            st.Page(
                positions.show,
                title="Positional encoding",
                icon=":material/waves:",
                url_path="positions",
            ),
            st.Page(
                complexity.show,
                title="Complexity",
                icon=":material/timer:",
                url_path="complexity",
            ),
            st.Page(
                norms.show,
                title="Normalisation",
                icon=":material/align_vertical_center:",
                url_path="normalisation",
            ),
        ],
        "Kept": [
            st.Page(
                runs.show,
                title="Runs",
                icon=":material/bookmark:",
                url_path="runs",
            ),
        ],
        "Extend": [
            st.Page(
                plugins.show,
                title="Plugins",
                icon=":material/extension:",
                url_path="plugins",
            ),
        ],
    }


def _icon() -> Image.Image:
    """A small attention map; made here, since an icon by name is fetched from the internet."""
    cells = Image.new("P", (3, 3))
    cells.putdata(_ICON_CELLS)
    blues = ((240 - 3 * v // 4, 245 - v // 2, 250 - v // 6) for v in range(256))
    cells.putpalette([channel for blue in blues for channel in blue])
    return cells.convert("RGB").resize((48, 48), Image.Resampling.NEAREST)


def _logo() -> str:
    cells = "".join(
        f'<rect x="{8 * (i % 3)}" y="{4 + 8 * (i // 3)}" width="7" height="7" rx="1" '
        f'opacity="{0.15 + shade / 270:.2f}"/>'
        for i, shade in enumerate(_ICON_CELLS)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="196" height="32" viewBox="0 0 196 32" '
        f'fill="{_LOGO_BLUE}">{cells}<text x="33" y="21" font-size="16" font-weight="600" '
        f'font-family="Source Sans, Helvetica, Arial, sans-serif">{TITLE}</text></svg>'
    )
