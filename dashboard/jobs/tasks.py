"""The tasks that a worker can perform, each a function from a request to its result.

A task raises ``ValueError`` (``ContractError`` is one) with one sentence for input that it
refuses; the page shows that sentence in the panel. Any other exception is an error of the task or
of a plugin, shown with its last line and the plugin that raised it, where known.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

from dashboard.jobs.task_process import environment
from dashboard.pages import Entry, brought, own
from dashboard.records.request import Request, Result
from dashboard.records.sweep import SWEEP

Facts = Mapping[str, Any]


class Cancelled(Exception):
    """Raised inside a task whose job was cancelled."""


class Context(Protocol):
    """The worker's side of a job."""

    def report(self, fraction: float, note: str = "", facts: Facts | None = None) -> None:
        """Publish the job's progress.

        Args:
            fraction: of the work done, 0 to 1.
            note: one sentence for the reader.
            facts: live figures that fit in JSON.

        Raises:
            Cancelled: the job was cancelled.
        """

    def stopped(self) -> bool:
        """Whether the job was cancelled."""
        ...


CATALOGUE = "catalogue"

# By the name of its task, a module that has ``perform(request, context)``, imported when it is
# first asked for. What the catalogue says of the task stands beside it, in ``task_offer.py``.
TASKS = {
    CATALOGUE: "dashboard.jobs.task_catalogue",
    "formula": "dashboard.jobs.task_formula",
    SWEEP: "dashboard.jobs.task_sweep",
    **{
        entry.name: f"{entry.module}.task"
        for entry in sorted(own(), key=lambda entry: entry.name)
        if find_spec(f"{entry.module}.task")
    },
}

_LARGE = {"race", "runs"}  # they bring libraries of 75 MB and more than a second


def prepare() -> Iterator[None]:
    """Import what most requests need, a part at each step, so that none is the first to wait."""
    modules = [module for name, module in TASKS.items() if name not in _LARGE]
    for step in [*(partial(importlib.import_module, module) for module in modules), environment]:
        with suppress(Exception):  # the job that needs it says what is missing
            step()
        yield


def perform(request: Request, context: Context) -> Result:
    """Compute the result of a request, and note what it was made with.

    ValueError: an unknown task, or input that the task refuses.
    """
    pages = {entry.name: entry for entry in brought()}
    if request.task in pages:
        module = load(pages[request.task], "task")
    elif request.task in TASKS:
        module = importlib.import_module(TASKS[request.task])
    else:
        raise ValueError(f"no task {request.task!r}; there are {', '.join([*TASKS, *pages])}")
    result = module.perform(request, context)
    if request.task == CATALOGUE:
        return result
    return replace(result, facts={"environment": environment(), **result.facts})


def load(entry: Entry, part: str) -> ModuleType:
    """Import a module of a page from elsewhere in a worker, which reports whose code it loads.

    ValueError: an earlier worker did not survive the page's modules.
    """
    from attention_plugins import watching

    name = f"{entry.module}.{part}"
    if name in sys.modules:
        return sys.modules[name]
    if reason := watching.quarantined(entry):
        raise ValueError(reason)
    with watching.running(entry):
        return importlib.import_module(name)


def watch(
    report: Callable[[Mapping[str, Any] | None], None], quarantined: Iterable[Mapping[str, str]]
) -> None:
    """Report each plugin before its code is loaded; see ``attention_plugins.watching``."""
    with suppress(Exception):  # without torch each job still fails with a sentence of its own
        from attention_plugins import watching

        watching.watch(report, quarantined)
