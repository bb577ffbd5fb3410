"""List scorings, models, data sets, checkpoints, and plugins that failed."""

from __future__ import annotations

import argparse

from attention_plugins.commands.common import show
from attention_plugins.registry import Registry, installed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(given: argparse.Namespace) -> None:
    """Print what is installed."""
    registry = installed()
    facts = {
        kind: {name: _facts(registry, kind, name) for name in getattr(registry, kind)}
        for kind in ("scorings", "models", "datasets", "checkpoints")
    }
    facts["failures"] = [
        {
            "plugin": f.plugin, "distribution": f.distribution, "stage": f.stage,
            "message": f.message, "advice": f.advice,
        }
        for f in registry.failures
    ]  # fmt: skip
    lines = []
    for kind in ("scorings", "models", "datasets", "checkpoints"):
        lines.append(f"{kind}:")
        lines += [
            f"  {name:28} {entry['title']}  ({entry['plugin']} {entry['version']}".rstrip() + ")"
            for name, entry in facts[kind].items()
        ]
    for failure in registry.failures:
        lines.append(f"failed: {failure.plugin}: {failure.message} {failure.advice}")
    show(given, facts, lines)


def _facts(registry: Registry, kind: str, name: str) -> dict[str, str]:
    spec, plugin = getattr(registry, kind)[name], registry.provider(kind, name)
    title = str(spec.path) if kind == "checkpoints" else spec.title
    return {"title": title, "plugin": plugin.distribution, "version": plugin.version}
