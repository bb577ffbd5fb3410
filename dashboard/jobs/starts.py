"""When a crew that serves may start one more worker."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

_MAX_FAILURES = 3


class Starts:
    """The starts of a crew's workers.

    Args:
        head_start: the first worker has the machine to itself until it has taken no new job for
            so many seconds, since it waits or has a long one; at most four times as long.
        clock: monotonic seconds.
    """

    def __init__(self, head_start: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._head_start, self._clock = head_start, clock
        self._accepted: list[float] = []  # when a worker took the first job, and the last
        self._failures = 0  # in a row

    @property
    def given_up(self) -> bool:
        """Whether so many workers in a row could not be started that no other is."""
        return self._failures >= _MAX_FAILURES

    def note_job(self, *, counts: bool) -> None:
        """A worker has accepted a job.

        Args:
            counts: whether the worker is one of those that stay.
        """
        self._failures = 0
        if counts:
            self._accepted = [*self._accepted[:1], self._clock()]

    def note_failure(self) -> None:
        """A worker could not be started, or ended before it accepted a job."""
        self._failures += 1

    def try_again(self) -> None:
        """Start workers again if that was given up."""
        if self.given_up:
            self._failures = 0

    def begin(self) -> None:
        """All workers are replaced, so one is the first again."""
        self._accepted = []

    def seconds_until_next(self) -> float:
        """Until one more worker may start beside the first; infinite before its first job."""
        if not self._accepted:
            return math.inf
        latest = self._accepted[0] + 4 * self._head_start
        return min(self._accepted[-1] + self._head_start, latest) - self._clock()
