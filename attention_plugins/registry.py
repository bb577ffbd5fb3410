"""Finds plugins, isolates them from each other, and keeps what they offer.

``load()`` gives a frozen :class:`Registry`. A plugin that raises is left out, and the others are
loaded: ``failures`` has the last line of its traceback and says what to do. Built-ins come through
the same hooks, and their names win over those of other plugins. If two other plugins claim one
name, neither gets it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar, cast

from packaging.utils import canonicalize_name

from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    NormaliserSpec,
    ScoringFactory,
    ScoringSpec,
    Spec,
    TokeniserSpec,
    is_formula,
)
from attention_plugins.discovery import Failure, Plugin
from attention_plugins.formula import spec_of
from attention_plugins.formula.describing import origin
from attention_plugins.home import is_shipped
from attention_plugins.hookspecs import HOOKS, hook_of
from attention_plugins.loader import ALLOW_LIST, Loader
from attention_plugins.marking import gettext_noop

OWN = gettext_noop(
    "this machine"
)  # whose the checkpoints are that did not come with the workbench
SOFTMAX = "softmax"  # what scorings have unless they say otherwise

Record = TypeVar("Record", bound=Spec)


@dataclass(frozen=True, kw_only=True)
class Registry:
    """What the installed plugins offer, and which of them could not be loaded.

    Args:
        records: by kind (see :data:`~attention_plugins.hookspecs.HOOKS`) and name.
        plugins: those that were loaded.
        failures: what was left out, and why.
    """

    records: Mapping[str, Mapping[str, Spec]] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    failures: tuple[Failure, ...] = ()

    def of(self, record: type[Record]) -> Mapping[str, Record]:
        """The records of one type, by name."""
        found = self.records.get(hook_of(record).kind, {})
        return cast("Mapping[str, Record]", found)  # the loader looked at every record's type

    def named(self, record: type[Record], name: str) -> Record:
        """The record of that type and name; a scoring may be named by its formula, ``=q.k``.

        Raises:
            ContractError: there is none; it says what is offered instead.
        """
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

    @property
    def scorings(self) -> Mapping[str, ScoringSpec]:
        """The scorings by name."""
        return self.of(ScoringSpec)

    @property
    def normalisers(self) -> Mapping[str, NormaliserSpec]:
        """The normalisers by name."""
        return self.of(NormaliserSpec)

    @property
    def models(self) -> Mapping[str, ModelSpec]:
        """The models by name."""
        return self.of(ModelSpec)

    @property
    def datasets(self) -> Mapping[str, DatasetSpec]:
        """The data sets by name."""
        return self.of(DatasetSpec)

    @property
    def tokenisers(self) -> Mapping[str, TokeniserSpec]:
        """The tokenisers by name."""
        return self.of(TokeniserSpec)

    @property
    def metrics(self) -> Mapping[str, MetricSpec]:
        """The metrics by name."""
        return self.of(MetricSpec)

    @property
    def checkpoints(self) -> Mapping[str, CheckpointSpec]:
        """The checkpoints by name."""
        return self.of(CheckpointSpec)

    def scoring(self, name: str) -> ScoringSpec:
        """The scoring of that name; raises as :meth:`named`."""
        return self.named(ScoringSpec, name)

    def normaliser(self, name: str) -> NormaliserSpec:
        """The normaliser of that name; raises as :meth:`named`."""
        return self.named(NormaliserSpec, name)

    def scoring_factory(
        self,
        scoring: str,
        values: Mapping[str, object] | None = None,
        normaliser: str = "",
        normaliser_values: Mapping[str, object] | None = None,
    ) -> ScoringFactory:
        """What a model is given for a scoring and a normaliser, by their names.

        Args:
            normaliser: empty or ``"softmax"`` for the scoring's own way.

        Raises:
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

    def model(self, name: str) -> ModelSpec:
        """The model of that name; raises as :meth:`named`."""
        return self.named(ModelSpec, name)

    def dataset(self, name: str) -> DatasetSpec:
        """The data set of that name; raises as :meth:`named`."""
        return self.named(DatasetSpec, name)

    def tokeniser(self, name: str) -> TokeniserSpec:
        """The tokeniser of that name; raises as :meth:`named`."""
        return self.named(TokeniserSpec, name)

    def metric(self, name: str) -> MetricSpec:
        """The metric of that name; raises as :meth:`named`."""
        return self.named(MetricSpec, name)

    def checkpoint(self, name: str) -> CheckpointSpec:
        """The checkpoint of that name; raises as :meth:`named`."""
        return self.named(CheckpointSpec, name)

    def offers(self, kind: str, name: str) -> bool:
        """Whether something of that kind has this name; a formula has, if it can be read.

        Raises:
            ContractError: a formula that cannot be read; it says why.
        """
        if kind == "scorings" and name.startswith("="):
            return bool(self.scoring(name))
        return name in self.records.get(kind, {})

    def provider(self, kind: str, name: str) -> Plugin:
        """The plugin that offers ``name`` among ``kind`` (``"scorings"``, ``"models"``, ...).

        Of a checkpoint that was trained or laid here, one that names this machine.

        Raises:
            ContractError: nothing of that kind has this name.
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
def installed() -> Registry:
    """The registry of this process, loaded once; new plugins show in a new process."""
    return load()


def get_scoring(name: str) -> ScoringSpec:
    """An installed scoring by its name, for a ``build`` that is made of others.

    Call it in ``build``, not while the plugin is imported: others may not be there yet.

    Raises:
        ContractError: there is none; it says what is offered instead.
    """
    return installed().scoring(name)


def get_normaliser(name: str) -> NormaliserSpec:
    """An installed normaliser by its name; see :func:`get_scoring`."""
    return installed().normaliser(name)


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
    records = MappingProxyType(loader.load())
    return Registry(records=records, plugins=loader.plugins, failures=tuple(loader.failures))
