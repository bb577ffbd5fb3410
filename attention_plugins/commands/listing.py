"""List scorings, models, data sets, checkpoints, and plugins that failed."""

import argparse

from attention_plugins.commands.common import show
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import installed

_FAILURE = ("plugin", "distribution", "stage", "message", "advice")


def run(given: argparse.Namespace) -> None:
    """Print what is installed."""
    registry = installed()
    records: dict[str, dict[str, dict[str, str]]] = {}
    lines = []
    for kind, hook in HOOKS.items():
        lines.append(f"{kind}:")
        records[kind] = {}
        for name, spec in registry.records[kind].items():
            plugin, title = registry.provider(kind, name), hook.title(spec)
            whose, version = plugin.distribution, plugin.version
            records[kind][name] = {"title": title, "plugin": whose, "version": version}
            lines.append(f"  {name:28} {title}  ({whose} {version}".rstrip() + ")")
    lines += [f"failed: {one.plugin}: {one.message} {one.advice}" for one in registry.failures]
    failures = [{name: getattr(one, name) for name in _FAILURE} for one in registry.failures]
    show(given, {**records, "failures": failures}, lines)
