"""What is installed here: the plugins, what they offer, and the devices to compute on."""

from __future__ import annotations

from typing import Any

from attention_plugins.catalogue import catalogue, describe
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.refusal import let_go
from attention_plugins.registry import Registry, installed
from attention_plugins.watching import running
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks import (
    alignment,
    complexity,
    norms,
    positions,
    regression,
    training_order,
    translation,
)
from dashboard.tasks.context import Context

_TASKS = {
    "alignment": alignment,
    "complexity": complexity, "norms": norms, "positions": positions, "regression": regression,
}  # fmt: skip


def perform(request: Request, context: Context) -> Result:
    """The catalogue as facts. It is the worker's own, so no other worker may answer with it.

    Besides the registry's catalogue: whether each scoring ``learns``, the ``options`` that each
    task reads, as lists of parameters, and the ``presets`` of trainings.
    """
    registry = installed()
    described = catalogue(registry)
    described["scorings"] = [
        {**record, "learns": _learns_of(registry, record["name"])}
        for record in described["scorings"]
    ]
    return Result(
        facts={
            **described,
            "options": _options(),
            "presets": training_order.presets(registry),
            "cacheable": False,
        }
    )


def _learns_of(registry: Registry, name: str) -> bool:
    with running(registry.provider("scorings", name)):
        return _learns(registry.scoring(name))


def _learns(scoring: ScoringSpec) -> bool:
    """Whether training can change it: a learnable parameter, or weights of its own."""
    if any(parameter.learnable for parameter in scoring.parameters):
        return True
    try:
        return any(True for _ in scoring.create(Sizes(2, 2, 2)).parameters())
    except BaseException as error:  # a stranger's code; its own job will say why
        let_go(error)
        return False


def _options() -> dict[str, list[dict[str, Any]]]:
    return {
        **{
            name: [describe(parameter) for parameter in task.OPTIONS]
            for name, task in _TASKS.items()
        },
        "translation": [describe(translation.BEAM)],
        "training": training_order.options(),
    }
