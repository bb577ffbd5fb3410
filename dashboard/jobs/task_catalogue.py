"""What is installed here: the plugins, what they offer, and the devices to compute on."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict
from types import ModuleType
from typing import Any

from attention_plugins.catalogue import catalogue
from attention_plugins.contract import NormaliserSpec, ScoringSpec, Sizes
from attention_plugins.describing import describe
from attention_plugins.refusal import let_go
from attention_plugins.registry import Registry, installed
from attention_plugins.watching import running
from dashboard.jobs.context import Context
from dashboard.jobs.tasks import CATALOGUE, TASKS
from dashboard.records.request import Request
from dashboard.records.result import Result


def perform(request: Request, context: Context) -> Result:
    """The catalogue as facts. It is the worker's own, so no other worker may answer with it.

    Besides the registry's catalogue: whether each scoring and normaliser ``learns``, the
    ``options`` that each task reads, as lists of parameters, what of it is ``measured``, and the
    ``presets`` of trainings.
    """
    registry = installed()
    tasks = _tasks()
    described = catalogue(registry)
    for kind in ("scorings", "normalisers"):
        described[kind] = [
            {**record, "learns": _learns_of(registry, kind, record["name"])}
            for record in described[kind]
        ]
    return Result(
        facts={
            **described,
            "options": _options(tasks, registry),
            "measured": _metrics(tasks),
            "presets": _presets(tasks, registry),
            "cacheable": False,
        }
    )


def _learns_of(registry: Registry, kind: str, name: str) -> bool:
    with running(registry.provider(kind, name)):
        return _learns(registry.scoring(name) if kind == "scorings" else registry.normaliser(name))


def _learns(spec: ScoringSpec | NormaliserSpec) -> bool:
    """Whether training can change it: a learnable parameter, or weights of its own."""
    if any(parameter.learnable for parameter in spec.parameters):
        return True
    try:
        made = spec.create(Sizes(2, 2, 2)) if isinstance(spec, ScoringSpec) else spec.create()
        return any(True for _ in made.parameters())
    except BaseException as error:  # a stranger's code; its own job will say why
        let_go(error)
        return False


def _tasks() -> dict[str, ModuleType]:
    """Every other task's module by the task's name."""
    return {
        name: importlib.import_module(module)
        for name, module in TASKS.items()
        if name != CATALOGUE
    }


def _options(
    tasks: Mapping[str, ModuleType], registry: Registry
) -> dict[str, list[dict[str, Any]]]:
    """What each task reads that has ``OPTIONS``, or options that follow from the registry."""
    found = {
        name: [describe(option) for option in task.OPTIONS]
        for name, task in tasks.items()
        if hasattr(task, "OPTIONS")
    }
    described = {
        n: task.options(registry) for n, task in tasks.items() if hasattr(task, "options")
    }
    return found | described


def _presets(tasks: Mapping[str, ModuleType], registry: Registry) -> dict[str, Any]:
    """The named ways to work that tasks have."""
    found: dict[str, Any] = {}
    for task in tasks.values():
        if hasattr(task, "presets"):
            found |= task.presets(registry)
    return found


def _metrics(tasks: Mapping[str, ModuleType]) -> dict[str, list[dict[str, Any]]]:
    """What each task that has ``METRICS`` measures, described."""
    return {
        name: [asdict(metric) for metric in task.METRICS]
        for name, task in tasks.items()
        if hasattr(task, "METRICS")
    }
