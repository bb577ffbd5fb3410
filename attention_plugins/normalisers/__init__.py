"""The built-in normalisers, registered by the same hook as anybody's."""

from collections.abc import Iterator

from attention_plugins.contract import NormaliserSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.normalisers.hard import GUMBEL, GUMBEL_SOFTMAX, hard, top_k
from attention_plugins.normalisers.softmax import (
    SCALABLE_SOFTMAX,
    TEMPERATURE,
    off_by_one,
    relu,
    sigmoid,
    softmax,
    softpick,
    stick_breaking,
)
from attention_plugins.normalisers.sparsemax import ENTMAX, entmax15, sparsemax

ATTENTION_EXPECTED_FAILURES = {
    "stick_breaking": {
        "moving_a_key_moves_its_weight": "the stick is broken from the last key to the first, "
        "which is how it prefers recent keys without positions"
    }
}


@hookimpl
def attention_normalisers() -> Iterator[NormaliserSpec]:
    """The normalisers, in the order in which pages list them."""
    yield from (
        softmax, TEMPERATURE, SCALABLE_SOFTMAX, sparsemax, entmax15, ENTMAX, top_k,
        hard, GUMBEL, GUMBEL_SOFTMAX, off_by_one, softpick, stick_breaking, sigmoid, relu,
    )  # fmt: skip
