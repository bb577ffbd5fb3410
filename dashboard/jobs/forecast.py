"""How long a waiting job will wait, from what runs and what is served before it."""

from __future__ import annotations

from collections.abc import Callable

from dashboard.jobs.backend import Wait
from dashboard.jobs.fair_queue import FairQueue
from dashboard.jobs.job import Computation

_UNKNOWN = 1.0  # seconds, where only the order counts


def forecast(
    queue: FairQueue,
    computation: Computation,
    estimate: Callable[[Computation], float | None],
    now: float,
) -> Wait | None:
    """Serve a copy of the queue until it is a computation's turn.

    Args:
        queue: of the pool; it is not changed.
        computation: which waits in it.
        estimate: returns the seconds that a computation takes, or None.
        now: in monotonic seconds.

    Returns:
        What is before it; None if it is not served at all. There are no seconds where a
        computation before it is of unknown length, or has run longer than was estimated.
    """
    queue = queue.copy()
    served, known, clock = 0, True, 0.0
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
            if taken is computation:
                return Wait(before=served, seconds=clock if known else None)
            served += 1
            begin(taken, 0.0)
        if not ends:
            return None
        clock, ended = min(ends, key=lambda one: one[0])
        ends.remove((clock, ended))
        queue.end(ended)
