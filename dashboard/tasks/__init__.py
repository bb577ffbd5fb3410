"""Request in, result out: the only code of the dashboard that imports torch. Runs in workers.

A task raises ``ValueError`` (``ContractError`` is one) with one sentence for input that it
refuses; the page shows that sentence in the panel. Any other exception is a fault, shown with
its last line and the plugin to blame where one is known.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks.context import Context

# Modules, imported when first asked for: a worker that only lists plugins loads no translation.
TASKS = {
    "alignment": "dashboard.tasks.alignment",
    "anatomy": "dashboard.tasks.anatomy",
    "catalogue": "dashboard.tasks.catalogue",
    "complexity": "dashboard.tasks.complexity",
    "conformance": "dashboard.tasks.conformance",
    "heads": "dashboard.tasks.heads",
    "norms": "dashboard.tasks.norms",
    "positions": "dashboard.tasks.positions",
    "regression": "dashboard.tasks.regression",
    "training": "dashboard.tasks.training",
    "translation": "dashboard.tasks.translation",
}


def perform(request: Request, context: Context) -> Result:
    """Work on a request until its result.

    Raises:
        ValueError: an unknown task, or input that the task refuses.
    """
    if request.task not in TASKS:
        raise ValueError(f"no task {request.task!r}; there are {', '.join(TASKS)}")
    return importlib.import_module(TASKS[request.task]).perform(request, context)


def watch(
    tell: Callable[[Mapping[str, Any] | None], None], quarantined: Iterable[Mapping[str, str]]
) -> None:
    """Have plugins announced before their code is loaded; see ``attention_plugins.watching``."""
    with suppress(Exception):  # without torch a worker still says what is missing, job by job
        from attention_plugins import watching

        watching.watch(tell, quarantined)
