"""Loads plugins, isolates them from each other, and keeps what they offer.

A plugin that raises is left out; ``failures`` says why and what to do. Built-ins come through the
same hooks, and their names win. If two other plugins claim one name, neither gets it.
"""

import functools
import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

from packaging.utils import canonicalize_name

from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    LayerSpec,
    MetricSpec,
    ModelSpec,
    NormaliserSpec,
    ScoringFactory,
    ScoringSpec,
    Spec,
    TokeniserSpec,
    is_formula,
)
from attention_plugins.discovery import (
    DISTRIBUTION,
    NOTEBOOK,
    Failure,
    Plugin,
    Refused,
    Source,
    drain,
    implementations,
    last_line,
    let_go,
    own_version,
    sources,
)
from attention_plugins.formula import spec_of
from attention_plugins.home import is_shipped
from attention_plugins.hookspecs import HOOKS, hook_of
from attention_plugins.marking import gettext_noop
from attention_plugins.watching import quarantined, running

ALLOW_LIST = "ATTENTION_PLUGINS"
# Whose the checkpoints are that did not come with the workbench.
OWN = gettext_noop("this machine")
_FORMULA = "attention_plugins.formula"
SOFTMAX = "softmax"  # what scorings have unless they say otherwise

Record = TypeVar("Record", bound=Spec)

# More than any plugin writes; a larger package is known by its version alone.
_MOST_BYTES = 16 * 2**20


def fingerprint(module: str, version: str, *, whole: bool) -> str:
    """16 hexadecimal digits of the SHA-256 of a version and of an imported module's files.

    They are those of the top-level package if ``whole``, else of the module's own package.
    """
    digest = hashlib.sha256(version.encode())
    name = module.partition(":")[0]
    for text in _texts(name.partition(".")[0] if whole else name):
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:16]


def _texts(name: str) -> list[bytes]:
    found = sys.modules.get(name)
    folders = list(getattr(found, "__path__", ()))
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    if not folders and (file := getattr(found, "__file__", None)):
        paths = [Path(file)]
    try:
        if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
            return []
        return [path.read_bytes() for path in paths]
    except OSError:  # a package in an archive
        return []


@dataclass(frozen=True, kw_only=True)
class Registry:
    """What the installed plugins offer by kind and name, and what could not be loaded."""

    records: Mapping[str, Mapping[str, Spec]] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    failures: tuple[Failure, ...] = ()

    def of(self, record: type[Record]) -> Mapping[str, Record]:
        """The records of one type, by name."""
        found = self.records.get(hook_of(record).kind, {})
        return cast("Mapping[str, Record]", found)  # the loader looked at every record's type

    def named(self, record: type[Record], name: str) -> Record:
        """The record of that type and name, or of a formula, ``=q.k``; else ContractError."""
        if issubclass(record, ScoringSpec) and name.startswith("="):
            return cast("Record", spec_of(name))
        offered = self.of(record)
        if name in offered:
            return offered[name]
        noun = hook_of(record).noun
        for failure in self.failures:
            if failure.stage == "clash" and f'{noun} "{name}"' in failure.message:
                raise ContractError(f"{failure.message}, so it is not offered; uninstall one")
        near = get_close_matches(name, offered, n=1)
        raise ContractError(
            f'no {noun} "{name}"; '
            + (f'did you mean "{near[0]}"? ' if near else "")
            + "it may come from a plugin that is not installed here; "
            + f"offered: {', '.join(offered) or 'none'}"
        )

    # By name, and the one of a name; they raise as :meth:`named`.
    scorings = property(lambda self: self.of(ScoringSpec))
    normalisers = property(lambda self: self.of(NormaliserSpec))
    layers = property(lambda self: self.of(LayerSpec))
    models = property(lambda self: self.of(ModelSpec))
    datasets = property(lambda self: self.of(DatasetSpec))
    tokenisers = property(lambda self: self.of(TokeniserSpec))
    metrics = property(lambda self: self.of(MetricSpec))
    checkpoints = property(lambda self: self.of(CheckpointSpec))

    scoring = functools.partialmethod(named, ScoringSpec)
    normaliser = functools.partialmethod(named, NormaliserSpec)
    layer = functools.partialmethod(named, LayerSpec)
    model = functools.partialmethod(named, ModelSpec)
    dataset = functools.partialmethod(named, DatasetSpec)
    tokeniser = functools.partialmethod(named, TokeniserSpec)
    metric = functools.partialmethod(named, MetricSpec)
    checkpoint = functools.partialmethod(named, CheckpointSpec)

    def scoring_factory(
        self, scoring: str, values: Mapping[str, object] | None = None, normaliser: str = "",
        normaliser_values: Mapping[str, object] | None = None,
    ) -> ScoringFactory:  # fmt: skip
        """What a model is given for a scoring and a normaliser, by their names.

        ContractError: an unknown name, or a normaliser that the scoring cannot have.
        """
        spec = self.scoring(scoring)
        if normaliser in ("", SOFTMAX):
            return spec.factory(values)
        if spec.own_normaliser:
            raise ContractError(
                f"scoring {scoring!r} makes its weights in its own way; "
                f"choose no normaliser, not {normaliser!r}"
            )
        return spec.factory(values, self.normaliser(normaliser).factory(normaliser_values))

    def offers(self, kind: str, name: str) -> bool:
        """Whether something of that kind has this name; a formula must be one that can be read."""
        if kind == "scorings" and name.startswith("="):
            return bool(self.scoring(name))
        return name in self.records.get(kind, {})

    def provider(self, kind: str, name: str) -> Plugin:
        """The plugin that offers ``name`` among ``kind`` (``"scorings"``, ``"models"``, ...).

        Of a checkpoint trained or laid here, one that names this machine; raises as :meth:`named`.
        """
        record = self.named(HOOKS[kind].record, name)
        if is_formula(record.name):
            return origin(record.name)
        plugin = next(plugin for plugin in self.plugins if name in plugin.offers.get(kind, ()))
        if plugin.built_in and isinstance(record, CheckpointSpec) and not is_shipped(record.path):
            return replace(
                plugin, distribution=OWN, version="", built_in=False, offers={kind: (name,)}
            )
        return plugin


