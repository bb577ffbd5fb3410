"""Durations without warm-up: what a worker does for the first time takes longest."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONG = 0.25  # seconds; what takes longer is not done again
_REPEATED, _ENOUGH = 5, 0.02  # times, and seconds for all of them


class StepClock:
    """Times the steps of learning; the first is warm-up.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._ends: list[float] = []

    def __call__(self) -> None:
        """Note the end of a step; the one before the first update counts from 0."""
        self._ends.append(self._clock())

    def seconds(self) -> float:
        """Of all updates, the first taken to be as long as the others; 0 without any."""
        updates = len(self._ends) - 1
        if updates < 1:
            return 0.0
        if updates == 1:
            return self._ends[1] - self._ends[0]
        return (self._ends[-1] - self._ends[1]) * updates / (updates - 1)


def again(
    action: Callable[[], object], first: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest duration of an action that has just been done for the first time, in seconds.

    The shortest, since whatever else the machine does only makes it longer.

    Args:
        action: done a few times more, where it is short.
        first: seconds that it took then.
        clock: in seconds.
    """
    found = [first]
    if first > _LONG:
        return first
    while len(found) <= _REPEATED and sum(found[1:]) < _ENOUGH:
        began = clock()
        action()
        found.append(clock() - began)
    return min(found)
