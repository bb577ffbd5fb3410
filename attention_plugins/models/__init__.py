"""The built-in models, registered by the same hook as anybody's."""

from __future__ import annotations

from collections.abc import Iterator

from attention_plugins.contract import ModelSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.models.self_attention import SELF_ATTENTION
from attention_plugins.models.transformer import TRANSFORMER


@hookimpl
def attention_models() -> Iterator[ModelSpec]:
    """The models, in the order in which pages list them."""
    yield from (NADARAYA_WATSON, BAHDANAU, TRANSFORMER, SELF_ATTENTION)
