"""A worker's process: what it imports first, what results are made with, what plugins do to it."""

import functools
import inspect
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from dashboard.records.request import Result

_ROOT = Path(__file__).parents[2]
_PATIENCE = 10.0  # seconds
_BUSY = 0.1  # of a core, while the worker waits; a thread that spins may get little of a full one


def import_torch() -> None:
    """Import what every task needs: torch, and what the first Arrow table imports."""
    _make_a_table()
    with suppress(Exception):  # without torch each job still fails with a sentence of its own
        import torch  # noqa: F401


class _NoPandas(MetaPathFinder):
    """Finds no pandas, as if it were not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """None for all else, which others find."""
        if fullname == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")


def _make_a_table() -> None:
    """Make the first Arrow table without pandas.

    With its first array pyarrow imports pandas where it can, 45 MB and a third of a second, to
    know its objects; it asks once. No task has any. A plugin may import pandas as it likes, and
    arrays of it are made all the same.
    """
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
        Result().to_bytes()
    finally:
        sys.meta_path.remove(hidden)


def environment() -> dict[str, Any]:
    """Return the versions of the contract and of torch, torch's threads, and the source's commit.

    The commit is empty where the source is no git checkout.
    """
    import torch

    from attention_plugins.contract import CONTRACT_VERSION

    return {
        "contract": ".".join(map(str, CONTRACT_VERSION)), "torch": str(torch.__version__),
        "threads": torch.get_num_threads(), "commit": _commit(),
    }  # fmt: skip


@functools.cache
def _commit() -> str:
    if not (_ROOT / ".git").exists():
        return ""
    command = ["git", "--no-optional-locks", "-C", str(_ROOT), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()


class Damage:
    """Compares this process with what it was before plugins from elsewhere ran in it.

    What is compared: the public functions of ``torch``, ``torch.nn.functional`` and ``Tensor``,
    the methods of ``torch.nn``'s modules, and torch's settings for the whole process. A plugin
    could change other things; this is a fence against accidents, not against an enemy. It
    ``watches`` once a plugin from elsewhere was loaded.
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
    for owner, name in ((torch, "torch"), (torch.nn.functional, "torch.nn.functional")):
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