@functools.cache
def origin(name: str) -> Plugin:
    """The plugin that offers a formula, by its name: ``=`` and its spelling."""
    return Plugin(
        name="formula", distribution=DISTRIBUTION, version=own_version(), module=_FORMULA,
        offers={"scorings": (name,)}, built_in=True,
        code=fingerprint(_FORMULA, own_version(), whole=False),
    )  # fmt: skip


@functools.cache
def installed() -> Registry:
    """The registry of this process, loaded once; new plugins show in a new process.

    It also holds what :func:`define` was given.
    """
    registry = load()
    if not _defined:
        return registry
    here = Plugin(
        name="notebook", distribution=NOTEBOOK, version="", module="__main__",
        offers={"scorings": tuple(_defined)},
    )  # fmt: skip
    records = {**registry.records, "scorings": {**registry.scorings, **_defined}}
    return replace(registry, records=records, plugins=(*registry.plugins, here))


_defined: dict[str, ScoringSpec] = {}


def define(spec: ScoringSpec) -> None:
    """Offer a scoring in this process as if it were installed; it replaces an earlier one.

    ContractError: its name is that of an installed one.
    """
    if spec.name not in _defined and spec.name in installed().scorings:
        raise ContractError(
            f'a scoring "{spec.name}" is installed already; give yours another name'
        )
    _defined[spec.name] = spec
    installed.cache_clear()


def get_scoring(name: str) -> ScoringSpec:
    """An installed scoring by its name, for a ``build`` that is made of others.

    Call it in ``build``, not while the plugin is imported: others may not be there yet.
    ContractError if there is none.
    """
    return installed().scoring(name)


def get_normaliser(name: str) -> NormaliserSpec:
    """An installed normaliser by its name; see :func:`get_scoring`."""
    return installed().normaliser(name)


def get_layer(name: str) -> LayerSpec:
    """An installed attention layer by its name; see :func:`get_scoring`."""
    return installed().layer(name)


def load(allow: Iterable[str] | None = None) -> Registry:
    """Load every plugin that is installed and allowed.

    ``allow``: names of distributions whose plugins may be imported; an empty list allows none. By
    default what ``ATTENTION_PLUGINS`` lists, separated by commas, or all if it is unset.
    """
    if allow is None and ALLOW_LIST in os.environ:
        allow = os.environ[ALLOW_LIST].split(",")
    allowed = None if allow is None else {canonicalize_name(name.strip()) for name in allow}
    return _Loader(allowed).load()


