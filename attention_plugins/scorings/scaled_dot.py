"""Dot product over the root of its length, so that scores keep unit variance at any size."""

import math

from torch import Tensor

from attention_plugins.attention import Product, ProductScoring
from attention_plugins.contract import ScoringSpec


def scaled_dot(queries: Tensor, keys: Tensor) -> Tensor:
    """``q . k / sqrt(d)``, ``(..., n_q, n_k)``."""
    return (queries / math.sqrt(queries.shape[-1])) @ keys.mT


class ScaledDot(ProductScoring):
    """``q . k / sqrt(d)``."""

    def factors(self, queries: Tensor, keys: Tensor) -> Product:
        """Queries and keys as they are, and ``1 / sqrt(d)``."""
        return Product(queries, keys, 1.0 / math.sqrt(queries.shape[-1]))


scaled_dot_product = ScoringSpec(
    name="scaled_dot", title="Scaled dot product", formula=r"\frac{q^\top k}{\sqrt{d}}",
    build=lambda sizes, values: ScaledDot(),
    reference="Vaswani et al. 2017, Attention is all you need, section 3.2.1",
    description="Favours keys that point the way of the query, equally strongly at every size.",
    same_size=True,
)  # fmt: skip
