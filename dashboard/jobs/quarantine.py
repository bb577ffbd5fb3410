"""Plugins that ended a worker while they were loaded; later workers start without them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PluginSource:
    """A plugin that a worker is about to load.

    Args:
        plugin: its name.
        distribution: the name of the distribution that contains it.
        paths: the folders or files of its modules.
    """

    plugin: str
    distribution: str
    paths: tuple[str, ...] = ()

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> PluginSource:
        """Read it from the facts that a worker announced."""
        return cls(facts["plugin"], facts["distribution"], tuple(facts["paths"]))


class Quarantine:
    """The plugins that a pool's workers must not load. The caller holds the pool's lock."""

    def __init__(self) -> None:
        self._reasons: dict[tuple[str, str], str] = {}

    def add(self, source: PluginSource, reason: str) -> bool:
        """Keep the plugin out of later workers; False if it already is."""
        key = (source.plugin, source.distribution)
        new = key not in self._reasons
        self._reasons.setdefault(key, reason)
        return new

    def copy(self) -> Quarantine:
        """Return another one of the same plugins."""
        made = Quarantine()
        made._reasons = dict(self._reasons)
        return made

    def clear(self) -> None:
        """Let later workers load every plugin again."""
        self._reasons.clear()

    def arguments(self) -> Sequence[str]:
        """Return the command-line arguments that name the plugins to a worker."""
        entries = [
            {"plugin": plugin, "distribution": distribution, "reason": reason}
            for (plugin, distribution), reason in self._reasons.items()
        ]
        return ["--quarantined", json.dumps(entries)] if entries else []
