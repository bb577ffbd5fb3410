"""A bilinear scoring whose matrix is a product of two thin ones."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.attention import ProductScoring
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes


class LowRankBilinear(ProductScoring):
    """``U q . V k``; queries and keys may differ in size."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        rank = int(values["rank"])
        self.from_query = nn.Linear(sizes.query, rank, bias=False)
        self.from_key = nn.Linear(sizes.key, rank, bias=False)
        # Scores of unit-variance queries and keys then start with unit variance too.
        nn.init.normal_(self.from_query.weight, std=sizes.query**-0.5)
        nn.init.normal_(self.from_key.weight, std=(sizes.key * rank) ** -0.5)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``U q``, of as many numbers as the rank."""
        return self.from_query(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``V k``, of as many numbers as the rank."""
        return self.from_key(keys)


LOW_RANK_BILINEAR = ScoringSpec(
    name="low_rank_bilinear",
    title="Low-rank bilinear",
    formula=r"(Uq)^\top (Vk)",
    build=LowRankBilinear,
    parameters=(
        Parameter(
            name="rank",
            title="Rank",
            default=4,
            low=1,
            high=256,
            help="How many directions are compared; fewer need fewer weights.",
        ),
    ),
    reference="Kim et al. 2017, Hadamard product for low-rank bilinear pooling, section 2",
    description="Like bilinear, but queries and keys are compared in a few directions only.",
)
