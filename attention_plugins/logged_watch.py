"""The watch over a training loop, which logs some of the model's calls and is idle in between."""

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from attention_plugins.attention_log import log_attention

if TYPE_CHECKING:
    from attention_plugins.model_watch import Watch


class LoggedWatch:
    """What ``watch(model, log=folder, every=100)`` gives; it sees only the thread that entered it.

    Every call of the model counts, from 0, and each hundredth is logged under its number. A call
    inside a call of the model does not count.

    Attributes:
        calls: how many there were.
        step: set by a loop that counts by itself: then each hundredth of its steps is logged, at
            the first call in it. None where calls count.
    """

    def __init__(
        self, model: nn.Module, folder: str | Path, every: int, make: "Callable[[], Watch]"
    ) -> None:
        if every < 1:
            raise ValueError(f"watch: need 1 <= every, got {every}")
        make()  # refuses now what does not fit
        self.calls = 0
        self.step: int | None = None
        self._model, self._folder, self._every, self._make = model, folder, every, make
        self._hooks: list[Any] = []
        self._thread = self._depth = 0
        self._last = -1
        self._watch: Watch | None = None

    def __enter__(self) -> "LoggedWatch":
        if self._hooks:
            raise RuntimeError("this watch is in use: call watch(model, log=...) once more")
        with self._make():  # refuses what is compiled before the loop begins
            self._thread = threading.get_ident()
        self._hooks = [
            self._model.register_forward_pre_hook(self._before),
            self._model.register_forward_hook(self._after, always_call=True),
        ]
        return self

    def __exit__(self, *error: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def begin(self, step: int) -> None:
        """Watch until :meth:`end` what this thread runs, if this step is to be logged.

        For loops that do not call the model itself; it need not be entered for them.
        """
        if step % self._every == 0 and step != self._last and _is_first():
            self._last, self._watch = step, self._make()
            self._watch.__enter__()

    def end(self, *, logs: bool = True) -> None:
        """Log what was seen since :meth:`begin`, unless something was raised meanwhile."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.__exit__(None, None, None)
            if logs:
                _log_or_warn(self._folder, self._last, watch)

    def _before(self, module: nn.Module, args: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        self._depth += 1
        if self._depth == 1:
            self.begin(self.calls if self.step is None else self.step)
            if self._watch is not None:  # its hooks are too late for the call that goes on
                self._watch.before(module, args)

    def _after(self, module: nn.Module, args: Any, output: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        self._depth -= 1
        if self._depth:
            return
        self.calls += 1
        self.end(logs=output is not None)  # which it is where the call raised


def _is_first() -> bool:
    """Whether this process is the only one of a training, or the first of several."""
    distributed = torch.distributed
    together = distributed.is_available() and distributed.is_initialized()
    return not together or distributed.get_rank() == 0


def _log_or_warn(folder: str | Path, step: int, seen: Any) -> None:
    """Log a step; no log is a reason to end a training."""
    try:
        log_attention(folder, step, seen)
    except (OSError, ValueError) as error:
        warnings.warn(f"attention was not logged: {error}", stacklevel=2)
