"""The registry as plain JSON: all that a page needs to know of the plugins, without them."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from attention_plugins import hookspecs
from attention_plugins.contract import CONTRACT_VERSION, CheckpointSpec, Parameter
from attention_plugins.devices import available
from attention_plugins.distributions import described
from attention_plugins.opening import read_checkpoint
from attention_plugins.origins import Failure, Plugin
from attention_plugins.refusal import last_line, let_go
from attention_plugins.registry import Registry
from attention_plugins.watching import running

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
        registry; ``distributions`` that any of these came from, with ``name``, ``version``,
        ``summary`` and ``links``; ``versions`` of the contract and of torch; ``devices``: those
        that exist; ``example``: the source of a whole plugin.
    """
    failures = list(registry.failures)
    kinds = {kind: _records(registry, kind, failures) for kind in (*_SHOWN, "checkpoints")}
    known = {each.distribution: each.version for each in (*registry.plugins, *failures)}
    return {
        **kinds,
        "plugins": [
            {
                **_origin(plugin),
                "module": plugin.module,
                "contract": plugin.contract,
                "offers": _plain(plugin.offers),
            }
            for plugin in registry.plugins
        ],
        "failures": [asdict(failure) for failure in failures],
        "distributions": [described(name, version) for name, version in known.items()],
        "versions": {
            "contract": ".".join(map(str, CONTRACT_VERSION)),
            "torch": str(torch.__version__),
        },
        "devices": available(),
        "example": example(),
    }


def example() -> str:
    """The smallest whole plugin, as the first hook's documentation has it."""
    documentation = inspect.getdoc(hookspecs.attention_scorings) or ""
    return textwrap.dedent(documentation.partition("::\n\n")[2])


def _records(registry: Registry, kind: str, failures: list[Failure]) -> list[dict[str, Any]]:
    """Those that can be described; why another cannot joins the failures."""
    records = []
    for name, spec in getattr(registry, kind).items():
        plugin = registry.provider(kind, name)
        try:
            with running(plugin):
                record = _record(kind, spec)
                json.dumps(record, allow_nan=False)
            records.append({**record, "plugin": _origin(plugin)})
        except BaseException as error:  # a record may compute what it says
            let_go(error)
            failures.append(_indescribable(plugin, name, error))
    return records


def _record(kind: str, spec: Any) -> dict[str, Any]:
    if kind == "checkpoints":
        return _checkpoint(spec)
    shown = {field: getattr(spec, field) for field in _SHOWN[kind]}
    return {**shown, "parameters": [describe(parameter) for parameter in spec.parameters]}


def _indescribable(plugin: Plugin, name: str, error: BaseException) -> Failure:
    return Failure(
        plugin=plugin.name,
        distribution=plugin.distribution,
        version=plugin.version,
        module=plugin.module,
        built_in=plugin.built_in,
        stage="describe",
        message=f'reading the record "{name}" raised {last_line(error)}',
        advice=f"report it to the authors of {plugin.distribution}, or update it",
    )


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
        card = read_checkpoint(spec.path).summary
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
