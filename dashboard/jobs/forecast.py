"""How long waiting jobs will wait, from what runs and what is served before them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dashboard.jobs.backend import Wait
from dashboard.jobs.fair_queue import FairQueue
from dashboard.jobs.job import Computation

Estimate = Callable[[Computation], float | None]

_UNKNOWN = 1.0  # seconds, where only the order counts
_FEW = 8  # that wait: then the forecast is made for each look
_KEPT, _SHARE = 1.0, 0.05  # else seconds that it is kept, and the most of the time that goes to it


class Forecasts:
    """Forecasts for all that wait, made together and kept for a moment.

    Every page that waits looks several times a second. On a full server, forecasts of their own
    took two fifths of the time in which results are drawn.

    Args:
        estimate: returns the seconds that a computation takes, or None.
    """

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate
        self._found: dict[Computation, Wait] = {}
        self._kept_until = -math.inf

    def of(self, queue: FairQueue, computation: Computation, now: float) -> Wait | None:
        """What a computation waits for; None if it came after the forecast that is kept.

        Args:
            queue: of the pool; it is not changed.
            now: in monotonic seconds.
        """
        if len(queue) <= _FEW or now >= self._kept_until:
            began = time.perf_counter()
            self._found = forecast(queue, self._estimate, now)
            taken = time.perf_counter() - began
            self._kept_until = now + max(_KEPT, taken / _SHARE)
        return self._found.get(computation)


def forecast(queue: FairQueue, estimate: Estimate, now: float) -> dict[Computation, Wait]:
    """Serve a copy of the queue until nothing waits.

    Args:
        queue: of the pool; it is not changed.
        estimate: returns the seconds that a computation takes, or None.
        now: in monotonic seconds.

    Returns:
        What is before each that waits; what is not served at all is left out. There are no
        seconds where a computation before it is of unknown length, or has run longer than was
        estimated.
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
