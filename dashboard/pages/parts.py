"""What every page is made of: its heading, its notices, its waiting and its failed places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.controls import choose, formula, plain
from dashboard.engine.protocol import Event
from dashboard.runs.link_parts import AUTO
from dashboard.runs.news import news
from dashboard.runs.offers import Catalogue, Offer
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Jobs, address, workbench

PATIENCE = 0.9  # seconds that a run waits, so that quick results come without a flicker
POLL = 0.3  # seconds between two looks at a job that takes longer
_FIRST_WAIT = 0.3
_PROBLEMS_SHOWN = 8
_NEWS_TOLD = 3
_BEFORE, _NEWS = "catalogue before", "catalogue news"
_DEVICE_WIDTH = 110
_FORMULA_HEIGHT = 64  # px, holds a fraction
_NARROWEST = 230  # px of a panel, before panels wrap
_BADGES = {"a": "blue", "b": "orange", "c": "green", "d": "violet"}


def reload() -> None:
    """Look for plugins again; once they are there, the page says what changed."""
    before = workbench().catalogue()
    if isinstance(before, Catalogue):
        st.session_state[_BEFORE] = before
    workbench().reload()


def changes(catalogue: Catalogue, aloud: bool = True) -> tuple[str, ...]:
    """What the last reload of this session changed, until there is another catalogue.

    Told in passing the first time, unless the page itself shows it: ``aloud``.
    """
    if (before := st.session_state.pop(_BEFORE, None)) is not None:
        st.session_state[_NEWS] = (catalogue, news(before, catalogue))
        for sentence in st.session_state[_NEWS][1][: _NEWS_TOLD * aloud]:
            st.toast(plain(sentence), icon=":material/extension:")
    known, sentences = st.session_state.get(_NEWS, (None, ()))
    return sentences if known is catalogue else ()


def heading(title: str, explanation: str) -> Any:
    """The page's title with one sentence; returns the place for its buttons."""
    words, buttons = st.columns([5, 2], vertical_alignment="bottom", gap="medium")
    with words:
        st.title(title, anchor=False)
        st.caption(explanation)
    return buttons.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
    )


def actions(place: Any, link: Mapping[str, str], catalogue: Catalogue) -> None:
    """The buttons that every page has: what is wrong with plugins, its link, look again."""
    changes(catalogue)
    with place:
        if catalogue.failures:
            _faults(catalogue)
        with st.popover("Copy link", icon=":material/link:", type="tertiary"):
            st.caption("Whoever opens this link sees this page as it is now.")
            st.code(address(link), language=None, wrap_lines=True)
        st.button(
            "Reload plugins",
            icon=":material/refresh:",
            type="tertiary",
            on_click=reload,
            help="Starts new workers, which find plugins that were installed meanwhile.",
        )


def notice(problems: Sequence[str]) -> None:
    """What in the opened link could not be taken as it stood."""
    if not problems:
        return
    with st.container(border=True, key="link-problems", gap="xsmall"):
        st.markdown(":material/info: **This link was not taken as it stood**")
        for sentence in problems[:_PROBLEMS_SHOWN]:
            st.text(sentence)
        if len(problems) > _PROBLEMS_SHOWN:
            st.caption(f"and {len(problems) - _PROBLEMS_SHOWN:,} more")


def _faults(catalogue: Catalogue) -> None:
    """Plugins that could not be taken in; they cost nothing but themselves."""
    count = len(catalogue.failures)
    label = f"{count} plugin problem{'s' if count > 1 else ''}"
    with st.popover(label, icon=":material/extension_off:", type="tertiary"):
        for failure in catalogue.failures:
            st.text(f"{failure['plugin']}: {failure['message']}")
            if failure.get("advice"):
                st.caption(plain(f"What to do: {failure['advice']}"))


def catalogue_or_wait(panels: int, height: int) -> Catalogue | None:
    """The catalogue; while there is none, a page in waiting is drawn, and it looks again."""
    found = workbench().catalogue(_FIRST_WAIT)
    if isinstance(found, Catalogue):
        return found
    if found is None:
        st.fragment(_starting, run_every=POLL)(panels, height)
    else:
        _no_catalogue(found)
    return None


def _starting(panels: int, height: int) -> None:
    if workbench().catalogue() is not None:
        st.rerun()
    st.caption(":material/hourglass_top: Starting the workers and loading the plugins …")
    with st.container(key="starting"), grid(panels):
        for _ in range(panels):
            st.skeleton(height)


