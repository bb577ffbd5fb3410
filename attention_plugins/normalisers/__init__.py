"""The built-in normalisers, registered by the same hook as anybody's."""

from collections.abc import Iterator

from attention_plugins.contract import NormaliserSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.normalisers.hard import GUMBEL, hard, top_k
from attention_plugins.normalisers.softmax import TEMPERATURE, off_by_one, relu, sigmoid, softmax
from attention_plugins.normalisers.sparsemax import ENTMAX, entmax15, sparsemax


@hookimpl
def attention_normalisers() -> Iterator[NormaliserSpec]:
    """The normalisers, in the order in which pages list them."""
    yield from (
        softmax, TEMPERATURE, sparsemax, entmax15, ENTMAX, top_k,
        hard, GUMBEL, off_by_one, sigmoid, relu,
    )  # fmt: skip
