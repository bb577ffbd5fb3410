"""A worker's two channels: messages to its pool, and messages from it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from queue import SimpleQueue
from typing import IO, Any

from dashboard.jobs import wire
from dashboard.records.request import Request

_SECONDS_BETWEEN_REPORTS = 1 / 30


class Outbox:
    """Messages to the pool; at most one progress report every 1/30 s, and then the newest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._pending: dict[str, Any] | None = None
        self._due = 0.0
        threading.Thread(target=self._send_pending, name="reports", daemon=True).start()

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Write a message now, after the pending report."""
        with self._changed:
            self._flush()
            wire.write(self._stream, header, payload)

    def report(self, header: dict[str, Any]) -> None:
        """Write a report now or soon; it replaces the pending one."""
        with self._changed:
            self._pending = header
            if time.monotonic() >= self._due:
                self._flush()
            else:
                self._changed.notify()

    def _flush(self) -> None:
        report, self._pending = self._pending, None
        if report is not None:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REPORTS
            wire.write(self._stream, report)

    def _send_pending(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending is not None)
                delay = self._due - time.monotonic()
                if delay <= 0:
                    self._flush()
            time.sleep(max(0.0, delay))


class Inbox:
    """Messages from the pool, read in a thread of its own so that a stop is noticed at once.

    The process exits when the stream ends or carries something that is not a message.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._stopped: set[int] = set()
        self.requests: SimpleQueue[tuple[int, Request]] = SimpleQueue()
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def stopped(self, attempt: int) -> bool:
        """Whether the pool asked for the attempt with that number to stop."""
        return attempt in self._stopped

    def _read(self) -> None:
        try:
            while True:
                header, _ = wire.read(self._stream)
                if header["type"] == "stop":
                    self._stopped.add(header["attempt"])
                else:
                    request = Request.from_json(header["request"])
                    self.requests.put((header["attempt"], request))
        finally:  # nobody would read an answer
            os._exit(0)
