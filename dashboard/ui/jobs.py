"""The jobs of one page in one session, and what its visitor waits for."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import starmap
from typing import Literal, NamedTuple, TypeVar

from dashboard.jobs.backend import FINAL, Event
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.language import gettext, gettext_noop, together
from dashboard.records.request import Request, Result, about
from dashboard.ui.turns import TURNS

_HELD = gettext_noop("Up to {free:g} s of work begins by itself; more waits for a press.")
_STOPPED = gettext_noop("No computation runs over {limit:g} s; one of these may be stopped.")
SLOWEST = 1.0  # seconds between two looks at a job, where many wait
_MOST_PATIENCE = 3.0  # times the usual one
_DRAWN_AT_ONCE = 4  # pages, in the time in which a worker has one result

Key = TypeVar("Key")
What = Literal["drawn", "result"]


class Wait(NamedTuple):
    """What a visitor waited for.

    Args:
        page: its name, one of those in :mod:`dashboard.ui.navigation`.
        what: that the page's script had run, or that a result it asked for was there.
        seconds: from the script's start, or from the request until the page sees its result.
    """

    page: str
    what: What
    seconds: float


listeners: list[Callable[[Wait], None]] = []


def note_wait(page: str, what: What, seconds: float) -> None:
    """Hand a measurement to all listeners."""
    for listener in listeners:
        listener(Wait(page, what, seconds))


@dataclass(eq=False)
class Jobs:
    """What one page of one session has asked for, by request.

    A run that is interrupted may still be in here when the next one begins, hence the lock, and
    hence a request that is asked about without being wanted is submitted once more.

    What costs more than a link may start by itself is held until :meth:`approve`, unless its
    result is there or somebody else has it computed already.

    Args:
        plugins: changes when these are reloaded; what was computed before is then forgotten.
        client: the session; clients take turns.
        work: what a request costs, see :mod:`dashboard.records.request`.
        free: the work that is begun without being approved.
        page: its name, under which the wait for results is counted.
        time_limit: seconds that each of its jobs may run; None for the backend's default.
    """

    backend: LocalPool
    plugins: Callable[[], int]
    _: KW_ONLY
    client: str = ""
    work: Callable[[Request], float] = lambda _: 0.0
    free: float = math.inf
    page: str = ""
    time_limit: float | None = None

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._generation = self.plugins()
        self._ids: dict[str, str] = {}
        self._submitted: dict[str, float] = {}  # by job, in monotonic seconds
        self._final: dict[str, Event] = {}
        self._wanted: dict[str, Request] = {}
        self._held: dict[str, Request] = {}
        self._approved: set[str] = set()
        self._begun: set[str] = set()  # without being approved
        self._shown: set[str] = set()  # known to have ended when the page was drawn last

    def want(self, requests: Iterable[Request]) -> None:
        """Ask for these results, and cancel this page's jobs for anything else."""
        with self._lock:
            wanted = {request.key: request for request in requests}
            old: list[str] = []
            # What the page has waited for is shown, though plugins were reloaded meanwhile.
            complete = wanted.keys() == self._ids.keys() == self._final.keys()
            awaited = complete and not self._final.keys() <= self._shown
            if self._generation != self.plugins() and not awaited:
                old = [job for key, job in self._ids.items() if key not in self._final]
                self.forget()
            self._approved &= wanted.keys()
            for key in self._ids.keys() - wanted.keys():
                self._final.pop(key, None)
                self._submitted.pop(self._ids[key], None)
                self.backend.cancel(self._ids.pop(key))
            self._wanted, self._held = wanted, self._beyond_free(wanted)
            for request in wanted.values():
                if request.key not in self._held:
                    self._job(request)
            for job in old:
                self.backend.cancel(job)

    def forget(self) -> None:
        """Ask anew for everything that is wanted next, since plugins were reloaded."""
        with self._lock:
            self._generation = self.plugins()
            self._ids.clear()
            self._submitted.clear()
            self._final.clear()

    def results(self) -> list[tuple[Request, Result]] | None:
        """What came of everything that is wanted; None while some of it has not ended."""
        found = []
        for request in self._wanted.values():
            event = self.final(request)
            if event is None:
                return None
            if event.result:
                found.append((request, event.result))
        return found

    @property
    def held(self) -> list[Request]:
        """What is wanted and waits to be approved."""
        return list(self._held.values())

    def holds(self, request: Request) -> bool:
        """Whether a request waits to be approved."""
        return request.key in self._held

    def approve(self) -> None:
        """Let what is held begin when it is wanted next."""
        with self._lock:
            self._approved |= self._held.keys()

    def estimate_held(self) -> float | None:
        """The seconds that what is held will take; None where that is not known."""
        return self.backend.estimate((each, self.work(each)) for each in self.held)

    def why_held(self) -> str:
        """Why what is held waits, and how long it takes."""
        amount = about(sum(map(self.work, self.held)))
        said = gettext("What waits is estimated at {duration} on one core.", duration=amount)
        if self.estimate_held() is not None:
            said = gettext("How long it takes is measured on this server.")
        sentences, limit = [gettext(_HELD, free=self.free), said], PoolOptions.time_limit
        if max(map(self.work, self.held)) > limit:
            sentences.append(gettext(_STOPPED, limit=limit))
        return together(sentences)

    def _beyond_free(self, wanted: Mapping[str, Request]) -> dict[str, Request]:
        """What must be approved first: of what costs something, the cheapest begin."""
        self._begun &= wanted.keys()
        left, held = self.free, {}
        for key in self._begun:
            left -= self.work(wanted[key])
        for request in sorted(wanted.values(), key=self.work):
            key, work = request.key, self.work(request)
            if key in self._ids or key in self._approved or self.backend.has(request):
                continue
            if work > left:
                held[key] = request
            else:
                left -= work
                self._begun.add(key)
        return held

    def wait(self, seconds: float) -> bool:
        """Wait for all of them together; whether all are final."""
        if not self.settled():
            end = time.monotonic() + seconds
            with TURNS.waiting():
                for key, job in self._jobs():
                    self._look(key, job, max(0.0, end - time.monotonic()))
        ended = self.settled()
        self._shown = {*self._final}
        return ended

    def pace(self, seconds: float) -> float:
        """Seconds between two looks at a job: longer where many wait, at most :data:`SLOWEST`.

        Each look costs the server some milliseconds. On a full one they would take the time in
        which results are drawn, and so make everybody wait longer and look more often.
        """
        return min(self._crowd() * seconds, max(SLOWEST, seconds))

    def patience(self, seconds: float) -> float:
        """Seconds that a page waits for its results: longer where many wait, to be drawn once."""
        return seconds * min(self._crowd(), _MOST_PATIENCE)

    def _crowd(self) -> float:
        """How many wait for each worker or, all together, to draw a page; at least 1."""
        load = self.backend.capacity()
        return max(1.0, TURNS.waiters / _DRAWN_AT_ONCE, load.queued / max(1, load.workers))

    def settled(self) -> bool:
        """Whether every job that is wanted has ended."""
        return all(starmap(self._look, self._jobs()))

    def final(self, request: Request, patience: float = 0.0) -> Event | None:
        """How the job ended, or None while it has not after so many seconds of ``patience``."""
        if request.key in self._held:
            return None
        return self._look(request.key, self._job(request), patience)

    def done(self) -> list[Result]:
        """Every result that there is so far; panels share one scale by it."""
        return [seen.result for job in self._jobs() if (seen := self._look(*job)) and seen.result]

    def ended(self, asked: Mapping[Key, Request]) -> dict[Key, Result]:
        """The results of these requests that there are so far."""
        ends = {key: self.final(request) for key, request in asked.items()}
        return {key: end.result for key, end in ends.items() if end and end.result}

    def progress(self, request: Request) -> list[Event]:
        """Everything that was reported so far; of a queued job also what it waits for."""
        if self.holds(request):
            return []
        job = self._job(request)
        try:
            events = self.backend.events(job)
        except KeyError:
            return []
        if events and events[-1].stage == "queued" and (wait := self.backend.wait_ahead(job)):
            words = gettext("waiting for a free worker")
            if wait.before:
                words = gettext("{count:,} before you", count=wait.before)
            if wait.seconds is not None:
                words = gettext("{clause}, {duration}", clause=words, duration=about(wait.seconds))
            events[-1] = replace(events[-1], note=words)
        return events

    def retry(self, request: Request) -> None:
        """Ask once more, after a failure."""
        with self._lock:
            self._final.pop(request.key, None)
            self._ids.pop(request.key, None)
            self._job(request)

    def _job(self, request: Request) -> str:
        with self._lock:
            if request.key not in self._ids:
                began = time.monotonic()
                job = self._ids[request.key] = self.backend.submit(
                    request, client=self.client, work=self.work(request),
                    time_limit=self.time_limit,
                )  # fmt: skip
                self._submitted[job] = began
            return self._ids[request.key]

    def _jobs(self) -> list[tuple[str, str]]:
        with self._lock:
            return list(self._ids.items())

    def _look(self, key: str, job: str, patience: float = 0.0) -> Event | None:
        if known := self._final.get(key):
            return known
        try:
            event = self.backend.wait(job, 0.0)
            if event is None and patience:
                with TURNS.waiting():
                    event = self.backend.wait(job, patience)
        except KeyError:
            said = gettext("This job was forgotten; ask again.")
            event = Event(number=1, stage="failed", note=said)
        if event is None or event.stage not in FINAL:
            return None
        with self._lock:
            current, began = self._ids.get(key) == job, self._submitted.pop(job, None)
            if event.stage == "cancelled" and event.facts.get("abandoned"):
                if current:
                    del self._ids[key]  # this session was away, and asks once more
                return None
            if current:
                self._final[key] = event
        if began is not None and event.stage == "done":
            note_wait(self.page, "result", time.monotonic() - began)
        return event
