"""The one table of pages, and the links between them.

Pages meet here alone: no page imports another. A page's module is imported when it is visited.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from urllib.parse import urlencode

import streamlit as st

from dashboard import metrics
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.ui import speaking


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One page.

    Args:
        name: its folder in ``dashboard/features``, whose ``page.py`` declares ``PAGE``.
        title, icon: in the menu; the icon is one of Material's.
        path: in the address.
        section: of the menu; a page of none stands in the menu itself.
        purpose: what it is for, in a few words.
    """

    name: str
    title: str
    icon: str
    path: str
    section: str
    purpose: str


_CURRENT = "current page"

# The first is where the bare address leads.
PAGES = (
    Entry(
        name="start", title="Start", icon="home", path="start",
        section="", purpose="one slider over three scorings, and where to go from there",
    ),
    Entry(
        name="regression", title="Kernel regression", icon="show_chart", path="regression",
        section="Compare", purpose="several scorings over the same points, each a curve over "
        "its weights",
    ),
    Entry(
        name="translation", title="Translation", icon="translate", path="translation",
        section="Compare", purpose="one sentence through several trained models, with every head",
    ),
    Entry(
        name="differences", title="Differences", icon="compare", path="differences",
        section="Compare", purpose="models that write the same translation, map against map",
    ),
    Entry(
        name="alignment", title="Alignment", icon="join_inner", path="alignment",
        section="Compare", purpose="alignment error rate of every head against gold alignments",
    ),
    Entry(
        name="race", title="Race", icon="flag", path="race",
        section="Compare", purpose="which scoring is better at what, by how much, and whether "
        "that is chance",
    ),
    Entry(
        name="training", title="Train", icon="model_training", path="train",
        section="Train", purpose="loss, speed and score while scorings learn",
    ),
    Entry(
        name="experiment", title="Experiment", icon="science", path="experiment",
        section="Train", purpose="several scorings with several seeds each, everything else alike",
    ),
    Entry(
        name="lessons", title="Lessons", icon="school", path="lessons",
        section="Understand", purpose="attention in ten short lessons that ask before they show",
    ),
    Entry(
        name="heads", title="Heads", icon="toggle_on", path="heads",
        section="Understand", purpose="where each head looks, and what the model says without it",
    ),
    Entry(
        name="anatomy", title="Anatomy", icon="biotech", path="anatomy",
        section="Understand", purpose="one attention step taken apart, number by number",
    ),
    Entry(
        name="positions", title="Positional encoding", icon="waves", path="positions",
        section="Understand", purpose="sines and cosines that tell positions apart",
    ),
    Entry(
        name="complexity", title="Complexity", icon="timer", path="complexity",
        section="Understand", purpose="what convolution, recurrence and self-attention cost",
    ),
    Entry(
        name="norms", title="Normalisation", icon="align_vertical_center", path="normalisation",
        section="Understand", purpose="layer norm beside batch norm",
    ),
    Entry(
        name="runs", title="Runs", icon="bookmark", path="runs",
        section="Kept", purpose="runs that were kept or imported",
    ),
    Entry(
        name="plugins", title="Plugins", icon="extension", path="plugins",
        section="Extend", purpose="what is installed, what failed and why",
    ),
    Entry(
        name="server", title="Server", icon="dns", path="server",
        section="Extend", purpose="who you are here; its work, limits and disk",
    ),
)  # fmt: skip


def menu() -> dict[str, list[st.Page]]:
    """The pages by section, as Streamlit's navigation takes them."""
    sections: dict[str, list[st.Page]] = {}
    for entry in PAGES:
        sections.setdefault(gettext(entry.section), []).append(_page(entry))
    return sections


def link_to(name: str, query: Mapping[str, str], label: str, icon: str = "") -> None:
    """Draw a link to another page.

    Args:
        name: the page's feature.
        query: parameters of the link, as the page's own link would have them.
        label: what the link says.
        icon: the name of a Material icon; by default the page's own.
    """
    entry = next(entry for entry in PAGES if entry.name == name)
    st.page_link(
        _page(entry),
        label=label,
        icon=f":material/{icon or entry.icon}:",
        query_params={**query, **speaking.in_link()},
    )


def checked(name: str, query: Mapping[str, str], catalogue: Catalogue) -> dict[str, str]:
    """A link's parameters as the page itself would write them, for :func:`link_to`.

    Args:
        name: the page's feature.
        query: what the link asks for.
        catalogue: what is installed.
    """
    link = _module(name).PAGE.link
    return link.format(link.parse(query, catalogue)[0], catalogue)


def import_first() -> None:
    """Import the first page before anybody visits it."""
    _module(PAGES[0].name)


def current() -> Entry:
    """The page that this session is shown."""
    name = st.session_state.get(_CURRENT, PAGES[0].name)
    return next(entry for entry in PAGES if entry.name == name)


def location(entry: Entry) -> str:
    """The page's address without the server's, such as ``/train``; ``/`` is the first page."""
    return "/" if entry is PAGES[0] else f"/{entry.path}"


def address(entry: Entry, query: Mapping[str, str]) -> str:
    """The page's address with parameters of its link, such as ``/train?show=…``."""
    return location(entry) + (f"?{urlencode(query)}" if query else "")


def _page(entry: Entry) -> st.Page:
    return st.Page(
        _opener(entry.name),
        title=gettext(entry.title),
        icon=f":material/{entry.icon}:",
        url_path=entry.path,
        default=entry is PAGES[0],
    )


def _opener(name: str) -> Callable[[], None]:
    def show() -> None:
        st.session_state[_CURRENT] = name
        began = time.monotonic()
        _module(name).PAGE.show()
        metrics.note(name, "drawn", time.monotonic() - began)

    return show


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"dashboard.features.{name}.page")
