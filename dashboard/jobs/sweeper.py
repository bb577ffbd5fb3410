"""Keeps the workers free for sessions that are there: ends the jobs of those that are gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dashboard.jobs.backend import JobBackend

_LOOKS = 5  # within the time that a session may be away
_LONGEST_PAUSE = 1.0  # seconds between two looks


class Sweeper:
    """Looks at every client with unfinished jobs, in a thread once :meth:`start` was called.

    Args:
        backend: whose jobs these are.
        connected: whether a client is there.
        seconds: that a client may be away. A page that is loaded again is another session, which
            asks for the same results; within this time it finds them still being computed.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        backend: JobBackend,
        connected: Callable[[str], bool],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend, self._connected, self._seconds = backend, connected, seconds
        self._clock = clock
        self._gone: dict[str, float] = {}  # since when
        self._closed = threading.Event()

    def sweep(self) -> None:
        """End the jobs of those who have been away too long, and make room for short ones."""
        now = self._clock()
        away = [client for client in self._backend.clients() if not self._connected(client)]
        self._gone = {client: self._gone.get(client, now) for client in away}
        for client, since in self._gone.items():
            if now - since >= self._seconds:
                self._backend.leave(client)
        self._backend.make_room()

    def start(self) -> None:
        """Look again and again until :meth:`close`."""
        threading.Thread(target=self._run, name="sweeper", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(min(_LONGEST_PAUSE, self._seconds / _LOOKS)):
            self.sweep()
