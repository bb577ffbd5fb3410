"""How long a training will still take, from the steps that it has done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from attention_plugins.training import Progress

_CHANGE = 0.1  # of the time left: a smaller correction is not worth a jump of the figure


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        self.total, self.count = self.total + value, self.count + 1

    @property
    def value(self) -> float:
        return self.total / self.count if self.count else 0.0


class TimeLeft:
    """Times steps from the end of one to the end of the next, so that the first is warm-up.

    What comes between the last step of an epoch and the first of the next is timed apart: the
    scoring of held-out sentences, and the storing of the model. Before the first epoch has ended
    it is not known, and left out.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._step, self._evaluation = _Mean(), _Mean()
        self._before: tuple[float, bool] | None = None  # when a step ended, and an epoch with it
        self._end: float | None = None  # of the training, as it was last estimated

    def after(self, now: Progress) -> dict[str, float | None]:
        """Note a step that has just ended.

        Returns:
            ``seconds_left`` until the end of the training, steady from step to step, and
            ``seconds_whole`` of the training from its first step; None after a single step.
        """
        at = self._clock()
        if self._before:
            began, crossed = self._before
            if not crossed:
                self._step.add(at - began)
            elif self._step.count:
                self._evaluation.add(max(0.0, at - began - self._step.value))
        self._before = at, now.step == now.steps
        if not self._step.count:
            return {"seconds_left": None, "seconds_whole": None}
        epoch = now.steps * self._step.value + self._evaluation.value
        done = (now.epoch - 1) * epoch + now.step * self._step.value
        whole = now.epochs * epoch
        return {"seconds_left": self._steady(whole - done, at), "seconds_whole": whole}

    def _steady(self, left: float, at: float) -> float:
        end = at + left
        if self._end is None or abs(end - self._end) > _CHANGE * max(left, 1.0):
            self._end = end
        return max(0.0, self._end - at)
