"""The built-in scorings, registered by the same hook as anybody's."""

from __future__ import annotations

from collections.abc import Iterator

from attention_plugins.contract import ScoringSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.scorings.additive import ADDITIVE, MLP
from attention_plugins.scorings.bilinear import BILINEAR
from attention_plugins.scorings.cosine import COSINE
from attention_plugins.scorings.dot import dot_product
from attention_plugins.scorings.gaussian import GAUSSIAN
from attention_plugins.scorings.laplacian import LAPLACIAN
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.scorings.uniform import average_pooling


@hookimpl
def attention_scorings() -> Iterator[ScoringSpec]:
    """The scorings, in the order in which pages list them."""
    yield from (
        scaled_dot_product, dot_product, ADDITIVE, MLP, BILINEAR,
        COSINE, GAUSSIAN, LAPLACIAN, average_pooling,
    )  # fmt: skip
