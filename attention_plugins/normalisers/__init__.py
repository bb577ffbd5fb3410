"""The built-in normalisers, registered by the same hook as anybody's."""

from __future__ import annotations

from collections.abc import Iterator

from attention_plugins.contract import NormaliserSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.normalisers.entmax import ENTMAX, entmax15
from attention_plugins.normalisers.gumbel import GUMBEL
from attention_plugins.normalisers.hard import hard
from attention_plugins.normalisers.off_by_one import off_by_one
from attention_plugins.normalisers.relu import relu
from attention_plugins.normalisers.sigmoid import sigmoid
from attention_plugins.normalisers.softmax import softmax
from attention_plugins.normalisers.sparsemax import sparsemax
from attention_plugins.normalisers.temperature import TEMPERATURE
from attention_plugins.normalisers.top_k import top_k


@hookimpl
def attention_normalisers() -> Iterator[NormaliserSpec]:
    """The normalisers, in the order in which pages list them."""
    yield from (
        softmax, TEMPERATURE, sparsemax, entmax15, ENTMAX, top_k,
        hard, GUMBEL, off_by_one, sigmoid, relu,
    )  # fmt: skip
