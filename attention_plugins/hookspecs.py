"""The hooks of the entry-point group ``attention_plugins``, and the one table of them.

A plugin is any importable module that an entry point of that group names; the built-ins use the
same hooks. What is known of a hook stands in its row of :data:`HOOKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pluggy

from attention_plugins.contract import (
    CheckpointSpec,
    DatasetSpec,
    LayerSpec,
    MetricSpec,
    ModelSpec,
    NormaliserSpec,
    ScoringSpec,
    Spec,
    TokeniserSpec,
    TranslationSpec,
)

PROJECT = "attention_plugins"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def attention_scorings() -> Iterable[ScoringSpec]:
    r"""Yield scoring functions.

    A whole plugin::

        from torch.nn.functional import normalize
        from attention_plugins import hookimpl, scoring

        @scoring("cosine_example", formula=r"\cos(q, k)", same_size=True)
        def cosine(queries, keys):
            return normalize(queries, dim=-1) @ normalize(keys, dim=-1).mT

        @hookimpl
        def attention_scorings():
            yield cosine
    """
    raise NotImplementedError  # as in what follows: plugins implement it


@hookspec
def attention_normalisers() -> Iterable[NormaliserSpec]:
    """Yield normalisers: what makes weights of scores, chosen beside the scoring."""
    raise NotImplementedError


@hookspec
def attention_layers() -> Iterable[LayerSpec]:
    """Yield attention layers: what a Transformer attends with, its projections included."""
    raise NotImplementedError


@hookspec
def attention_models() -> Iterable[ModelSpec]:
    """Yield models that attend with whatever scoring they are given."""
    raise NotImplementedError


@hookspec
def attention_datasets() -> Iterable[DatasetSpec]:
    """Yield regression problems and parallel corpora."""
    raise NotImplementedError


@hookspec
def attention_tokenisers() -> Iterable[TokeniserSpec]:
    """Yield tokenisers: how a sentence is cut into tokens, and put together again."""
    raise NotImplementedError


@hookspec
def attention_metrics() -> Iterable[MetricSpec]:
    """Yield metrics: how good what a model writes is, held against references."""
    raise NotImplementedError


@hookspec
def attention_translations() -> Iterable[TranslationSpec]:
    """Yield translations: what the package's records say, in another language."""
    raise NotImplementedError


@hookspec
def attention_checkpoints() -> Iterable[CheckpointSpec]:
    """Yield trained models at rest: folders with ``model.safetensors`` and ``card.json``."""
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A hook, and how its records are loaded, shown and checked.

    Args:
        function: the hook's specification.
        record: the type of what it yields.
        noun: what one record is called.
        rules: the module that registers the conformance kit's rules for these records.
        shown: the fields that stand in the catalogue, besides parameters.
        title: the text that stands beside a record's name in a list.
        built_ins: the module with the records that come with the workbench; empty if none do.
    """

    function: Callable[[], Iterable[Spec]]
    record: type[Spec]
    noun: str
    rules: str
    shown: tuple[str, ...]
    title: Callable[[Any], str] = attrgetter("title")
    built_ins: str = ""

    @property
    def name(self) -> str:
        """What a plugin calls the function that implements it."""
        return self.function.__name__

    @property
    def kind(self) -> str:
        """What its records are called together, such as ``"scorings"``."""
        return self.name.removeprefix("attention_")


def _own(
    function: Callable[[], Iterable[Spec]], record: type[Spec], noun: str, shown: str = "",
    rules: str = "",
) -> Hook:  # fmt: skip
    """A hook whose records that come with the workbench, and usually rules, are where it says."""
    kind = function.__name__.removeprefix("attention_")
    return Hook(
        function=function, record=record, noun=noun,
        rules=f"attention_plugins.checking.{rules or kind}",
        shown=("name", "title", "reference", "description", *shown.split()),
        built_ins=f"attention_plugins.{kind}",
    )  # fmt: skip


# By kind, in the order in which lists show them.
HOOKS = {
    hook.kind: hook
    for hook in (
        _own(attention_scorings, ScoringSpec, "scoring", "formula same_size tasks own_normaliser"),
        _own(attention_normalisers, NormaliserSpec, "normaliser", "formula sums_to_one signed"),
        _own(attention_layers, LayerSpec, "layer", "formula kinds own_scoring"),
        _own(attention_models, ModelSpec, "model", "task"),
        _own(attention_datasets, DatasetSpec, "data set",
             "formula task aligned sides examples tokeniser metric"),
        _own(attention_tokenisers, TokeniserSpec, "tokeniser", rules="texts"),
        _own(attention_metrics, MetricSpec, "metric", "higher_is_better best worst unit", "texts"),
        Hook(
            function=attention_translations, record=TranslationSpec, noun="translation",
            rules="attention_plugins.checking.texts", shown=("name", "title", "language", "texts"),
        ),
        Hook(
            function=attention_checkpoints, record=CheckpointSpec, noun="checkpoint",
            rules="attention_plugins.checking.checkpoints", shown=("name",),
            title=lambda spec: str(spec.path), built_ins="attention_plugins.checkpoints",
        ),
    )
}  # fmt: skip


def hook_of(record: type[Spec]) -> Hook:
    """The hook that yields records of a type; KeyError if none does."""
    return {hook.record: hook for hook in HOOKS.values()}[record]
