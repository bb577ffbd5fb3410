"""A page, declared once, and the one order in which every page is drawn."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import language
from dashboard.charts.summary import Summary
from dashboard.language import gettext, said_in
from dashboard.links.link import Link, Query, View
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import formulas, frame, layout, owner, page_menu, reloading, results, shown
from dashboard.ui.figure_parts import Made
from dashboard.ui.jobs import Jobs
from dashboard.ui.session import Session, address, open_session, write_address
from dashboard.ui.speaking import localised
from dashboard.ui.widgets import plain


@st.fragment
def section(found: Sequence[tuple[str, Summary]]) -> None:
    """The charts in words and numbers, in an expander; nothing is made before it is opened."""
    opened = st.expander(
        gettext("The charts of this page in words and numbers"), icon=":material/notes:",
        key="charts-in-words", on_change="rerun",
    )  # fmt: skip
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
    unless the setting ``classroom`` is on, nor from an administrator.
    """
    if not owner.visitor().presents:
        yield
        return
    place = st.container()
    if not st.session_state.get(_SHOW):
        place.html(_HIDDEN)
    with layout.folding():
        yield
    place.toggle(gettext("Show the controls"), key=_SHOW)


Places = TypeVar("Places")
Compute = Callable[[Request], Result | None]
_NOTHING_INSTALLED = Catalogue()


@dataclass(frozen=True, kw_only=True)
class Page(Generic[View, Places]):
    """What a feature declares of its page; :meth:`show` draws it.

    Args:
        name: the feature's folder; begins the keys of widgets.
        title, explanation: the heading, and one sentence under it.
        link: how the address says the page's view.
        controls: draws what can be set, updates ``session.view``, returns the places of results.
        requests: what workers must make for a view.
        follow_ups: what they must make besides, as far as the results say that are there.
        work: what a request costs (:mod:`dashboard.records.request`). A link starts no more than
            the setting ``free_work``; the rest waits for a button.
        offer: what that button does, in words, such as ``Align 5,000 pairs``.
        results: draws the results into the places. They may still be on their way.
        empty: draws what stands instead where a page has nothing to work on; says whether it did.
        formulas: the formulas that a link and a view name, where scorings may be typed; the
            catalogue then holds them.
        part: which of several parts of the page is seen, where only one is: it begins at the top.
        parts: the links of all its parts, for which it may have results computed; what
            ``publish`` writes where a link names none.
        buttons: draws buttons of its own before those that every page has.
        panels, height: of the grey places while the workers start; px.
        keeps: whether the page has results of its own, and so a button that keeps it.
        catalogue: whether the page needs to know what is installed. One that does not has no
            button that looks for plugins.
        aloud: whether changes of the catalogue pop up here.
        folds: whether a classroom hides its rows of controls until somebody asks for them.
        buttons_below: whether the buttons stand below the page, where they take no room from
            what a small screen shows first.
    """

    name: str
    title: str
    explanation: str
    link: Link[View]
    controls: Callable[[Session[View]], Places]
    results: Callable[[Session[View], Places], None]
    requests: Callable[[View, Catalogue], Iterable[Request]] | None = None
    follow_ups: Callable[[View, Catalogue, Jobs], Iterable[Request]] | None = None
    work: Callable[[Request], float] = lambda _: 0.0
    offer: Callable[[Sequence[Request]], str] = lambda requests: gettext(
        "Compute {count:,} more", count=len(requests)
    )
    empty: Callable[[Catalogue], bool] | None = None
    formulas: Callable[[Query, View | None], Iterable[str]] | None = None
    part: Callable[[View], str] | None = None
    parts: Callable[[Catalogue, Compute], Iterable[Mapping[str, str]]] | None = None
    buttons: Callable[[Session[View]], None] | None = None
    panels: int = 1
    height: int = 400
    keeps: bool = True
    catalogue: bool = True
    aloud: bool = True
    folds: bool = False
    buttons_below: bool = False

    def show(self) -> None:
        """Heading, catalogue, link, controls, link written, requests, results, notices."""
        said = partial(said_in, language.current(), module=self.results.__module__)
        title = said(self.title)
        frame.name_tab(title)
        buttons = frame.heading(title, said(self.explanation), alone=self.buttons_below)
        installed = english = _NOTHING_INSTALLED
        if self.catalogue:
            found = frame.catalogue_or_wait(self.panels, self.height)
            if found is None:
                return
            installed, english = localised(found), found
            reloading.changes(installed, aloud=self.aloud)
        known = installed if self.catalogue else None
        if self.empty and self.empty(installed):
            frame.actions(buttons, address({}), known)
            return
        catalogue = installed
        if self.formulas:
            read = formulas.read(catalogue, self.name, self.formulas)
            if read is None:
                formulas.waiting(self.name)
                return
            catalogue = read
        session = open_session(
            self.name, self.link, catalogue, self.work, installed=installed
        )  # fmt: skip
        self._draw(session, title, buttons, known, english)

    def _draw(
        self, session: Session[View], title: str, buttons: DeltaGenerator,
        installed: Catalogue | None, english: Catalogue,
    ) -> None:  # fmt: skip
        news, notices, offers = st.empty(), st.empty(), st.empty()
        if installed:
            with news:
                reloading.status()
        with shown.recording() as record:
            with folded() if self.folds else nullcontext():
                places = self.controls(session)
            session.fresh = False
            link = self.link.format(session.view, session.catalogue)
            write_address(session, link)
            whole = address(link)
            if self.buttons_below:
                buttons = frame.place_for_buttons(key="page-buttons-below")
            with buttons:
                if self.buttons:
                    self.buttons(session)
                keep, figure = st.container(width="content"), st.container(width="content")
            part = self.part(session.view) if self.part else ""
            frame.actions(buttons, whole, installed, part=part, instead=session.instead)
            self._ask(session)
            if session.jobs.held:
                with offers:
                    frame.offer(session.jobs, self.offer)
            complete = session.jobs.settled()
            self.results(session, places)
            if not complete and session.jobs.settled():
                st.rerun()  # the last may belong into what was drawn before, as a shared scale
        frame.name_tab(title, record.root.titles())
        if record.summaries:
            section(record.summaries)
            frame.tell(record.told)
        own = None if record.incomplete else session.jobs.results()
        results = None if own is None else [*own, *record.results]
        if record.charts or (self.keeps and results != []):
            with keep:
                page_menu.keep_menu(title, link, results, record, keeps=self.keeps)
        if record.charts:
            made = None if results is None else partial(
                Made, title=title, link=whole, results=results, catalogue=session.catalogue,
                english=self.title, installed=english,
            )  # fmt: skip
            with figure:
                page_menu.figure_menu(record, made)
        if session.problems:
            with notices:
                frame.notice(session.problems)

    def _ask(self, session: Session[View]) -> None:
        """Ask for everything that the view needs, and wait a moment for it and what follows."""
        known: list[Request] | None = None
        while True:
            view, catalogue = session.view, session.catalogue
            wanted = [*self.requests(view, catalogue)] if self.requests else []
            if self.follow_ups:
                wanted += self.follow_ups(view, catalogue, session.jobs)
            if wanted == known:
                return
            known = wanted
            session.jobs.want(wanted)
            if wanted:
                session.jobs.wait(session.jobs.patience(results.PATIENCE))
