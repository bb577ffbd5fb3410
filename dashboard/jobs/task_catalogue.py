"""What is installed here: the plugins, what they offer, and the devices to compute on."""

import importlib
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import torch

from attention_plugins.catalogue import catalogue, described, plain_json
from attention_plugins.contract import NormaliserSpec, ScoringSpec, Sizes
from attention_plugins.discovery import Failure, last_line, let_go
from attention_plugins.formula import described as described_formula
from attention_plugins.registry import Registry, installed
from attention_plugins.watching import running
from dashboard.jobs.task_offers import is_offered, offered
from dashboard.jobs.tasks import TASKS, Context, load
from dashboard.language import gettext_noop
from dashboard.pages import Entry, brought
from dashboard.records.request import Request, Result, is_formula


def perform(request: Request, context: Context) -> Result:
    """The catalogue as facts. It is the worker's own, so no other worker may answer with it.

    Besides the registry's catalogue: what :func:`_weights` says of scorings and normalisers, the
    ``options`` that each task reads, as lists of parameters, what of it is ``measured``, and the
    ``presets`` of trainings. A checkpoint whose scoring was typed has it described as ``typed``.
    """
    registry = installed()
    offers = _offers()
    facts = catalogue(registry)
    for kind in ("scorings", "normalisers"):
        facts[kind] = [
            {**record, **_weights_of(registry, kind, record["name"])} for record in facts[kind]
        ]
    facts["checkpoints"] = list(map(_with_formula, facts["checkpoints"]))
    facts |= {
        "options": _options(offers, registry),
        "measured": _metrics(offers),
        "presets": {
            name: preset
            for offer in offers.values()
            if hasattr(offer, "presets")
            for name, preset in offer.presets(registry).items()
        },
        "cacheable": False,
    }
    for entry in brought():
        _add_page(facts, entry, registry)
    return Result(facts=facts)


def _add_page(facts: dict[str, Any], entry: Entry, registry: Registry) -> None:
    """Add what a package's page says of its task, or why that could not be read."""
    try:
        offers = {entry.name: load(entry, "task_offer")}
        options, measured = _options(offers, registry), _metrics(offers)
        plain_json({**options, **measured})
    except BaseException as error:
        let_go(error)
        if isinstance(error, ModuleNotFoundError) and error.name == f"{entry.module}.task_offer":
            return
        failure = Failure(
            plugin=entry.name, distribution=entry.distribution, version=entry.version,
            module=entry.module, stage="import", message=last_line(error),
            advice=gettext_noop(
                "update or uninstall {distribution}; Reload plugins tries it again",
                distribution=entry.distribution,
            ),
        )  # fmt: skip
        facts["failures"].append(asdict(failure))
        if all(each["name"] != entry.distribution for each in facts["distributions"]):
            facts["distributions"].append(described(entry.distribution, entry.version))
    else:
        facts["options"] |= options
        facts["measured"] |= measured


def _weights_of(registry: Registry, kind: str, name: str) -> dict[str, bool]:
    with running(registry.provider(kind, name)):
        named = registry.scoring if kind == "scorings" else registry.normaliser
        return _weights(named(name))


def _weights(spec: ScoringSpec | NormaliserSpec) -> dict[str, bool]:
    """Whether training can change it, and whether a seed or the hidden size does."""
    create = spec.create if isinstance(spec, ScoringSpec) else lambda _: spec.create()
    try:
        state = torch.random.get_rng_state()
        made = [create(Sizes(2, 2, size)) for size in (2, 4)]
        few, many = ([each.shape for each in one.parameters()] for one in made)
        drawn = not torch.equal(state, torch.random.get_rng_state())
    except BaseException as error:  # a stranger's code; its own job will say why
        let_go(error)
        few, many, drawn = [], [], False
    learnable = any(parameter.learnable for parameter in spec.parameters)
    return {"learns": learnable or bool(few), "drawn": drawn, "sized": few != many}


def _with_formula(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's record; ``typed`` describes its scoring where that is a formula."""
    card = checkpoint["card"]
    if not card or not is_formula(card["scoring"]):
        return checkpoint
    facts = described_formula(card["scoring"])
    return checkpoint if facts["error"] else {**checkpoint, "typed": facts}


def _offers() -> dict[str, Any]:
    """By the task's name what it offers: its module ``task_offer``, or its table ``offer.toml``.

    A module may have ``OPTIONS`` or ``options(registry)``, ``METRICS`` and ``presets(registry)``.
    It imports little, for every worker that gives the catalogue holds all of them.
    """
    found: dict[str, Any] = {}
    for name, task in TASKS.items():
        if find_spec(f"{task}_offer"):
            found[name] = importlib.import_module(f"{task}_offer")
        elif (spec := find_spec(task)) and spec.origin and is_offered(spec.origin):
            found[name] = offered(spec.origin)
    return found


def _options(offers: Mapping[str, Any], registry: Registry) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [option.described() for option in offer.OPTIONS]
        for name, offer in offers.items()
        if hasattr(offer, "OPTIONS")
    } | {n: offer.options(registry) for n, offer in offers.items() if hasattr(offer, "options")}


def _metrics(offers: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {name: [asdict(metric) for metric in offer.METRICS]
            for name, offer in offers.items() if getattr(offer, "METRICS", ())}  # fmt: skip
