"""What is installed here: the plugins, what they offer, and the devices to compute on."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from attention_plugins.catalogue import catalogue
from attention_plugins.contract import NormaliserSpec, ScoringSpec, Sizes
from attention_plugins.describing import describe
from attention_plugins.discovery import let_go
from attention_plugins.formula import described as described_formula
from attention_plugins.registry import Registry, installed
from attention_plugins.watching import running
from dashboard.jobs.tasks import TASKS, Context
from dashboard.records.request import Request, Result, is_formula


def perform(request: Request, context: Context) -> Result:
    """The catalogue as facts. It is the worker's own, so no other worker may answer with it.

    Besides the registry's catalogue: whether each scoring and normaliser ``learns``, the
    ``options`` that each task reads, as lists of parameters, what of it is ``measured``, and the
    ``presets`` of trainings. A checkpoint whose scoring was typed has it described as ``typed``.
    """
    registry = installed()
    offers = _offers()
    described = catalogue(registry)
    for kind in ("scorings", "normalisers"):
        described[kind] = [
            {**record, "learns": _learns_of(registry, kind, record["name"])}
            for record in described[kind]
        ]
    described["checkpoints"] = list(map(_with_formula, described["checkpoints"]))
    return Result(
        facts={
            **described,
            "options": _options(offers, registry),
            "measured": _metrics(offers),
            "presets": _presets(offers, registry),
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


def _with_formula(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's record; ``typed`` describes its scoring where that is a formula."""
    card = checkpoint["card"]
    if not card or not is_formula(card["scoring"]):
        return checkpoint
    facts = described_formula(card["scoring"])
    return checkpoint if facts["error"] else {**checkpoint, "typed": facts}


def _offers() -> dict[str, ModuleType]:
    """By the task's name, the module that says what it offers, of those that have one.

    It may have ``OPTIONS`` or ``options(registry)``, ``METRICS`` and ``presets(registry)``. It
    imports little, for every worker that gives the catalogue holds all of them.
    """
    modules = {name: f"{task}_offer" for name, task in TASKS.items()}
    return {name: importlib.import_module(m) for name, m in modules.items() if find_spec(m)}


def _options(
    offers: Mapping[str, ModuleType], registry: Registry
) -> dict[str, list[dict[str, Any]]]:
    """What each task reads: ``OPTIONS``, or options that follow from the registry."""
    found = {
        name: [describe(option) for option in offer.OPTIONS]
        for name, offer in offers.items()
        if hasattr(offer, "OPTIONS")
    }
    described = {
        n: offer.options(registry) for n, offer in offers.items() if hasattr(offer, "options")
    }
    return found | described


def _presets(offers: Mapping[str, ModuleType], registry: Registry) -> dict[str, Any]:
    """The named ways to work that tasks have."""
    found: dict[str, Any] = {}
    for offer in offers.values():
        if hasattr(offer, "presets"):
            found |= offer.presets(registry)
    return found


def _metrics(offers: Mapping[str, ModuleType]) -> dict[str, list[dict[str, Any]]]:
    """What each task that has ``METRICS`` measures, described."""
    return {
        name: [asdict(metric) for metric in offer.METRICS]
        for name, offer in offers.items()
        if hasattr(offer, "METRICS")
    }
