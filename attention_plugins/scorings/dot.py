"""Dot products of queries and keys as they are, of their directions, their powers; and none."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attention_plugins.attention import Product, ProductScoring, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes, scoring

dot_product = ScoringSpec(build=lambda sizes, values: ProductScoring(), **row(__file__, "dot"))

# Shorter vectors have no direction; a smaller bound would make their gradients explode.
_SHORTEST = 1e-6


class Cosine(ProductScoring):
    """``s cos(q, k)``; a vector of length 0 scores 0."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(values["scale"]))

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries of length 1."""
        return normalize(queries, dim=-1, eps=_SHORTEST)

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys of length 1."""
        return normalize(keys, dim=-1, eps=_SHORTEST)

    def factors(self, queries: Tensor, keys: Tensor) -> Product:
        """Both of length 1, the queries times ``s``."""
        return Product(self.scale * queries, keys)


COSINE = ScoringSpec(build=Cosine, **row(__file__, "cosine"))


class Polynomial(Scoring):
    """``log((q . k / sqrt(d) + c)^p)``: the degree is even, so that the kernel is positive."""

    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.half_degree = int(values["degree"]) // 2
        self.offset = nn.Parameter(torch.tensor(values["offset"]))

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``p / 2 log((q . k / sqrt(d) + c)^2)``."""
        # At least in float32: near the kernel's zero a rounded product would be far off.
        precise = torch.promote_types(queries.dtype, torch.float32)
        scaled = queries.to(precise) / math.sqrt(queries.shape[-1])
        squares = (scaled @ keys.to(precise).mT + self.offset).square()
        # Not below the smallest normal number: the logarithm has no gradient at 0.
        scores = squares.clamp_min(torch.finfo(precise).tiny).log() * self.half_degree
        return scores.to(queries.dtype)


POLYNOMIAL = ScoringSpec(build=Polynomial, **row(__file__, "polynomial"))


@scoring(**row(__file__, "uniform"))
def average_pooling(queries: Tensor, keys: Tensor) -> Tensor:
    """Zeros, which the softmax turns into equal weights."""
    return torch.zeros_like(queries[..., :1]) + torch.zeros_like(keys[..., :1]).mT
