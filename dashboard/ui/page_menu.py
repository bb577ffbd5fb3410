"""The menu that keeps a page as it is seen, with all its panels: as a run, or as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard import navigation
from dashboard.charts import export as charts
from dashboard.charts.export import ExportError
from dashboard.records.text import lines, one_line
from dashboard.storage import bundle, page_run
from dashboard.storage.bundle import slug
from dashboard.storage.errors import BundleError, StorageError
from dashboard.storage.page_run import LONGEST_NAME, LONGEST_NOTE, MOST_PANELS, PageRun
from dashboard.ui import owner, shown
from dashboard.ui.run_store import run_store
from dashboard.ui.shown import Shown

_KEY, _NAME, _NOTE = "page-keep", "page-keep-name", "page-keep-note"
_ICON = ":material/bookmark_add:"
_HELP = "Keep this page as it is seen, or take it out as a file"


def menu(title: str, link: Mapping[str, str]) -> None:
    """A button that opens the menu; nothing on a page without panels that can be kept.

    Args:
        title: of the page.
        link: parameters of the link to the page.
    """
    panels = [panel for panel in shown.panels() if panel is not None]
    if len(panels) < len(shown.panels()):
        st.button("Keep", icon=_ICON, type="tertiary", disabled=True, key=f"{_KEY}-waiting")
    elif panels:
        _menu(title, navigation.address(navigation.current(), link), panels[:MOST_PANELS])


@st.fragment
def _menu(title: str, link: str, panels: Sequence[Shown]) -> None:
    opened = st.popover(
        "Keep", icon=_ICON, type="tertiary", help=_HELP, key=_KEY, on_change="rerun"
    )
    if not opened.open:
        return
    state = _state(link, panels)
    kept, problem = st.session_state.get(state, ("", ""))
    usual = _usual_name(title, panels)
    with opened:
        st.text_input("Name", placeholder=usual, max_chars=LONGEST_NAME, key=_NAME)
        st.text_area("Note", max_chars=LONGEST_NOTE, key=_NOTE)
        with st.container(horizontal=True, gap="xsmall", key=f"{_KEY}-buttons"):
            if kept:
                st.link_button("Kept: open it", f"runs?id={kept}", icon=":material/bookmark:")
            else:
                st.button(
                    "Keep this page", icon=_ICON, key=f"{_KEY}-now", on_click=_keep,
                    args=(panels, link, usual, state),
                )  # fmt: skip
            texts = _texts(usual)
            st.download_button(
                "Page", data=lambda: packed(_page(panels, link, *texts)), key=f"{_KEY}-file",
                file_name=f"{slug(usual)}.zip", mime="application/zip", on_click="ignore",
            )  # fmt: skip
        if problem:
            st.text(problem)


def packed(page: PageRun) -> bytes:
    """The file of a page, with pictures of its charts, of those of a usual size.

    Raises:
        BundleError, ExportError: what is wrong, in one sentence.
    """
    painted = (bundle.fitting(charts.pictures(one.charts)) for one in page.panels)
    pairs = zip(page.panels, painted, strict=True)
    panels = tuple(replace(panel, pictures=found) for panel, found in pairs)
    return page_run.write(replace(page, panels=panels))


def _page(panels: Sequence[Shown], link: str, name: str, note: str) -> PageRun:
    held = tuple(panel.bundle(panel.request) for panel in panels if panel.request)
    return PageRun(panels=held, name=name, note=note, link=link)


def _texts(usual: str) -> tuple[str, str]:
    """The name and the note that were written, as a run may have them."""
    name, note = (str(st.session_state.get(key) or "") for key in (_NAME, _NOTE))
    return one_line(name) or usual, lines(note)


def _keep(panels: Sequence[Shown], link: str, usual: str, state: str) -> None:
    try:
        page = _page(panels, link, *_texts(usual))
        visitor = owner.visitor()
        visitor.see_that_it_makes("Keeping")
        kept = run_store().keep(
            replace(page, picture=_picture(page)),
            source=navigation.current().path,
            owner=visitor.owner,
        )
        st.session_state[state] = (kept.id, "")
    except (BundleError, StorageError, ValueError) as error:
        st.session_state[state] = ("", f"Not kept: {error}")


def _picture(page: PageRun) -> bytes:
    """The first chart of every panel; empty where there is none, or it cannot be painted."""
    first = [next(iter(panel.charts.values())) for panel in page.panels if panel.charts]
    try:
        return charts.thumbnail(first) if first else b""
    except ExportError:
        return b""


def _usual_name(title: str, panels: Sequence[Shown]) -> str:
    """The page's title with what tells its panels apart."""
    names = [panel.title.removeprefix(f"{title}, ") for panel in panels]
    return one_line(f"{title}: {', '.join(names)}"[:LONGEST_NAME])


def _state(link: str, panels: Sequence[Shown]) -> str:
    """What this page as it is seen is known by; an edited plugin gives another result."""
    held = [link, *(f"{panel.request} {panel.result.digest}" for panel in panels)]
    return f"kept {hashlib.sha256(repr(held).encode()).hexdigest()}"
