"""The training loss by step, thinned to what a chart can show."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from statistics import fmean

from attention_plugins.training import Progress

_POINTS = 400  # of a whole training
_SECONDS_BETWEEN = 1.0  # pages look once a second

Keep = Callable[[Sequence[tuple[int, float]]], None]


class Losses:
    """Hands on the first step's loss, and after that the mean of every few steps.

    Args:
        keep: takes steps, counted from 1 over all epochs, with their losses in nats per token.
        clock: in seconds.
    """

    def __init__(self, keep: Keep, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep, self._clock = keep, clock
        self._points: list[tuple[int, float]] = []
        self._since: list[float] = []  # the losses of the steps since the last point
        self._kept = -math.inf

    def add(self, now: Progress) -> None:
        """Note a step."""
        self._since.append(now.step_loss)
        step, total = (now.epoch - 1) * now.steps + now.step, now.epochs * now.steps
        if step % math.ceil(total / _POINTS) == 0 or step in (1, total):
            self._points.append((step, fmean(self._since)))
            self._since = []
        if self._clock() - self._kept >= _SECONDS_BETWEEN:
            self.flush()

    def flush(self) -> None:
        """Hand on what was not yet."""
        if self._points:
            self._keep(self._points)
            self._points, self._kept = [], self._clock()
