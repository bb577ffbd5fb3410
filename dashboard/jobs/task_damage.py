"""What code of plugins did to the worker that ran it: torch changed for all, threads that spin."""

from __future__ import annotations

import inspect
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

_BUSY = 0.1  # of a core, while the worker waits; a thread that spins may get little of a full one


class Damage:
    """Compares this process with what it was before plugins from elsewhere ran in it.

    What is compared: the public functions of ``torch``, ``torch.nn.functional`` and ``Tensor``,
    the methods of ``torch.nn``'s modules, and torch's settings for the whole process. A plugin
    could change other things; this is a fence against accidents, not against an enemy.

    Attributes:
        watches: whether a plugin from elsewhere was loaded.
    """

    def __init__(self) -> None:
        self.watches = False
        self._at_start = dict(_state())
        self._at_load: dict[str, Any] = {}
        self._mark = (0.0, 0.0)

    def begin(self) -> None:
        """A plugin from elsewhere is about to be loaded."""
        self._at_load = dict(_state())
        self._at_start = self._at_start or self._at_load
        self.watches = True

    def of_loading(self) -> str:
        """What has been changed since :meth:`begin`, in a sentence; empty if nothing was."""
        return _change(self._at_load)

    def of_job(self) -> str:
        """What is left changed after a job, in a sentence; empty if nothing is."""
        return _change(self._at_start) if self.watches else ""

    def rest(self) -> None:
        """From now on the process should have nothing to do."""
        self._mark = (time.monotonic(), time.process_time())

    def spins(self) -> bool:
        """Whether something has computed since :meth:`rest`, or since this was asked last."""
        began, spent = self._mark
        self.rest()
        seconds = self._mark[0] - began
        return seconds > 0 and (self._mark[1] - spent) / seconds > _BUSY


def _change(before: Mapping[str, Any]) -> str:
    now = dict(_state())
    for name, value in before.items():
        if now.get(name) != value and not _wrapped_by_torch(now.get(name), value):
            return f"{name} was changed for everything that this process computes"
    return ""


def _wrapped_by_torch(now: Any, before: Any) -> bool:
    """Whether torch itself has put something around a function, as its compiler does."""
    folder = os.path.dirname(str(sys.modules["torch"].__file__))
    file = getattr(getattr(now, "__code__", None), "co_filename", "")
    return file.startswith(folder) and inspect.unwrap(now) is inspect.unwrap(before)


def threads() -> int:
    """How many threads this process has, Python's or not."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:  # not Linux
        return threading.active_count()


def _state() -> Iterator[tuple[str, Any]]:
    torch = sys.modules.get("torch")
    if torch is None:
        return
    functional = torch.nn.functional
    for owner, name in ((torch, "torch"), (functional, "torch.nn.functional")):
        for key, value in vars(owner).items():
            if not key.startswith("_") and inspect.isroutine(value):
                yield f"{name}.{key}", value
    for key in dir(torch.Tensor):
        value = getattr(torch.Tensor, key, None)
        if inspect.isroutine(value) and not inspect.ismethod(value):
            yield f"torch.Tensor.{key}", value
    for module, kind in vars(torch.nn).items():
        if inspect.isclass(kind) and issubclass(kind, torch.nn.Module):
            for key in ("forward", "__call__"):
                yield f"torch.nn.{module}.{key}", getattr(kind, key, None)
    yield "torch's default number type", torch.get_default_dtype()
    yield "torch's default device", str(torch.get_default_device())
    yield "torch's number of threads", torch.get_num_threads()
    yield "torch's choice of exact algorithms", torch.are_deterministic_algorithms_enabled()
    yield "torch's gradient mode", torch.is_grad_enabled()
