"""The plain dot product."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import scoring


@scoring(
    "dot",
    title="Dot product",
    formula=r"q^\top k",
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation, section 3.1",
    description="Favours long keys that point the way of the query; sharper the larger they are.",
    same_size=True,
)
def dot_product(queries: Tensor, keys: Tensor) -> Tensor:
    """``q . k``."""
    return queries @ keys.mT
