"""One attention step taken apart; the masked softmax, the root and a landscape beside it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from dashboard.runs import anatomy_view
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks import anatomy_landscape, anatomy_mask, anatomy_root, anatomy_step
from dashboard.tasks.anatomy_inputs import double
from dashboard.tasks.context import Context

_PARTS: dict[str, Callable[[Request, Context], Result]] = {
    anatomy_view.STEP: anatomy_step.perform,
    anatomy_view.MASK: anatomy_mask.perform,
    anatomy_view.ROOT: anatomy_root.perform,
    anatomy_view.LANDSCAPE: anatomy_landscape.perform,
}


def perform(request: Request, context: Context) -> Result:
    """Whatever the option ``part`` names; see the module of each.

    Raises:
        ValueError: an unknown part, scoring, model or option; numbers or lengths that do not
            fit; a scoring that gives scores of another shape.
        Cancelled: the job was stopped.
    """
    part = dict(request.options).get("part", anatomy_view.STEP)
    if part not in _PARTS:
        raise ValueError(f"no part {part!r}; there are {', '.join(_PARTS)}")
    context.report(0.1, "reading the numbers")
    with torch.random.fork_rng(devices=[]), double():
        torch.manual_seed(request.seed)
        return _PARTS[part](request, context)
