"""The tasks that a worker can perform, each a function from a request to its result.

A task raises ``ValueError`` (``ContractError`` is one) with one sentence for input that it
refuses; the page shows that sentence in the panel. Any other exception is an error of the task or
of a plugin, shown with its last line and the plugin that raised it, where known.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Protocol

from dashboard import features
from dashboard.records.request import Request, Result


class Cancelled(Exception):
    """Raised inside a task whose job was cancelled."""


class Context(Protocol):
    """The worker's side of a job."""

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
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


def _modules() -> dict[str, str]:
    """The modules of the catalogue, of formulas, and ``task.py`` of every feature that has one."""
    folders = (each.name for each in iter_modules(features.__path__) if each.ispkg)
    found = {name: f"{features.__name__}.{name}.task" for name in folders}
    own = {name: module for name, module in found.items() if find_spec(module)}
    return {
        CATALOGUE: "dashboard.jobs.task_catalogue",
        "formula": "dashboard.jobs.task_formula",
        **own,
    }


# By the name of its task, a module that has ``perform(request, context)``, imported when it is
# first asked for. What the catalogue says of the task stands beside it, in ``task_offer.py``.
TASKS = _modules()


def perform(request: Request, context: Context) -> Result:
    """Compute the result of a request, and note what it was made with.

    Raises:
        ValueError: an unknown task, or input that the task refuses.
    """
    if request.task not in TASKS:
        raise ValueError(f"no task {request.task!r}; there are {', '.join(TASKS)}")
    result = importlib.import_module(TASKS[request.task]).perform(request, context)
    if request.task == CATALOGUE:
        return result
    from dashboard.jobs.task_environment import environment  # torch is loaded by now

    return replace(result, facts={"environment": environment(), **result.facts})


def watch(
    report: Callable[[Mapping[str, Any] | None], None], quarantined: Iterable[Mapping[str, str]]
) -> None:
    """Report each plugin before its code is loaded; see ``attention_plugins.watching``."""
    with suppress(Exception):  # without torch each job still fails with a sentence of its own
        from attention_plugins import watching

        watching.watch(report, quarantined)
