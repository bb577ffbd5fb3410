"""The registry as plain JSON: all that a page needs to know of the plugins, without them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from attention_plugins import checkpoints
from attention_plugins.contract import CONTRACT_VERSION, CheckpointSpec, Parameter
from attention_plugins.devices import available
from attention_plugins.registry import Plugin, Registry

_SHOWN = {
    "scorings": ("name", "title", "formula", "reference", "description", "same_size"),
    "models": ("name", "title", "task", "reference", "description"),
    "datasets": ("name", "title", "task", "formula", "reference", "description", "aligned"),
}


def catalogue(registry: Registry) -> dict[str, Any]:
    """What the registry holds, in types that JSON has.

    Returns:
        ``scorings``, ``models``, ``datasets``, ``checkpoints``: lists of records, each with its
        ``plugin`` (name, distribution, version, built_in); ``plugins``, ``failures``: as in the
        registry; ``versions`` of the contract and of torch; ``devices``: those that exist.
    """
    described = {kind: _records(registry, kind, shown) for kind, shown in _SHOWN.items()}
    return {
        **described,
        "checkpoints": [
            {**_checkpoint(spec), "plugin": _origin(registry.provider("checkpoints", name))}
            for name, spec in registry.checkpoints.items()
        ],
        "plugins": [
            {**_origin(plugin), "module": plugin.module, "offers": _plain(plugin.offers)}
            for plugin in registry.plugins
        ],
        "failures": [asdict(failure) for failure in registry.failures],
        "versions": {
            "contract": ".".join(map(str, CONTRACT_VERSION)),
            "torch": str(torch.__version__),
        },
        "devices": available(),
    }


def _records(registry: Registry, kind: str, shown: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            **{field: getattr(spec, field) for field in shown},
            "parameters": [describe(parameter) for parameter in spec.parameters],
            "plugin": _origin(registry.provider(kind, name)),
        }
        for name, spec in getattr(registry, kind).items()
    ]


def describe(parameter: Parameter) -> dict[str, Any]:
    """A parameter's fields and its type's name, with the step that its widget takes."""
    described = asdict(parameter)
    if parameter.numeric and parameter.step is None:
        whole = isinstance(parameter.default, int)
        described["step"] = 1 if whole else (parameter.high - parameter.low) / 100
    return {
        **described,
        "type": type(parameter.default).__name__,
        "choices": list(parameter.choices),
    }


def _checkpoint(spec: CheckpointSpec) -> dict[str, Any]:
    """Its card without the vocabularies, or why it cannot be used."""
    try:
        card = checkpoints.read(spec.path).summary
        json.dumps(card, allow_nan=False)  # Python reads NaN in a file that JSON does not know
    except ValueError as error:
        return {"name": spec.name, "card": None, "fault": f"{spec.path}: {error}"}
    return {"name": spec.name, "card": card, "fault": ""}


def _origin(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "built_in": plugin.built_in,
    }


def _plain(offers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {kind: list(names) for kind, names in offers.items()}
