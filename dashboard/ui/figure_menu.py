"""The menu that makes a figure for a paper of what a page shows.

As with all exports nothing is drawn before it is asked for: the menu when it is opened, a file
when it is clicked, by the painter, on a thread that no session waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from dashboard import navigation
from dashboard.charts import figures
from dashboard.charts.figure_style import LARGEST, NARROWEST, SMALLEST, WIDEST, WIDTHS, FigureStyle
from dashboard.charts.figures import Figure, Panel
from dashboard.language import gettext, gettext_noop
from dashboard.storage.bundle import slug
from dashboard.storage.seen import Group
from dashboard.ui import charts
from dashboard.ui.figure_facts import Made, bibtex, caption
from dashboard.ui.figure_parts import FigurePart, figure_parts
from dashboard.ui.noting import Spec
from dashboard.ui.speaking import spoken_now

_KEY = "page-figure"
_ICON = ":material/picture_as_pdf:"
_HELP = gettext_noop(
    "A figure for a paper: PDF, SVG or PNG, with colour scale, caption and BibTeX"
)
_OTHER = "other"
_WIDTHS = {
    "single": gettext_noop("One column, 8.5 cm"), "double": gettext_noop("Two columns, 17.5 cm"),
    _OTHER: gettext_noop("Another"),
}  # fmt: skip
_LABELS = {"pdf": "PDF", "svg": "SVG", "png": "PNG"}
Charts = Mapping[str, Spec | Callable[[], Spec]]


def waiting() -> None:
    """The same button while results are on their way, so that nothing moves when they come."""
    st.button(gettext("Figure"), icon=_ICON, type="tertiary", disabled=True, key=f"{_KEY}-waiting")


@st.fragment
def menu(seen: Callable[[], Group], held: Charts, made: Callable[[], Made]) -> None:
    """A button that opens the menu; both functions are called when it is open.

    Args:
        seen: gives what stood on the page.
        held: its charts by name.
        made: gives what it was computed from.
    """
    opened = st.popover(
        gettext("Figure"), icon=_ICON, type="tertiary", help=gettext(_HELP), key=_KEY,
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        known = made()
        parts = figure_parts(seen())
        number = st.selectbox(
            gettext("Charts"), range(len(parts)), format_func=lambda one: parts[one].title,
            key=f"{_KEY}-part",
        )  # fmt: skip
        part = parts[number]
        style = _style(several=len(part.panels) > 1)
        words = caption(known, part)
        with_caption = st.checkbox(gettext("With the caption"), value=True, key=f"{_KEY}-caption")
        _downloads(known, part, style, held, words if with_caption else "")
        st.caption(gettext("Caption, to be copied"))
        st.code(words, language=None, wrap_lines=True, height=110)


def _style(*, several: bool) -> FigureStyle:
    with st.container(horizontal=True, gap="small", key=f"{_KEY}-style"):
        named = st.selectbox(
            gettext("Width"), list(_WIDTHS), format_func=lambda one: gettext(_WIDTHS[one]),
            key=f"{_KEY}-width",
        )  # fmt: skip
        width: float | str = named
        if named == _OTHER:
            width = st.number_input(
                gettext("Width, cm"), NARROWEST, WIDEST, WIDTHS["single"], step=0.5,
                format="%.1f", key=f"{_KEY}-cm",
            )  # fmt: skip
        size = st.number_input(
            gettext("Font size, pt"), SMALLEST, LARGEST, FigureStyle().font_size, step=0.5,
            format="%.1f", key=f"{_KEY}-size", help=gettext("Of the smallest text in the figure."),
        )  # fmt: skip
        columns = 0
        if several:
            columns = st.selectbox(
                gettext("Panels in a row"), range(5), key=f"{_KEY}-columns",
                format_func=lambda one: str(one) if one else gettext("What fits"),
            )  # fmt: skip
    return FigureStyle(width=width, font_size=size, columns=columns)


def _downloads(
    known: Made, part: FigurePart, style: FigureStyle, held: Charts, words: str
) -> None:
    name = slug(f"{known.title} {part.title}", navigation.current().path)
    with st.container(horizontal=True, gap="xsmall", key=f"{_KEY}-files"):
        for kind, label in _LABELS.items():
            st.download_button(
                label, data=spoken_now(partial(_drawn, part, style, held, words, kind)),
                file_name=f"{name}-{style.centimetres:g}cm.{kind}", mime=figures.KINDS[kind],
                key=f"{_KEY}-{kind}", on_click="ignore",
            )  # fmt: skip
        st.download_button(
            "BibTeX", data=lambda: bibtex(known, part).encode(), file_name=f"{name}.bib",
            mime="application/x-bibtex", key=f"{_KEY}-bib", on_click="ignore",
        )  # fmt: skip


def _drawn(part: FigurePart, style: FigureStyle, held: Charts, words: str, kind: str) -> bytes:
    def spec(name: str) -> Spec:
        made = held[name]
        return charts.unpacked(made() if callable(made) else made)

    panels = [Panel(charts=[spec(name) for name in panel.charts], title=panel.title)
              for panel in part.panels]  # fmt: skip
    return figures.drawn(Figure(panels=panels, caption=words), style, kind)
