"""The jobs of one page in one session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from dashboard.jobs.backend import FINAL, Event, JobBackend
from dashboard.records.request import Request
from dashboard.records.result import Result


class Jobs:
    """What one page of one session has asked for, by request.

    A run that is interrupted may still be in here when the next one begins, hence the lock, and
    hence a request that is asked about without being wanted is submitted once more.

    Args:
        backend: where requests are submitted.
        generation: changes when plugins are reloaded; what was computed before is then forgotten.
    """

    def __init__(self, backend: JobBackend, generation: Callable[[], int]) -> None:
        self._backend = backend
        self._current_generation = generation
        self._lock = threading.RLock()
        self._generation = generation()
        self._ids: dict[str, str] = {}
        self._final: dict[str, Event] = {}

    def want(self, requests: Iterable[Request]) -> None:
        """Ask for these results, and cancel this page's jobs for anything else."""
        with self._lock:
            if self._generation != self._current_generation():
                self._generation = self._current_generation()
                self._ids.clear()
                self._final.clear()
            wanted = {request.key: request for request in requests}
            for key in self._ids.keys() - wanted.keys():
                self._final.pop(key, None)
                self._backend.cancel(self._ids.pop(key))
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

    def final(self, request: Request, patience: float = 0.0) -> Event | None:
        """How the job ended, or None while it has not.

        Args:
            patience: seconds to wait for its end.
        """
        return self._look(request.key, self._job(request), patience)

    def done(self) -> list[Result]:
        """Every result that there is so far; panels share one scale by it."""
        events = [self._look(*job) for job in self._jobs()]
        return [event.result for event in events if event and event.result]

    def progress(self, request: Request) -> list[Event]:
        """Everything that was reported so far."""
        try:
            return self._backend.events(self._job(request))
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
                self._ids[request.key] = self._backend.submit(request)
            return self._ids[request.key]

    def _jobs(self) -> list[tuple[str, str]]:
        with self._lock:
            return list(self._ids.items())

    def _look(self, key: str, job: str, patience: float = 0.0) -> Event | None:
        if known := self._final.get(key):
            return known
        try:
            event = self._backend.wait(job, patience)
        except KeyError:
            event = Event(number=1, stage="failed", note="This job was forgotten; ask again.")
        if event is None or event.stage not in FINAL:
            return None
        with self._lock:
            if self._ids.get(key) == job:
                self._final[key] = event
        return event
