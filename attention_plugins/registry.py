"""Finds plugins, isolates them from each other, and keeps what they offer.

``load()`` gives a frozen :class:`Registry`. A plugin that raises costs itself, never the others:
it is named in ``failures`` with the last line of its traceback and with what to do. Built-ins
come through the same hooks; their names win over outsiders'. Two outsiders that claim one name
are both refused.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType

from packaging.utils import canonicalize_name

from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    ModelSpec,
    ScoringSpec,
    Spec,
)
from attention_plugins.discovery import (
    HOOKS,
    Refused,
    Source,
    Stage,
    drain,
    implementations,
    sources,
)

ALLOW_LIST = "ATTENTION_PLUGINS"


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A plugin that was taken in.

    Args:
        name: of its entry point.
        distribution, version: of the package that brought it.
        module: what the entry point names.
        offers: names by kind (``scorings``, ``models``, ``checkpoints``, ``datasets``).
        built_in: whether it comes with the workbench.
    """

    name: str
    distribution: str
    version: str
    module: str
    offers: Mapping[str, tuple[str, ...]]
    built_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A plugin, or a part of one, that was not taken in.

    Args:
        plugin, distribution: whose.
        stage: how far it came; ``blocked`` is no fault, only the allow-list's doing.
        message: what went wrong; of an exception, the traceback's last line and its place.
        advice: what to do about it.
    """

    plugin: str
    distribution: str
    stage: Stage
    message: str
    advice: str


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
    return _Loader(allowed).load()


class _Loader:
    """One load: takes sources in one by one, then settles who gets which name."""

    def __init__(self, allowed: set[str] | None) -> None:
        self.allowed = allowed
        self.failures: list[Failure] = []
        self.taken: dict[Source, list[tuple[str, Spec]]] = {}
        self.modules: dict[int, Source] = {}

    def load(self) -> Registry:
        for source in sources():
            try:
                self._take(source)
            except Refused as refused:
                self._fail(source, refused.stage, refused.message, refused.advice)
        offered = self._settle()
        kinds = {
            kind: MappingProxyType({spec.name: spec for k, spec, _ in offered if k == kind})
            for kind in HOOKS
        }
        plugins = tuple(self._describe(source, offered) for source in self.taken)
        return Registry(**kinds, plugins=plugins, failures=tuple(self.failures))

    def _fail(self, source: Source, stage: Stage, message: str, advice: str) -> None:
        self.failures.append(
            Failure(
                plugin=source.name,
                distribution=source.distribution,
                stage=stage,
                message=message,
                advice=advice,
            )
        )

    def _is_allowed(self, source: Source) -> bool:
        if source.built_in or self.allowed is None:
            return True
        return canonicalize_name(source.distribution) in self.allowed

    def _take(self, source: Source) -> None:
        if not self._is_allowed(source):
            raise Refused(
                "blocked",
                f"{source.distribution} is not on the allow-list, so it was not imported",
                f"add {source.distribution} to {ALLOW_LIST} if you trust it",
            )
        plugin = source.load()
        if id(plugin) in self.modules:
            first = self.modules[id(plugin)]
            raise Refused(
                "duplicate",
                f"{source.module} is offered twice: as {first.name} by {first.distribution} "
                f"and as {source.name} by {source.distribution}",
                "remove one of the two entry points",
            )
        self.modules[id(plugin)] = source
        hooks = implementations(plugin, source)
        self.taken[source] = records = []
        for kind, function in hooks:
            found, faults = drain(kind, function, source)
            records += [(kind, spec) for spec in found]
            for fault in faults:
                self._fail(source, fault.stage, fault.message, fault.advice)

    def _settle(self) -> list[tuple[str, Spec, Source]]:
        """Every record that nobody else has a better claim on, with whose it is."""
        claims: dict[tuple[str, str], list[tuple[Spec, Source]]] = defaultdict(list)
        for source, records in self.taken.items():
            for kind, spec in records:
                claims[kind, spec.name].append((spec, source))
        offered = []
        for (kind, name), claimants in claims.items():
            built_in = [claim for claim in claimants if claim[1].built_in]
            winners = built_in or claimants
            if len(winners) == 1:
                offered.append((kind, *winners[0]))
            refused = [claim for claim in claimants if len(winners) > 1 or claim not in winners]
            for source in dict.fromkeys(source for _, source in refused):
                self._clash(HOOKS[kind].noun, name, source, [other for _, other in claimants])
        return offered

    def _clash(self, noun: str, name: str, source: Source, claimants: list[Source]) -> None:
        others = list(dict.fromkeys(str(other) for other in claimants if other != source))
        if any(other.built_in for other in claimants) and not source.built_in:
            message = f'{source} offers {noun} "{name}", which is the name of a built-in'
        elif others:
            message = f'{noun} "{name}" is claimed by {source} and by {" and ".join(others)}'
        else:
            message = f'{source} offers {noun} "{name}" more than once'
        self._fail(source, "clash", message, f'give the {noun} another name than "{name}"')

    def _describe(self, source: Source, offered: list[tuple[str, Spec, Source]]) -> Plugin:
        names = {
            kind: tuple(spec.name for k, spec, owner in offered if k == kind and owner == source)
            for kind in HOOKS
        }
        return Plugin(
            name=source.name,
            distribution=source.distribution,
            version=source.version,
            module=source.module,
            offers=MappingProxyType({kind: found for kind, found in names.items() if found}),
            built_in=source.built_in,
        )