class _Loader:
    def __init__(self, allowed: Collection[str] | None) -> None:
        self.allowed = allowed
        self.failures: list[Failure] = []
        self.taken: dict[Source, list[tuple[str, Spec]]] = {}
        self.modules: dict[int, Source] = {}
        self.known: dict[Source, dict[str, str]] = {}  # fields of what it becomes

    def load(self) -> Registry:
        for source in sources():
            try:
                self._take(source)
            except Refused as refused:
                self._refuse(source, refused)
            except BaseException as error:  # an object that raises when it is looked at
                let_go(error)
                message = gettext_noop(f"looking at {source.module} raised {last_line(error)}")
                advice = gettext_noop("name a plain module as the entry point")
                self._refuse(source, Refused("hooks", message, advice))
        offered = self._settle()
        records = {
            kind: MappingProxyType({spec.name: spec for k, spec, _ in offered if k == kind})
            for kind in HOOKS
        }
        return Registry(
            records=MappingProxyType(records),
            plugins=tuple(self._plugin(source, offered) for source in self.taken),
            failures=tuple(self.failures),
        )

    def _refuse(self, source: Source, why: Refused) -> None:
        self.failures.append(Failure.of(source, why.stage, why.message, why.advice))

    def _take(self, source: Source) -> None:
        allowed = None if source.built_in else self.allowed
        if allowed is not None and canonicalize_name(source.distribution) not in allowed:
            raise Refused(
                "blocked",
                f"{source.distribution} is not on the allow-list, so it was not imported",
                f"add {source.distribution} to {ALLOW_LIST} if you trust it",
            )
        if reason := quarantined(source):
            raise Refused(
                "quarantine",
                reason,
                f"update or uninstall {source.distribution}; Reload plugins tries it again",
            )
        with running(source):
            self._run(source)

    def _run(self, source: Source) -> None:
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
        # Now, for the files may change while this process goes on with what it imported.
        code = fingerprint(source.module, source.version, whole=not source.built_in)
        hooks = implementations(plugin, source)
        self.taken[source] = records = []
        contract = getattr(plugin, "ATTENTION_CONTRACT", None) or ""
        self.known[source] = {"code": code, "contract": contract}
        for kind, function in hooks:
            found, faults = drain(kind, function, source)
            records += [(kind, spec) for spec in found]
            for fault in faults:
                self._refuse(source, fault)

    def _settle(self) -> list[tuple[str, Spec, Source]]:
        """Every record that nobody else has a better claim on, with whose it is."""
        claims: dict[tuple[str, str], list[tuple[Spec, Source]]] = defaultdict(list)
        for source, records in self.taken.items():
            for kind, spec in records:
                claims[kind, spec.name].append((spec, source))
        offered = []
        for (kind, name), claimants in claims.items():
            winners = [claim for claim in claimants if claim[1].built_in] or claimants
            if len(winners) == 1:
                offered.append((kind, *winners[0]))
            refused = [claim for claim in claimants if len(winners) > 1 or claim not in winners]
            for source in dict.fromkeys(source for _, source in refused):
                self._clash(HOOKS[kind].noun, name, source, [other for _, other in claimants])
        return offered

    def _clash(self, noun: str, name: str, source: Source, claimants: list[Source]) -> None:
        others = list(dict.fromkeys(str(other) for other in claimants if other != source))
        if any(other.built_in for other in claimants) and not source.built_in:
            message = gettext_noop(
                f'{source} offers {noun} "{name}", which is the name of a built-in'
            )
        elif others:
            message = gettext_noop(
                f'{noun} "{name}" is claimed by {source} and by {" and ".join(others)}'
            )
        else:
            message = gettext_noop(f'{source} offers {noun} "{name}" more than once')
        advice = gettext_noop(f'give the {noun} another name than "{name}"')
        self._refuse(source, Refused("clash", message, advice))

    def _plugin(self, source: Source, offered: list[tuple[str, Spec, Source]]) -> Plugin:
        names = {
            kind: tuple(spec.name for k, spec, owner in offered if k == kind and owner == source)
            for kind in HOOKS
        }
        return Plugin(
            name=source.name, distribution=source.distribution, version=source.version,
            module=source.module,
            offers=MappingProxyType({kind: found for kind, found in names.items() if found}),
            built_in=source.built_in, **self.known[source],
        )  # fmt: skip
