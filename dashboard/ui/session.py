"""What one session sees on one page, and the address bar that says it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Generic
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.language import gettext
from dashboard.links.link import Link, View
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.settings import settings
from dashboard.ui import exercise, navigation, speaking
from dashboard.ui.jobs import Jobs
from dashboard.ui.workbench import workbench

_LEFT = "lesson left"


def leave(number: int, query: Mapping[str, str], pages: Collection[str]) -> None:
    """Remember the open lesson: its number, its link, and the features on which it leads back."""
    st.session_state[_LEFT] = number, dict(query), frozenset(pages)


def draw() -> None:
    """A link back to the lesson that this session had open, on a page that it led to."""
    number, query, pages = st.session_state.get(_LEFT, (0, {}, ()))
    if navigation.current().name in pages:
        label = gettext("Back to lesson {number}", number=number)
        navigation.link_to("lessons", query, label, "arrow_back")


_LINKS_REMEMBERED = 200
Work = Callable[[Request], float]
_READABLE = "',:!*()@/="  # signs that may stand in a link as they are


def new_jobs(**more: Any) -> Jobs:
    """The jobs of this session that ask for something; see :class:`~dashboard.ui.jobs.Jobs`."""
    bench, context = workbench(), get_script_run_ctx()
    client = context.session_id if context else ""
    return Jobs(bench.backend, lambda: bench.generation, client=client, **more)


class Session(Generic[View]):
    """One page in one session, kept while the session looks at another page.

    Attributes:
        page: the page's name; begins the keys of its widgets.
        view: what the page shows.
        catalogue: what was known when the page was last drawn.
        installed: what of it is installed, by which the view was last read.
        fresh: the view did not come from the widgets, so they must take their values from it.
        problems: what was refused of the link that was opened.
        jobs: what the page has asked workers for.
        links: the addresses that this page wrote itself, the present one last.
        instead: titles of the scorings that this run shows in place of wrong formulas.
    """

    def __init__(
        self, page: str, view: View, catalogue: Catalogue, work: Work = lambda _: 0.0
    ) -> None:
        self.page = page
        self.view: View = view
        self.catalogue = self.installed = catalogue
        self.fresh = True
        self.problems: tuple[str, ...] = ()
        self.jobs = new_jobs(work=work, free=settings().free_work, page=page)
        self.links: list[str] = []
        self.instead: list[str] = []

    def change(self, view: View | None = None, /, **values: Any) -> None:
        """Show another view, or this one with other ``values``, whatever the widgets say."""
        self.view, self.fresh, self.problems = replace(view or self.view, **values), True, ()

    def update(self, **values: Any) -> None:
        """Take over what a widget says: attributes of the view by name."""
        view = replace(self.view, **values)
        if view != self.view:
            self.problems = ()
        self.view: View = view

    def key(self, *parts: str) -> str:
        """The key of one of this page's widgets."""
        return "-".join((self.page, *filter(None, parts))).replace(".", "-")


def sessions() -> dict[str, Session[Any]]:
    """This session's pages by name; one entry, as each widget reads the whole session state."""
    return st.session_state.setdefault("sessions", {})


def open_session(
    page: str, link: Link[View], catalogue: Catalogue, work: Work = lambda _: 0.0, *,
    installed: Catalogue | None = None,
) -> Session[View]:  # fmt: skip
    """This session's state of a page, with the view that the address bar asks for.

    A run may be asked for before the browser has seen the address that the run before it wrote,
    so every address that the page wrote counts as known; only going back in history reopens one.
    After plugins were reloaded, when ``installed`` changes, the view is read again.
    """
    installed = installed or catalogue
    query = asked_for()
    asked = urlencode(query, doseq=True)
    known = sessions().get(page)
    session = known or Session(page, link.default(catalogue), catalogue, work)
    sessions()[page] = session
    if known is None or _opens_another(session, asked):
        session.view, problems = link.parse(query, catalogue)
        session.fresh = True
        session.problems = tuple(filter(None, (*problems, speaking.problem())))
    elif session.installed is not installed:
        session.change(link.parse(link.format(session.view, session.catalogue), catalogue)[0])
    session.catalogue, session.installed, session.instead = catalogue, installed, []
    return session


def asked_for() -> dict[str, list[str]]:
    """What the address bar asks of the page; every page understands the rest by itself."""
    query = st.query_params
    own = (speaking.PARAMETER, exercise.PARAMETER)
    return {key: query.get_all(key) for key in query if key not in own}


def draw_anew() -> None:
    """Have every page of this session give its widgets their values again."""
    for session in sessions().values():
        session.fresh = True


def write_address(session: Session[Any], link: Mapping[str, str]) -> None:
    """Put the link to the present view into the address bar.

    On the way back in history it is told once more: the run before may have written its own
    address after the browser had gone back.
    """
    written = urlencode(link)
    if not session.links or session.links[-1] != written:
        session.links = [*session.links[-_LINKS_REMEMBERED:], written]
    whole = {**link, **speaking.in_link(), **exercise.in_link()}
    query = {key: st.query_params.get_all(key) for key in st.query_params}
    if _goes_back() or urlencode(query, doseq=True) != urlencode(whole):
        st.query_params.from_dict(whole)


def address(link: Mapping[str, str]) -> str:
    """The whole link, to be copied; it names the language if the visitor chose one."""
    base = urlsplit(st.context.url or "")
    query = urlencode({**link, **speaking.in_link()}, safe=_READABLE)
    return base._replace(path=base.path or "/", query=query, fragment="").geturl()


def _opens_another(session: Session[Any], asked: str) -> bool:
    if not _goes_back():
        return bool(asked) and asked not in session.links
    # On the way from one page to the other the browser notes this page with the other's link.
    known = any(asked in one.links for one in sessions().values() if one is not session)
    return not (bool(asked) and known and asked not in session.links)


def _goes_back() -> bool:
    """Whether the visitor goes back or on in history; widgets may say what was moved since."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation
