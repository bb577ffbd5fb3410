"""Finds plugins, isolates them from each other, and keeps what they offer.

``load()`` gives a frozen :class:`Registry`. A plugin that raises costs itself, never the others:
it is named in ``failures`` with the last line of its traceback and with what to do. Built-ins
come through the same hooks; their names win over outsiders'. Two outsiders that claim one name
are both refused.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from packaging.utils import canonicalize_name

from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    ModelSpec,
    ScoringSpec,
    Spec,
)
from attention_plugins.discovery import HOOKS
from attention_plugins.loader import ALLOW_LIST, Loader
from attention_plugins.origins import Failure, Plugin


@dataclass(frozen=True, kw_only=True)
class Registry:
    """What the installed plugins offer, by name, and who could not be taken in."""

    scorings: Mapping[str, ScoringSpec] = field(default_factory=dict)
    models: Mapping[str, ModelSpec] = field(default_factory=dict)
    checkpoints: Mapping[str, CheckpointSpec] = field(default_factory=dict)
    datasets: Mapping[str, DatasetSpec] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    failures: tuple[Failure, ...] = ()

    def scoring(self, name: str) -> ScoringSpec:
        """The scoring of that name; :class:`ContractError` says what is offered instead."""
        return self._get("scorings", name)

    def model(self, name: str) -> ModelSpec:
        """The model of that name; :class:`ContractError` says what is offered instead."""
        return self._get("models", name)

    def checkpoint(self, name: str) -> CheckpointSpec:
        """The checkpoint of that name; :class:`ContractError` says what is offered instead."""
        return self._get("checkpoints", name)

    def dataset(self, name: str) -> DatasetSpec:
        """The data set of that name; :class:`ContractError` says what is offered instead."""
        return self._get("datasets", name)

    def provider(self, kind: str, name: str) -> Plugin:
        """The plugin that offers ``name`` among ``kind`` (``"scorings"``, ``"models"``, ...).

        Raises:
            ContractError: nothing of that kind has this name.
        """
        self._get(kind, name)
        return next(plugin for plugin in self.plugins if name in plugin.offers.get(kind, ()))

    def _get(self, kind: str, name: str) -> Spec:
        offered = getattr(self, kind)
        if name in offered:
            return offered[name]
        near = get_close_matches(name, offered, n=1)
        raise ContractError(
            f'no {HOOKS[kind].noun} "{name}"; '
            + (f'did you mean "{near[0]}"? ' if near else "")
            + "It may come from a plugin that is not installed here; "
            + f"offered: {', '.join(offered) or 'none'}"
        )


@functools.cache
def installed() -> Registry:
    """The registry of this process, loaded once; new plugins show in a new process."""
    return load()


def load(allow: Iterable[str] | None = None) -> Registry:
    """Load every plugin that is installed and allowed.

    Args:
        allow: names of distributions whose plugins may be imported. By default what the
            environment variable ``ATTENTION_PLUGINS`` lists, separated by commas; if it is
            unset, all. An empty list allows none. Built-ins are always there.
    """
    if allow is None and ALLOW_LIST in os.environ:
        allow = os.environ[ALLOW_LIST].split(",")
    allowed = None if allow is None else {canonicalize_name(name.strip()) for name in allow}
    loader = Loader(allowed)
    return Registry(**loader.load(), plugins=loader.plugins, failures=tuple(loader.failures))
