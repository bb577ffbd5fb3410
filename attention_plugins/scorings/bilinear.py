"""Dot products after a learned change of the keys: whole, of low rank, and with biases."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import ProductScoring
from attention_plugins.beside import row
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


BILINEAR = ScoringSpec(build=Bilinear, **row(__file__, "bilinear"))


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


LOW_RANK_BILINEAR = ScoringSpec(build=LowRankBilinear, **row(__file__, "low_rank_bilinear"))


class Biaffine(Bilinear):
    """``q . W k + u . k``; queries and keys may differ in size.

    A term of the query alone and a constant would add the same to all keys: the softmax cancels
    them, so they are left out.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes._replace(query=sizes.query + 1), values)  # W, and u below it

    def project_queries(self, queries: Tensor) -> Tensor:
        """``q`` and a 1 behind it."""
        return torch.cat([queries, torch.ones_like(queries[..., :1])], dim=-1)


BIAFFINE = ScoringSpec(build=Biaffine, **row(__file__, "biaffine"))
