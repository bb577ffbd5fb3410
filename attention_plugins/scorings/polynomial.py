"""The polynomial kernel of even degree."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


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