def _no_catalogue(event: Event) -> None:
    with st.container(border=True, key="no-catalogue"):
        st.markdown(":material/error: **The plugins could not be listed**")
        st.text(event.note)
        _details(event)
        st.button("Try again", icon=":material/refresh:", on_click=reload)


def results(
    jobs: Jobs,
    request: Request,
    draw: Callable[[Result], None],
    height: int,
    key: str,
    meanwhile: Callable[[Sequence[Event]], None] | None = None,
    grows: bool = False,
) -> None:
    """The place of one result, always of the same height: waiting, failed, or drawn.

    Args:
        draw: draws the result.
        height: px.
        grows: whether a result that was drawn takes the height it needs: for a whole page of
            one result, where text wraps and figures stack.
        meanwhile: draws what is known before it, from the job's events, and what is left
            of it after a failure. By default how far the job is, and what failed.
    """
    pending = jobs.final(request) is None

    def place() -> None:
        if pending and jobs.settled():
            st.rerun()
        event = jobs.final(request)
        drawn = event is not None and event.result is not None
        needed = "content" if grows and drawn else height
        with st.container(height=needed, border=False, key=key):
            if drawn:
                draw(event.result)
            elif meanwhile:
                meanwhile(jobs.progress(request))
            elif event is None:
                waiting(jobs.progress(request), height)
            elif failure(event, key):
                jobs.retry(request)
                st.rerun()

    (st.fragment(run_every=POLL)(place) if pending else place)()


def waiting(events: Sequence[Event], height: int) -> None:
    """How far a job is, above the grey place that its result will take."""
    latest = events[-1] if events else None
    fraction = latest.fraction if latest and latest.fraction is not None else 0.0
    note = latest.note if latest and latest.note else "waiting for a free worker"
    st.progress(min(1.0, max(0.0, fraction)), text=plain(note))
    st.skeleton(height - 60)


def failure(event: Event, key: str) -> bool:
    """What went wrong with one job, for its reader; whether to try again."""
    refused = bool(event.facts.get("refused"))
    title = "Not possible like this" if refused else "This panel failed"
    with st.container(border=True):
        st.markdown(f":material/error: **{title}**")
        st.text(event.note or "The job was stopped before it was done.")
        if culprit := event.facts.get("culprit"):
            st.caption(plain(f"It happened in {culprit}."))
        _details(event)
        return not refused and st.button("Try again", key=f"{key}--retry", type="tertiary")


def absent(sentence: str, height: int, key: str) -> None:
    """The place of a panel that needs something which is not installed."""
    with st.container(height=height, border=False, key=key), st.container(border=True):
        st.markdown(":material/extension_off: **Not installed here**")
        st.text(sentence)


def device(catalogue: Catalogue, chosen: str, key: str, fresh: bool) -> str:
    """Where to compute, if there is a choice."""
    if not {*catalogue.devices} - {AUTO, "cpu"}:
        return chosen
    return choose("Device", catalogue.devices, chosen, key, fresh, width=_DEVICE_WIDTH)


def row(key: str) -> Any:
    """A row of controls that wraps where the window is narrow."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=key)


def grid(panels: int) -> Any:
    """Panels beside each other, as many as have room."""
    return st.grid(panels, min_column_width=_NARROWEST, gap="medium")


def remove(letter: str, action: Callable[..., None], *arguments: Any) -> None:
    """The button that takes a panel away."""
    st.button(
        "",
        icon=":material/close:",
        type="tertiary",
        key=f"panel-{letter}-remove",
        help=f"Remove panel {letter}",
        on_click=action,
        args=arguments,
    )


def formula_of(letter: str, scoring: Offer) -> None:
    """A scoring's formula in a place of one height, so that the panels stay aligned."""
    with st.container(
        height=_FORMULA_HEIGHT,
        border=False,
        vertical_alignment="center",
        key=f"panel-{letter}-formula",
    ):
        formula(scoring.formula, description=scoring.description)


def badge(letter: str) -> None:
    """A panel's letter in the colour that its curve has."""
    st.badge(letter, color=_BADGES[letter])


def _details(event: Event) -> None:
    text = event.facts.get("traceback") or event.facts.get("stderr")
    if text:
        with st.expander("Details"):
            st.code(str(text), language=None, wrap_lines=True)
