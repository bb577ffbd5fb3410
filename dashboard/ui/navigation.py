"""The menu of the pages, and the links between them.

Pages meet here alone: no page imports another. A page's module is imported when it is visited,
and that of a package only after a process of its own has tried it.
"""

import functools
import importlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from types import ModuleType
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import language
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.language import gettext, gettext_noop, translated
from dashboard.language.catalogues import catalogue
from dashboard.pages import Entry, error_line, found
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import FORMULA, Request, Result, is_upload
from dashboard.records.text import plain
from dashboard.settings import settings
from dashboard.ui import speaking
from dashboard.ui.jobs import note_wait
from dashboard.ui.turns import TURNS

_CURRENT = "current page"
_TRIAL = "dashboard.ui.page_trial"  # not imported here: it imports every part of a page
_KEPT = 500  # entries of the menu, in every language
_START = 180.0  # seconds in which a process may start on a busy machine


def installed() -> tuple[Entry, ...]:
    """Every page, as far as it was tried; a page that still is being tried has its bare name."""
    return tuple(
        trial.result() if (trial := _trial(entry)) and trial.done() else entry for entry in found()
    )


def opened(name: str) -> Entry:
    """The page of that name once it was tried, which may take until ``plugin_limit``."""
    entry = next(entry for entry in found() if entry.name == name)
    trial = _trial(entry)
    return trial.result() if trial else entry


def look_again() -> None:
    """Forget which pages there are, and how their trials ended."""
    for known in (found, _started, catalogue, _made):
        known.cache_clear()


_at_once = threading.BoundedSemaphore(2)


def _trial(entry: Entry) -> Future[Entry] | None:
    """How the page's trial ends, which begins now; None if it needs none."""
    return None if entry.built_in or entry.problem else _started(entry)


@functools.cache
def _started(entry: Entry) -> Future[Entry]:
    trial: Future[Entry] = Future()

    def run() -> None:
        try:
            with _at_once:
                trial.set_result(_tried(entry))
        except Exception as error:  # a machine that starts no process
            trial.set_result(replace(entry, problem=error_line(error)))

    threading.Thread(target=run, name=f"page {entry.name}", daemon=True).start()
    return trial


def _tried(entry: Entry) -> Entry:
    """The page as it declares itself, or why it is refused, by a process of its own."""
    limit = settings().plugin_limit
    pool = LocalPool(
        PoolOptions(workers=1, tasks=_TRIAL, time_limit=limit, silence=2 * limit, warm=False)
    )
    try:
        request = Request.make(entry.name, options={"declared": entry.declared})
        event = pool.wait(pool.submit(request), limit + _START)
    finally:
        pool.close()
    if event and event.result:
        return replace(entry, **event.result.facts)
    if event is None or "time_limit" in event.facts:
        problem = gettext_noop(
            "importing its page took over {limit:g} s (ATTENTION_PLUGIN_LIMIT)", limit=limit
        )
    else:
        problem = event.note
    return replace(entry, problem=problem)


def menu() -> dict[str, list[st.Page]]:
    """The pages by section, as Streamlit's navigation takes them."""
    sections: dict[str, list[st.Page]] = {}
    titles: dict[str, str] = {}
    for entry in filter(lambda entry: entry.path, installed()):
        title = titles.setdefault(entry.section, entry.said(entry.section, language.current()))
        sections.setdefault(title, []).append(_page(entry))
    return sections


def link_to(name: str, query: Mapping[str, str], label: str, icon: str = "") -> None:
    """Draw a link to another page.

    Args:
        name: the page's.
        query: parameters of the link, as the page's own link would have them.
        label: what the link says.
        icon: the name of a Material icon; by default the page's own.
    """
    entry = next(entry for entry in installed() if entry.name == name)
    st.page_link(
        _page(entry), label=label, icon=f":material/{icon or entry.icon}:",
        query_params={**query, **speaking.in_link()},
    )  # fmt: skip


def link_to_race(formula: str, data: str) -> None:
    """Draw a link to the form of *Race* with a typed scoring, on data where a race has them."""
    query = {"formula": formula.removeprefix(FORMULA)}
    query |= {} if is_upload(data) else {"task": data}
    link_to("race", query, gettext("Race {formula}", formula=plain(query["formula"])))


def checked(name: str, query: Mapping[str, str], catalogue: Catalogue) -> dict[str, str]:
    """A link's parameters as the page itself would write them, for :func:`link_to`.

    Args:
        name: the page's.
        query: what the link asks for.
        catalogue: what is installed.
    """
    link = _module(name).PAGE.link
    return link.format(link.parse(query, catalogue)[0], catalogue)


def parts(
    name: str, catalogue: Catalogue, compute: Callable[[Request], Result | None]
) -> list[Mapping[str, str]]:
    """The queries of all parts of a page; one that is empty where it has none."""
    found = _module(name).PAGE.parts
    return [*found(catalogue, compute)] if found else [{}]


def import_first() -> None:
    """Import the first page before anybody visits it."""
    _module(installed()[0].name)


def current() -> Entry:
    """The page that this session is shown."""
    every, name = installed(), st.session_state.get(_CURRENT)
    return next((entry for entry in every if entry.name == name), every[0])


def location(entry: Entry) -> str:
    """The page's address without the server's, such as ``/train``; ``/`` is the first page."""
    return "/" if entry is installed()[0] else f"/{entry.path}"


def address(entry: Entry, query: Mapping[str, str]) -> str:
    """The page's address with parameters of its link, such as ``/train?show=…``."""
    return location(entry) + (f"?{urlencode(query)}" if query else "")


def _page(entry: Entry) -> st.Page:
    # A copy, since Streamlit notes on a page whether it may be called in this run.
    running = get_script_run_ctx(suppress_warning=True) is not None
    return copy(_made(entry, language.current(), entry.name == found()[0].name, running))


@functools.lru_cache(maxsize=_KEPT)
def _made(entry: Entry, spoken: str, first: bool, _running: bool) -> st.Page:
    icon = f":material/{'error' if entry.problem else entry.icon}:"
    title, path = entry.said(entry.title, spoken), entry.path
    return st.Page(_opener(entry.name), title=title, icon=icon, url_path=path, default=first)


def _opener(name: str) -> Callable[[], None]:
    def show() -> None:
        st.session_state[_CURRENT] = name
        entry = next(entry for entry in found() if entry.name == name)
        if _trial(entry):
            with TURNS.waiting():
                entry = opened(name)
        if entry.problem:
            _refused(entry)
            return
        began = time.monotonic()
        try:
            _module(name).PAGE.show()
        except SystemExit as error:  # which Streamlit lets through: the session would hang
            raise RuntimeError(f"{entry.module} asked the server to end") from error
        note_wait(name, "drawn", time.monotonic() - began)

    return show


def _refused(entry: Entry) -> None:
    """Say why a page from elsewhere cannot be shown, where it would be."""
    st.title(plain(entry.title), anchor=False)
    name = plain(entry.distribution)
    st.error(gettext("The page that package {name} brings cannot be shown.", name=name))
    st.text(translated(entry.problem))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{opened(name).module}.page")
