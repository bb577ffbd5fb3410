"""List scorings, models, data sets, checkpoints, and plugins that failed."""

from __future__ import annotations

import argparse

from attention_plugins.commands.common import show
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import Registry, installed

_FAILURE = ("plugin", "distribution", "stage", "message", "advice")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(given: argparse.Namespace) -> None:
    """Print what is installed."""
    registry = installed()
    records = {
        kind: {name: _facts(registry, kind, name) for name in registry.records[kind]}
        for kind in HOOKS
    }
    failures = [{name: getattr(one, name) for name in _FAILURE} for one in registry.failures]
    lines = []
    for kind in HOOKS:
        lines.append(f"{kind}:")
        lines += [
            f"  {name:28} {entry['title']}  ({entry['plugin']} {entry['version']}".rstrip() + ")"
            for name, entry in records[kind].items()
        ]
    for failure in registry.failures:
        lines.append(f"failed: {failure.plugin}: {failure.message} {failure.advice}")
    show(given, {**records, "failures": failures}, lines)


def _facts(registry: Registry, kind: str, name: str) -> dict[str, str]:
    plugin, title = registry.provider(kind, name), HOOKS[kind].title(registry.records[kind][name])
    return {"title": title, "plugin": plugin.distribution, "version": plugin.version}
