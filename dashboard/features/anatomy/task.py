"""One attention step taken apart; the masked softmax, the root and a landscape beside it."""

from __future__ import annotations

from collections.abc import Callable

from attention_plugins.randomness import seeded
from dashboard.features.anatomy import task_landscape, task_mask, task_root, task_step
from dashboard.features.anatomy.state import LANDSCAPE, MASK, ROOT, STEP
from dashboard.features.anatomy.task_inputs import double
from dashboard.jobs.context import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.result import Result

_PARTS: dict[str, Callable[[Request, Context], Result]] = {
    STEP: task_step.perform,
    MASK: task_mask.perform,
    ROOT: task_root.perform,
    LANDSCAPE: task_landscape.perform,
}


def perform(request: Request, context: Context) -> Result:
    """Whatever the option ``part`` names; see the module of each.

    Raises:
        ValueError: an unknown part, scoring, model or option; numbers or lengths that do not
            fit; a scoring that gives scores of another shape.
        Cancelled: the job was stopped.
    """
    part = str(dict(request.options).get("part", STEP))
    if part not in _PARTS:
        raise ValueError(f"no part {part!r}; there are {', '.join(_PARTS)}")
    context.report(0.1, gettext_noop("reading the numbers"))
    with seeded(request.seed), double():
        return _PARTS[part](request, context)
