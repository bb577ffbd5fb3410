"""The polynomial kernel of even degree."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes


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


POLYNOMIAL = ScoringSpec(
    name="polynomial",
    title="Polynomial kernel",
    formula=r"\ln\left(\frac{q^\top k}{\sqrt{d}}+c\right)^p,\ p \text{ even}",
    build=Polynomial,
    parameters=(
        Parameter(
            name="degree", title="Degree p", default=4, low=2, high=8, step=2,
            help="Even, as weights must not be negative; a higher one sharpens them.",
        ),
        Parameter(
            name="offset", title="Offset c", default=1.0, low=0.0, high=10.0, step=0.1,
            learnable=True,
            help="At 0 opposite keys count as much as those that point the query's way.",
        ),
    ),
    reference="Kacham, Mirrokni & Zhong 2024, PolySketchFormer: fast transformers via sketching "
    "polynomial kernels, section 2",
    description="Weights are powers of the dot product, not exponentials: they sharpen slowly as "
    "it grows.",
    same_size=True,
)  # fmt: skip
