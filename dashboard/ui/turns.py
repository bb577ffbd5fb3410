"""Pages are drawn in turn: the session that has drawn least comes first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

LONGEST = 0.5  # seconds after which the next session draws beside one that is not done
_HALF_LIFE = 5.0  # seconds in which what a session has drawn counts half
_FORGOTTEN = 1e-3  # seconds of drawing that no longer count


class _Turn:
    """Of one script of a session, which waits or draws."""

    def __init__(self, session: str, order: int) -> None:
        self.session, self.order = session, order
        self.granted = threading.Event()
        self.began = self.spent = 0.0


class Turns:
    """Lets one script draw at a time; what waits for a worker meanwhile lets others draw.

    Scripts that draw at once only share one interpreter lock, and with ten of them the thread
    that talks to browsers hardly gets it. Someone whose every key draws a page waits behind those
    who have drawn less, and loses nothing: of several keys the last one is drawn.

    Args:
        clock: monotonic seconds.
        processor: seconds that the present thread has computed.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock, self._processor = clock, processor
        self._lock = threading.Lock()
        self._waiting: list[_Turn] = []
        self._drawing: list[_Turn] = []
        self._drawn: dict[str, tuple[float, float]] = {}  # by session: seconds, and when counted
        self._orders = count()
        self._own = threading.local()

    @contextmanager
    def drawing(self, session: str) -> Iterator[None]:
        """Wait for the session's turn, and have it until the end of the context."""
        turn = self._own.turn = _Turn(session, next(self._orders))
        self._begin(turn)
        try:
            yield
        finally:
            self._own.turn = None
            self._end(turn)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let others draw while this thread waits, if it has a turn."""
        turn = getattr(self._own, "turn", None)
        if turn is None:
            yield
            return
        self._end(turn)
        try:
            yield
        finally:
            turn.order = next(self._orders)
            self._begin(turn)

    def _begin(self, turn: _Turn) -> None:
        turn.granted.clear()
        with self._lock:
            self._waiting.append(turn)
            self._grant()
        while not turn.granted.wait(LONGEST):
            with self._lock:
                self._grant()
        turn.spent = self._processor()

    def _end(self, turn: _Turn) -> None:
        with self._lock:
            self._drawing.remove(turn)
            seconds = self._counted(turn.session) + self._processor() - turn.spent
            self._drawn[turn.session] = (seconds, self._clock())
            self._grant()

    def _grant(self) -> None:
        now = self._clock()
        if any(now - each.began < LONGEST for each in self._drawing) or not self._waiting:
            return
        for session in [each for each in self._drawn if self._counted(each) < _FORGOTTEN]:
            del self._drawn[session]
        turn = min(self._waiting, key=lambda each: (self._counted(each.session), each.order))
        self._waiting.remove(turn)
        turn.began = now
        self._drawing.append(turn)
        turn.granted.set()

    def _counted(self, session: str) -> float:
        """Seconds that a session has drawn of late."""
        seconds, at = self._drawn.get(session, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - at) / _HALF_LIFE)


TURNS = Turns()  # of this process, whose one interpreter lock they share
