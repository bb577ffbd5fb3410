"""Plugins that took a worker down while they were loaded; later workers start without them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Suspect:
    """A plugin whose code a worker runs to learn what it offers.

    Args:
        plugin, distribution: its names.
        paths: the folders or files of its modules.
    """

    plugin: str
    distribution: str
    paths: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Suspect:
        """From what a worker announced."""
        return cls(facts["plugin"], facts["distribution"], tuple(facts["paths"]))


class Quarantine:
    """Of one pool, or of several. Its owner holds a lock."""

    def __init__(self) -> None:
        self._reasons: dict[tuple[str, str], str] = {}

    def add(self, suspect: Suspect, reason: str) -> bool:
        """Keep the plugin out of workers to come; False if it already is."""
        key = (suspect.plugin, suspect.distribution)
        new = key not in self._reasons
        self._reasons.setdefault(key, reason)
        return new

    def clear(self) -> None:
        """Give every plugin another chance."""
        self._reasons.clear()

    def arguments(self) -> Sequence[str]:
        """What tells a worker, on its command line."""
        entries = [
            {"plugin": plugin, "distribution": distribution, "reason": reason}
            for (plugin, distribution), reason in self._reasons.items()
        ]
        return ["--quarantined", json.dumps(entries)] if entries else []
