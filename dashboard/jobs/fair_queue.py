"""The order in which waiting computations are served: in turn, one of each client.

A client is whoever asks: a session, or the owner of a training. Starts no thread and no process.
"""

import math
import time
from collections.abc import Callable, Iterator

from dashboard.jobs.backend import Wait
from dashboard.jobs.job import Computation

Estimate = Callable[[Computation], float | None]

_UNKNOWN = 1.0  # seconds, where only the order counts
_FEW = 8  # that wait: then the forecast is made for each look
_KEPT, _SHARE = 1.0, 0.05  # else seconds that it is kept, and the most of the time that goes to it


class Forecasts:
    """Forecasts for all that wait, made together and kept for a moment.

    Every page that waits looks several times a second. On a full server, forecasts of their own
    took two fifths of the time in which results are drawn. ``estimate`` returns the seconds that a
    computation takes, or None.
    """

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate
        self._found: dict[Computation, Wait] = {}
        self._kept_until = -math.inf

    def of(self, queue: "FairQueue", computation: Computation, now: float) -> Wait | None:
        """What a computation waits for; None if it came after the forecast that is kept."""
        if len(queue) <= _FEW or now >= self._kept_until:
            began = time.perf_counter()
            self._found = forecast(queue, self._estimate, now)
            self._kept_until = now + max(_KEPT, (time.perf_counter() - began) / _SHARE)
        return self._found.get(computation)


def forecast(queue: "FairQueue", estimate: Estimate, now: float) -> dict[Computation, Wait]:
    """Serve a copy of the queue until nothing waits; return what is before each that waits.

    What is not served at all is left out. There are no seconds where a computation before it is of
    unknown length, or has run longer than was estimated.
    """
    queue = queue.copy()
    found: dict[Computation, Wait] = {}
    known, clock = True, 0.0
    ends: list[tuple[float, Computation]] = []

    def begin(each: Computation, elapsed: float) -> None:
        nonlocal known
        seconds = estimate(each)
        left = None if seconds is None or seconds < elapsed else seconds - elapsed
        known = known and left is not None
        ends.append((clock + (_UNKNOWN if left is None else left), each))

    for each in queue.running:
        begin(each, now - each.started if each.started is not None else 0.0)
    while True:
        while len(ends) < queue.workers and queue.next():
            taken = queue.take()
            found[taken] = Wait(before=len(found), seconds=clock if known else None)
            begin(taken, 0.0)
        if not ends:
            return found
        clock, ended = min(ends, key=lambda one: one[0])
        ends.remove((clock, ended))
        queue.end(ended)


LONG_WORK, _RESERVED = 5.0, 60.0  # seconds
SERVER = ""  # the client that stands for the server itself; it is served first


class FairQueue:
    """Fair queueing over clients; the caller holds the pool's lock.

    Of the clients that wait, one with the fewest running computations is served. So while others
    wait a client has one running computation, unless there are more workers than clients. Among
    equals the lowest tag is served: the virtual time at which a computation came, or the tag of
    its client's one before, plus its cost. Virtual time is the service that every client has had
    so far if all had alike. With equal costs that is round robin; a cheap one comes before dear
    ones, and whoever waits is served in the end. A computation that several clients share is
    served in the turn of the first of them, and counts as theirs.

    Source: Demers, Keshav, Shenker 1989, Analysis and simulation of a fair queueing algorithm.

    Long computations may take every worker, and one of them gives way when short ones wait. For
    a minute all long ones then leave a worker free, and the one that gave way always does, so
    that it does so once at most.

    Args:
        workers: how many computations run at once.
        long_work: seconds from which on a computation is long, by its work or by its running;
            infinite where none gives way to another, and all count as equally dear.
    """

    def __init__(
        self, workers: int, long_work: float = LONG_WORK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.workers, self._long_work, self._clock = workers, long_work, clock
        self._reserved_until = -math.inf
        self._waiting: list[Computation] = []
        self._running: list[Computation] = []  # the last begun comes last
        self._virtual_time = 0.0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Computation]:
        return iter(self._waiting)

    @property
    def running(self) -> tuple[Computation, ...]:
        """Those that were taken and have not ended."""
        return tuple(self._running)

    def add(self, computation: Computation) -> None:
        """Put a computation with its jobs at the end of its clients' own lines."""
        self._waiting.append(computation)
        self.update()

    def update(self) -> None:
        """Take note of clients that joined or left a computation."""
        for each in self._waiting:
            for client in each.clients:
                if client not in each.tags:
                    each.tags[client] = self._last_tag(client) + each.cost
        for each in self._running:
            if each.clients and each.served not in each.clients:
                each.served = self._first(each)

    def next(self) -> Computation | None:
        """Return the computation that :meth:`take` would take."""
        able = [each for each in self._waiting if self._may_run(each)]
        return min(able, key=lambda each: self._rank(each, self._first(each)), default=None)

    def take(self) -> Computation:
        """Take the next computation out of the queue; it runs until :meth:`end`.

        LookupError: none can be taken now.
        """
        computation = self.next()
        if computation is None:
            raise LookupError("no computation can be taken now")
        computation.served = self._first(computation)
        self._waiting.remove(computation)
        self._running.append(computation)
        clients = {client for each in (*self._waiting, *self._running) for client in each.clients}
        self._virtual_time += computation.cost / len(clients)
        return computation

    def put_back(self, computation: Computation) -> None:
        """Queue a computation again that was taken; it is the next of its client."""
        self.end(computation)
        if computation.gave_way:
            self._reserved_until = self._clock() + _RESERVED
        self._waiting.insert(0, computation)
        self.update()

    def end(self, computation: Computation) -> None:
        """Forget a computation, whether it waited or ran."""
        for group in (self._waiting, self._running):
            if computation in group:
                group.remove(computation)
        self.update()

    def in_the_way(self) -> Computation | None:
        """Return the running computation that should give way to short ones that wait, if any."""
        now = self._clock()
        waits = any(not self._is_long(each) for each in self._waiting)
        full = 1 < self.workers <= len(self._running)
        if not (waits and full and all(self._is_long(each, now) for each in self._running)):
            return None
        leaving = any(each.stopping or each.giving_way for each in self._running)
        return None if leaving else self._running[-1]

    def copy(self) -> "FairQueue":
        """Return a queue of the same computations, to look ahead with."""
        made = FairQueue(self.workers, self._long_work, self._clock)
        made._reserved_until = self._reserved_until
        made._waiting, made._running = [*self._waiting], [*self._running]
        made._virtual_time = self._virtual_time
        return made

    def _may_run(self, computation: Computation) -> bool:
        reserved = self._is_long(computation) and self._clock() < self._reserved_until
        if not (reserved or computation.gave_way):
            return True
        return sum(self._is_long(each) for each in self._running) < self.workers - 1

    def _is_long(self, computation: Computation, now: float | None = None) -> bool:
        begun = computation.started
        has_taken = 0.0 if now is None or begun is None else now - begun
        return max(computation.work, has_taken) > self._long_work

    def _first(self, computation: Computation) -> str:
        return min(computation.clients, key=lambda client: self._rank(computation, client))

    def _rank(self, computation: Computation, client: str) -> tuple[bool, int, float]:
        running = sum(each.served == client for each in self._running)
        return client != SERVER, running, computation.tags.get(client, math.inf)

    def _last_tag(self, client: str) -> float:
        """That of the client's last computation; the virtual time at least."""
        own = (each.tags.get(client, 0.0) for each in (*self._waiting, *self._running))
        return max(self._virtual_time, *own, 0.0)
