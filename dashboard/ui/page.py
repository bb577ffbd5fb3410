"""A page, declared once, and the one order in which every page is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from dashboard import language
from dashboard.charts.summary import Summary
from dashboard.language import gettext, gettext_noop, said_in
from dashboard.links.link import Link, Query, View
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.ui import (
    figure_menu,
    formulas,
    frame,
    layout,
    owner,
    page_menu,
    reloading,
    results,
    shown,
)
from dashboard.ui.figure_menu import Made
from dashboard.ui.jobs import Jobs
from dashboard.ui.session import Session, address, open_session, write_address
from dashboard.ui.speaking import localised
from dashboard.ui.widgets import plain

_TITLE = gettext_noop("The charts of this page in words and numbers")


def section(found: Sequence[tuple[str, Summary]]) -> None:
    """A part of the page that opens by a click or a key; nothing is made before it does.

    Args:
        found: what each chart is called, and its summary.
    """
    if found:
        _section(found)


@st.fragment
def _section(found: Sequence[tuple[str, Summary]]) -> None:
    opened = st.expander(
        gettext(_TITLE), icon=":material/notes:", key="charts-in-words", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        for title, summary in found:
            st.header(plain(title), anchor=False)
            st.text(summary.words)
            st.dataframe(summary.table(), hide_index=True, alt=title)


_SHOW = "presentation-controls"
_HIDDEN = '<style>[class*="st-key-folded-"] { display: none; }</style>'


@contextmanager
def folded() -> Iterator[None]:
    """Hide the rows of controls that are drawn inside, until the reader asks for them.

    They are drawn all the same, since a page's view is what its widgets say. Nothing is hidden
    unless the setting ``classroom`` is on, nor from an administrator. A page without such rows
    has no toggle.
    """
    if not owner.visitor().presents:
        yield
        return
    place = st.container()
    if not st.session_state.get(_SHOW):
        place.html(_HIDDEN)
    with layout.folding() as rows:
        yield
    if rows:
        place.toggle(gettext("Show the controls"), key=_SHOW)


Places = TypeVar("Places")
_NOTHING_INSTALLED = Catalogue()


@dataclass(frozen=True, kw_only=True)
class Page(Generic[View, Places]):
    """What a feature declares of its page; :meth:`show` draws it.

    Args:
        name: the feature's folder; begins the keys of widgets.
        title, explanation: the heading, and one sentence under it.
        link: how the address says the page's view.
        controls: draws what can be set, updates ``session.view``, and returns the places where
            results go.
        requests: what workers must make for a view.
        follow_ups: what they must make besides, as far as the results say that are there.
        work: what a request costs (:mod:`dashboard.records.request`). A link starts no more than
            the setting ``free_work``; the rest waits for a button.
        offer: what that button does, in words, such as ``Align 5,000 pairs``.
        results: draws the results into the places. They may still be on their way.
        empty: draws what stands instead of everything where the page has nothing to work on, and
            says whether it did.
        formulas: the formulas that a link and a view name, where scorings may be typed; the
            catalogue then holds them.
        part: which of several parts of the page is seen, where only one is: it begins at the top.
        buttons: draws buttons of its own before those that every page has.
        panels, height: of the grey places while the workers start; px.
        keeps: whether the page has results of its own, and so a button that keeps it.
        catalogue: whether the page needs to know what is installed. One that does not has no
            button that looks for plugins.
        aloud: whether changes of the catalogue pop up here.
        buttons_below: whether the buttons stand below the page, where they take no room from
            what a small screen shows first.
    """

    name: str
    title: str
    explanation: str
    link: Link[View]
    controls: Callable[[Session[View]], Places]
    results: Callable[[Session[View], Places], None]
    requests: Callable[[View, Catalogue], Iterable[Request]] = lambda _view, _catalogue: ()
    follow_ups: Callable[[View, Catalogue, Jobs], Iterable[Request]] = lambda *_: ()
    work: Callable[[Request], float] = lambda _: 0.0
    offer: Callable[[Sequence[Request]], str] = lambda requests: gettext(
        "Compute {count:,} more", count=len(requests)
    )
    empty: Callable[[Catalogue], bool] = lambda _: False
    formulas: Callable[[Query, View | None], Iterable[str]] | None = None
    part: Callable[[View], str] = lambda _: ""
    buttons: Callable[[Session[View]], None] = lambda _: None
    panels: int = 1
    height: int = 400
    keeps: bool = True
    catalogue: bool = True
    aloud: bool = True
    buttons_below: bool = False

    def show(self) -> None:
        """Heading, catalogue, link, controls, link written, requests, results, notices."""
        title = self._said(self.title)
        frame.name_tab(title)
        buttons = frame.heading(title, self._said(self.explanation), alone=self.buttons_below)
        catalogue = english = _NOTHING_INSTALLED
        if self.catalogue:
            found = frame.catalogue_or_wait(self.panels, self.height)
            if found is None:
                return
            catalogue, english = localised(found), found
        if self.empty(catalogue):
            frame.actions(buttons, {}, catalogue)
            return
        installed = catalogue
        if self.formulas:
            read = formulas.read(catalogue, self.name, self.formulas)
            if read is None:
                formulas.waiting(self.name)
                return
            catalogue = read
        session = open_session(
            self.name, self.link, catalogue, self.work, installed=installed
        )  # fmt: skip
        news, notices, offers = st.empty(), st.empty(), st.empty()
        if self.catalogue:
            with news:
                reloading.status()
        with shown.recording() as record:
            with folded():
                places = self.controls(session)
            session.fresh = False
            link = self.link.format(session.view, catalogue)
            write_address(session, link)
            if self.buttons_below:
                buttons = frame.place_for_buttons()
            with buttons:
                self.buttons(session)
                keep, figure = st.container(width="content"), st.container(width="content")
            known = catalogue if self.catalogue else None
            part = self.part(session.view)
            frame.actions(
                buttons, link, known, aloud=self.aloud, part=part, instead=session.instead
            )
            self._ask(session)
            with offers:
                frame.offer(session.jobs, self.offer)
            self._draw(session, places)
        frame.name_tab(title, record.titles)
        section(record.summaries)
        if self.keeps:
            with keep:
                page_menu.menu(title, link, session.jobs, record)
        if record.charts:
            with figure:
                self._figure(title, session, english, record, address(link))
        with notices:
            frame.notice(session.problems)

    def _said(self, text: str) -> str:
        """What the page declares, as its own folder's catalogue has it."""
        return said_in(language.current(), text, self.results.__module__)

    def _draw(self, session: Session[View], places: Places) -> None:
        """The results, drawn anew if the last of them came meanwhile.

        It may belong into what was drawn before it, such as a scale that all of them share.
        """
        complete = session.jobs.settled()
        self.results(session, places)
        if not complete and session.jobs.settled():
            st.rerun()

    def _figure(
        self, title: str, session: Session[View], english: Catalogue,
        record: shown.Record, link: str,
    ) -> None:  # fmt: skip
        """The menu that makes a figure of the page, once all of it is there."""
        ends = session.jobs.ends()
        if record.incomplete or any(event is None for _, event in ends):
            figure_menu.waiting()
            return

        def made() -> Made:
            own = [(request, event.result) for request, event in ends if event and event.result]
            return Made(
                title=title, link=link, results=[*own, *record.results],
                catalogue=session.catalogue, english=self.title, installed=english,
            )  # fmt: skip

        figure_menu.menu(lambda: record.seen, record.charts, made)

    def _ask(self, session: Session[View]) -> None:
        """Ask for everything that the view needs, and wait a moment for it."""
        end = time.monotonic() + results.PATIENCE
        known: list[Request] | None = None
        while True:
            wanted = [
                *self.requests(session.view, session.catalogue),
                *self.follow_ups(session.view, session.catalogue, session.jobs),
            ]
            if wanted == known:
                return
            known = wanted
            session.jobs.want(wanted)
            if wanted:
                session.jobs.wait(max(0.0, end - time.monotonic()))
