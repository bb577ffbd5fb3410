"""The registry as plain JSON: all that a page needs to know of the plugins, without them."""

import inspect
import json
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from typing import Any

import torch

from attention_plugins import hookspecs
from attention_plugins.contract import CONTRACT_VERSION, CheckpointSpec
from attention_plugins.devices import available
from attention_plugins.discovery import Failure, Plugin, last_line, let_go
from attention_plugins.hookspecs import HOOKS, Hook
from attention_plugins.marking import gettext_noop
from attention_plugins.opening import read_checkpoint
from attention_plugins.registry import Registry
from attention_plugins.watching import running

_LONGEST = 300
_MOST_LINKS = 6
_LARGEST_SUMMARY = 1_000_000  # bytes of a card without vocabularies


def described(name: str, version: str) -> dict[str, Any]:
    """``name``, ``version``, ``summary`` and ``links`` (label, url) of a distribution.

    Summary and links are empty where it is not installed, or its metadata cannot be read.
    """
    summary, links = "", []
    with suppress(Exception):  # metadata may be missing, or no text at all
        about = metadata.metadata(name)
        summary = _line(next(iter(about.get_all("Summary") or ()), None))
        pairs = [text.partition(",")[::2] for text in about.get_all("Project-URL") or ()]
        pairs += [(gettext_noop("Home page"), text) for text in about.get_all("Home-page") or ()]
        links = [{"label": _line(label), "url": _line(url)} for label, url in pairs if url.strip()]
    return {"name": name, "version": version, "summary": summary, "links": links[:_MOST_LINKS]}


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:_LONGEST]


def catalogue(registry: Registry) -> dict[str, Any]:
    """What the registry holds, in types that JSON has.

    By kind a list of records, each with its ``plugin``; ``kinds``: what one record of each is
    called; ``plugins``, ``failures``; their ``distributions``; ``versions`` of contract and torch;
    ``devices``; ``example``: the source of a whole plugin.
    """
    failures = list(registry.failures)
    kinds = {kind: _records(registry, hook, failures) for kind, hook in HOOKS.items()}
    known = {each.distribution: each.version for each in (*registry.plugins, *failures)}
    return {
        **kinds, "kinds": {kind: hook.noun for kind, hook in HOOKS.items()},
        "plugins": [
            {
                **_origin(plugin), "module": plugin.module, "contract": plugin.contract,
                "offers": _brought(registry, plugin),
            }
            for plugin in registry.plugins
        ],
        "failures": [asdict(failure) for failure in failures],
        "distributions": [described(name, version) for name, version in known.items()],
        "versions": {
            "contract": ".".join(map(str, CONTRACT_VERSION)), "torch": str(torch.__version__),
        },
        "devices": available(), "example": example(),
    }  # fmt: skip


def example() -> str:
    """The smallest whole plugin, as the first hook's documentation has it."""
    documentation = inspect.getdoc(hookspecs.attention_scorings) or ""
    return textwrap.dedent(documentation.partition("::\n\n")[2])


def _records(registry: Registry, hook: Hook, failures: list[Failure]) -> list[dict[str, Any]]:
    """Those that can be described; why another cannot joins the failures."""
    records = []
    for name, spec in registry.of(hook.record).items():
        plugin = registry.provider(hook.kind, name)
        try:
            with running(plugin):
                record = _described(hook, spec)
                for parameter in record.get("parameters", ()):
                    if kind := parameter["names"]:
                        offered = registry.of(HOOKS[kind].record)
                        parameter["choices"] = [other for other in offered if other != name]
                plain_json(record)
            records.append({**record, "plugin": _origin(plugin)})
        except BaseException as error:  # a record may compute what it says
            let_go(error)
            message = gettext_noop(f'reading the record "{name}" raised {last_line(error)}')
            advice = gettext_noop(
                f"report it to the authors of {plugin.distribution}, or update it"
            )
            failures.append(Failure.of(plugin, "describe", message, advice))
    return records


def _described(hook: Hook, spec: Any) -> dict[str, Any]:
    if isinstance(spec, CheckpointSpec):
        return described_checkpoint(spec)
    parameters = [parameter.described() for parameter in getattr(spec, "parameters", ())]
    return {name: _plain(getattr(spec, name)) for name in hook.shown} | {"parameters": parameters}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def plain_json(record: Any) -> bytes:
    """A record as JSON; ValueError for NaN or half a character, TypeError for what JSON lacks."""
    return json.dumps(record, allow_nan=False, ensure_ascii=False).encode()


def described_checkpoint(spec: CheckpointSpec) -> dict[str, Any]:
    """A checkpoint's card without the vocabularies, or why it cannot be used."""
    try:
        found = read_checkpoint(spec.path).summary
        if len(plain_json(found)) > _LARGEST_SUMMARY:
            raise ValueError(f"more than {_LARGEST_SUMMARY:,} bytes besides its vocabularies")
    except ValueError as error:
        return {"name": spec.name, "card": None, "fault": f"{spec.path}: {error}"}
    return {"name": spec.name, "card": found, "fault": ""}


def _origin(plugin: Plugin) -> dict[str, Any]:
    parts = ("name", "distribution", "version", "built_in", "code")
    return {part: getattr(plugin, part) for part in parts}


def _brought(registry: Registry, plugin: Plugin) -> dict[str, list[str]]:
    found = {
        kind: [n for n in names if registry.provider(kind, n).distribution == plugin.distribution]
        for kind, names in plugin.offers.items()
    }
    return {kind: names for kind, names in found.items() if names}
