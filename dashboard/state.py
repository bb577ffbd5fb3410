"""What outlives one run of a page: the engine of this process, and what a session has open."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.engine.local import LocalPool
from dashboard.engine.protocol import FINAL, Event, JobBackend
from dashboard.engine.trainings import Trainings
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.runs.result import Result

_LINKS_REMEMBERED = 200
_REFRESH_WAIT = 15.0  # seconds in which a worker starts and reads the catalogue
_READABLE = "',:!*()@/"  # signs that may stand in a link as they are

Parse = Callable[[Mapping[str, Sequence[str]], Catalogue], tuple[Any, Sequence[str]]]
Write = Callable[[Any, Catalogue], Mapping[str, str]]


class Workbench:
    """The engine and the catalogue, shared by all sessions of this process."""

    def __init__(self, backend: JobBackend) -> None:
        self.backend = backend
        self.trainings = Trainings(taken=self._checkpoints, on_keep=self.refresh)
        self.generation = 0
        self._lock = threading.Lock()
        self._job = ""
        self._catalogue: Catalogue | None = None

    def catalogue(self, patience: float = 0.0) -> Catalogue | Event | None:
        """What is installed; None while a worker still reads it, the event if that failed.

        Args:
            patience: seconds to wait for it.
        """
        with self._lock:
            known = self._catalogue
            if known is not None and not self._job:
                return known
            self._job = self._job or self.backend.submit(Request.make("catalogue"))
            job = self._job
        event = self.backend.wait(job, patience if known is None else 0.0)
        if event is None or event.result is None:
            return known or event
        with self._lock:
            if job == self._job:
                self._catalogue, self._job = Catalogue.of(event.result.facts), ""
            return self._catalogue

    def reload(self) -> None:
        """Start new workers, which find newly installed plugins; forget everything computed."""
        self.backend.reload(pardon=True)
        self.trainings.reload()
        with self._lock:
            self._job, self._catalogue = "", None
            self.generation += 1

    def refresh(self) -> None:
        """Read the catalogue once more; the known one serves until then, and all jobs go on.

        Waits a few seconds, so that whoever follows a link to what is new finds it.
        """
        self.backend.reload()
        with self._lock:
            job = self._job = self.backend.submit(Request.make("catalogue"))
        self.backend.wait(job, _REFRESH_WAIT)

    def _checkpoints(self) -> Collection[str]:
        known = self.catalogue()
        return known.checkpoints if isinstance(known, Catalogue) else ()


@st.cache_resource(show_spinner=False)
def workbench() -> Workbench:
    """The one of this process; its workers start with it."""
    return Workbench(LocalPool())


class Jobs:
    """What one page of one session has asked for, by request.

    A run that is interrupted may still be in here when the next one begins, hence the lock, and
    hence a request that is asked about without being wanted is submitted once more.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._lock = threading.RLock()
        self._generation = bench.generation
        self._ids: dict[str, str] = {}
        self._final: dict[str, Event] = {}

    def want(self, requests: Iterable[Request]) -> None:
        """Ask for these results, and cancel this page's jobs for anything else."""
        with self._lock:
            if self._generation != self._bench.generation:
                self._generation = self._bench.generation
                self._ids.clear()
                self._final.clear()
            wanted = {request.key: request for request in requests}
            for key in self._ids.keys() - wanted.keys():
                self._final.pop(key, None)
                self._bench.backend.cancel(self._ids.pop(key))
            for request in wanted.values():
                self._job(request)

    def wait(self, seconds: float) -> bool:
        """Wait for all of them together; whether all are final."""
        end = time.monotonic() + seconds
        found = [self._look(*job, max(0.0, end - time.monotonic())) for job in self._jobs()]
        return all(found)

    def settled(self) -> bool:
        """Whether every job that is wanted has ended."""
        return self.wait(0.0)

    def final(self, request: Request) -> Event | None:
        """How the job ended, or None while it has not."""
        return self._look(request.key, self._job(request))

    def done(self) -> list[Result]:
        """Every result that there is so far; panels share one scale by it."""
        events = [self._look(*job) for job in self._jobs()]
        return [event.result for event in events if event and event.result]

    def progress(self, request: Request) -> list[Event]:
        """Everything that was reported so far."""
        try:
            return self._bench.backend.events(self._job(request))
        except KeyError:
            return []

    def retry(self, request: Request) -> None:
        """Ask once more, after a failure."""
        with self._lock:
            self._final.pop(request.key, None)
            self._ids.pop(request.key, None)
            self._job(request)

    def _job(self, request: Request) -> str:
        with self._lock:
            if request.key not in self._ids:
                self._ids[request.key] = self._bench.backend.submit(request)
            return self._ids[request.key]

    def _jobs(self) -> list[tuple[str, str]]:
        with self._lock:
            return list(self._ids.items())

    def _look(self, key: str, job: str, patience: float = 0.0) -> Event | None:
        if known := self._final.get(key):
            return known
        try:
            event = self._bench.backend.wait(job, patience)
        except KeyError:
            event = Event(number=1, stage="failed", note="This job was forgotten; ask again.")
        if event is None or event.stage not in FINAL:
            return None
        with self._lock:
            if self._ids.get(key) == job:
                self._final[key] = event
        return event


