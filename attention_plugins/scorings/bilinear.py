"""Luong's "general" scoring: a dot product after a learned change of the keys."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.attention import ProductScoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


class Bilinear(ProductScoring):
    """``q . W k``; queries and keys may differ in size."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.from_key = nn.Linear(sizes.key, sizes.query, bias=False)
        # Scores of unit-variance queries and keys then start with unit variance too.
        nn.init.normal_(self.from_key.weight, std=(sizes.query * sizes.key) ** -0.5)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``W k``."""
        return self.from_key(keys)


BILINEAR = ScoringSpec(
    name="bilinear",
    title="Bilinear (Luong's general)",
    formula=r"q^\top W k",
    build=Bilinear,
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation, section 3.1",
    description="A learned matrix says which direction of a key answers which direction of a "
    "query.",
)
