"""Dot product over the root of its length, so that scores keep unit variance at any size."""

from __future__ import annotations

import math

from torch import Tensor

from attention_plugins.contract import scoring


@scoring(
    "scaled_dot",
    title="Scaled dot product",
    formula=r"\frac{q^\top k}{\sqrt{d}}",
    reference="Vaswani et al. 2017, Attention is all you need, section 3.2.1",
    description="Favours keys that point the way of the query, equally strongly at every size.",
    same_size=True,
)
def scaled_dot_product(queries: Tensor, keys: Tensor) -> Tensor:
    """``q . k / sqrt(d)``."""
    # The queries are divided, not the scores: fewer numbers, and none grows large on the way.
    return (queries / math.sqrt(queries.shape[-1])) @ keys.mT
