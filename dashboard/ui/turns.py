"""Pages are drawn in turn; a session that has drawn much of late comes after the others."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

LONGEST = 0.5  # seconds after which the next session draws beside one that is not done
SOON = 0.4  # seconds; a session that asks again within them is in a hurry, as with every key
_HALF_LIFE = 5.0  # seconds in which what a session has drawn counts half
_USUAL = 0.4  # seconds of drawing, of some pages; with less, whoever asks first comes first
_FORGOTTEN = 1e-3  # seconds of drawing that no longer count
_REST = 2.0  # times what one in a hurry has drawn, for each other session that asks just then
_LONGEST_REST = 2.0  # seconds


class _Turn:
    def __init__(self, session: str, order: int, hurries: bool) -> None:
        self.session, self.order, self.hurries = session, order, hurries
        self.granted = threading.Event()
        self.admitted = False
        self.asked = self.began = self.spent = 0.0


class Turns:
    """Lets one script draw at a time; what waits for a worker meanwhile lets others draw.

    Scripts that draw at once only share one interpreter lock, and with ten of them the thread
    that talks to browsers hardly gets it. Someone whose every key draws a page waits behind all
    others, and rests between two pages while others ask for theirs, so that all those in a hurry
    together draw about half of the time. They lose nothing: of several keys the last is drawn.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.thread_time,
    ) -> None:  # fmt: skip
        self._clock, self._processor = clock, processor
        self._lock = threading.Lock()
        self._waiting: list[_Turn] = []
        self._drawing: list[_Turn] = []
        self._drawn: dict[str, tuple[float, float]] = {}  # by session: seconds, and when counted
        self._asked: dict[str, float] = {}  # by session: when its browser last asked for a page
        self._newest: dict[str, _Turn] = {}  # by session
        self._rested: dict[str, float] = {}  # by session in a hurry: when its next page may begin
        self._orders = count()
        self._own = threading.local()

    @property
    def waiters(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def drawing(self, session: str) -> Iterator[None]:
        """Wait for the session's turn, and have it until the end of the context.

        A script of the same session that is not done has been told to stop: it waits no longer,
        and stops at what it draws next.
        """
        with self._lock:
            turn = _Turn(session, next(self._orders), self._hurries(session))
            self._newest[session] = self._own.turn = self._own.last = turn
        self._begin(turn)
        try:
            yield
        finally:
            self._own.turn = None
            self._end(turn)
            with self._lock:
                if self._newest.get(session) is turn:
                    del self._newest[session]

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let others draw while this thread waits, if it has a turn."""
        turn = getattr(self._own, "turn", None)
        if turn is None:
            yield
            return
        self._end(turn)
        self._own.turn = None
        try:
            yield
        finally:
            self._own.turn, turn.order = turn, next(self._orders)
            self._begin(turn)

    def _hurries(self, session: str) -> bool:
        """Whether the session's browser has asked a moment ago; a page may draw itself again."""
        last: _Turn | None = getattr(self._own, "last", None)
        if last is not None and last.session == session:
            return last.hurries
        now = self._clock()
        self._asked = {name: at for name, at in self._asked.items() if now - at < SOON}
        hurries, self._asked[session] = session in self._asked, now
        return hurries

    def _begin(self, turn: _Turn) -> None:
        turn.granted.clear()
        turn.asked = self._clock()
        with self._lock:
            self._waiting.append(turn)
            pause = self._look(turn)
        while not turn.granted.wait(pause):
            with self._lock:
                pause = self._look(turn)
        turn.spent = self._processor()

    def _end(self, turn: _Turn) -> None:
        with self._lock:
            now = self._clock()
            self._drawing.remove(turn)
            seconds = self._counted(turn.session, now) + self._processor() - turn.spent
            self._drawn[turn.session] = (seconds, now)
            if turn.hurries:
                others = (at for name, at in self._asked.items() if name != turn.session)
                asking = sum(now - at < SOON for at in others)  # a moment ago
                rest = _REST * (now - turn.began) * asking
                until = max(self._rested.get(turn.session, now), now) + rest
                self._rested[turn.session] = min(until, now + _LONGEST_REST)
            self._grant(now)

    def _look(self, turn: _Turn) -> float:
        """Give turns to those that are due; seconds until this one should look again."""
        now = self._clock()
        self._grant(now)
        rest = self._rest(turn, now)
        return min(rest, LONGEST) if rest > 0 else LONGEST

    def _grant(self, now: float) -> None:
        for turn in [*self._waiting]:
            if self._newest.get(turn.session) is not turn:
                self._give(turn, now)
        if any(now - each.began < LONGEST for each in self._drawing):
            return
        for session in [each for each in self._drawn if self._counted(each, now) < _FORGOTTEN]:
            del self._drawn[session]
        self._rested = {name: until for name, until in self._rested.items() if until > now}
        if able := [turn for turn in self._waiting if self._rest(turn, now) <= 0]:
            self._give(min(able, key=lambda turn: self._place(turn, now)), now)

    def _place(self, turn: _Turn, now: float) -> tuple[bool, float, int]:
        """What turns are ordered by: one in a hurry yields, but not for ever on a full server."""
        yields = turn.hurries and now - turn.asked < _LONGEST_REST
        return yields, max(_USUAL, self._counted(turn.session, now)), turn.order

    def _give(self, turn: _Turn, now: float) -> None:
        self._waiting.remove(turn)
        self._drawing.append(turn)
        turn.began, turn.admitted = now, True
        turn.granted.set()

    def _rest(self, turn: _Turn, now: float) -> float:
        """Seconds until a turn may begin, if those that draw let it."""
        begins = turn.hurries and not turn.admitted
        return self._rested.get(turn.session, now) - now if begins else 0.0

    def _counted(self, session: str, now: float) -> float:
        """Seconds that a session has drawn of late."""
        seconds, at = self._drawn.get(session, (0.0, 0.0))
        return seconds * 0.5 ** ((now - at) / _HALF_LIFE)


TURNS = Turns()  # of this process, whose one interpreter lock they share