@dataclass
class Visit:
    """One page in one session.

    Args:
        view: what the page shows, the truth between two runs.
        catalogue: what was installed when the view was last read.
        fresh: the view did not come from the widgets, so they must take their values from it.
        problems: what was wrong with the link that was opened.
        links: those that this session wrote itself, the present one last.
    """

    jobs: Jobs
    view: Any = None
    catalogue: Catalogue | None = None
    fresh: bool = True
    problems: Sequence[str] = ()
    links: list[str] = field(default_factory=list)

    def change(self, view: Any) -> None:
        """Show another view, whatever the widgets say."""
        self.view, self.fresh, self.problems = view, True, ()

    def settle(self, view: Any) -> None:
        """Take over what the widgets say."""
        if view != self.view:
            self.problems = ()
        self.view, self.fresh = view, False


def visit(page: str) -> Visit:
    """This session's visit to a page, kept while it looks at another one."""
    key = f"visit {page}"
    if key not in st.session_state:
        st.session_state[key] = Visit(jobs=Jobs(workbench()))
    return st.session_state[key]


def read_link(here: Visit, catalogue: Catalogue, parse: Parse, write: Write) -> None:
    """Take the view from the address bar, unless it holds what this session put there.

    A run may be asked for before the browser has seen the address that the run before it wrote,
    so every address that was written counts as known; only going back in history reopens one.
    After plugins were reloaded, the view is read anew, since a bound may have moved.
    """
    query = {key: st.query_params.get_all(key) for key in st.query_params}
    asked = urlencode(query, doseq=True)
    if here.view is None or _opens_another(here, asked):
        view, problems = parse(query, catalogue)
        here.change(view)
        here.problems = problems
    elif here.catalogue is not catalogue:
        here.change(parse(write(here.view, here.catalogue), catalogue)[0])
    here.catalogue = catalogue


def _opens_another(here: Visit, asked: str) -> bool:
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        # On the way from one page to the other the browser notes this page with the other's link.
        return asked not in here.links[-1:] and not _of_another_page(here, asked)
    return bool(asked) and asked not in here.links


def _of_another_page(here: Visit, asked: str) -> bool:
    others = [one for one in st.session_state.values() if isinstance(one, Visit)]
    known = any(asked in other.links for other in others if other is not here)
    return bool(asked) and known and asked not in here.links


def write_link(here: Visit, link: Mapping[str, str]) -> None:
    """Put the link to the present view into the address bar."""
    written = urlencode(link)
    if not here.links or here.links[-1] != written:
        here.links = [*here.links[-_LINKS_REMEMBERED:], written]
    query = {key: st.query_params.get_all(key) for key in st.query_params}
    if urlencode(query, doseq=True) != written:
        st.query_params.from_dict(link)


def address(link: Mapping[str, str]) -> str:
    """The whole link, to be copied."""
    base = urlsplit(st.context.url or "")
    query = urlencode(link, safe=_READABLE)
    return base._replace(path=base.path or "/", query=query, fragment="").geturl()
