"""The hooks of the entry-point group ``attention_plugins``.

A plugin is any importable module that an entry point of that group names. It implements as many
of these as it likes; the built-ins use the same four.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from attention_plugins.contract import CheckpointSpec, DatasetSpec, ModelSpec, ScoringSpec

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


@hookspec
def attention_models() -> Iterable[ModelSpec]:
    """Yield models that attend with whatever scoring they are given."""


@hookspec
def attention_checkpoints() -> Iterable[CheckpointSpec]:
    """Yield trained models at rest: folders with ``model.safetensors`` and ``card.json``."""


@hookspec
def attention_datasets() -> Iterable[DatasetSpec]:
    """Yield regression problems and parallel corpora."""
