"""A mixture of two kernels, with a learned gate between them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.radial import squared_distances
from attention_plugins.scorings.gaussian import WIDTH
from attention_plugins.scorings.kernels import DistanceKernel


class Mixture(DistanceKernel):
    """``log(g exp(q . k / sqrt(d)) + (1 - g) exp(-|q - k|^2 w^2 / 2))``.

    What is mixed is kernels, not weights: no sum over keys is needed, so no mask either.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        gate = float(values["gate"])
        self.logit = nn.Parameter(torch.tensor(math.log(gate / (1.0 - gate))))

    @property
    def gate(self) -> Tensor:
        """The share of the dot product's kernel, of one element between 0 and 1."""
        return self.logit.sigmoid()

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The logarithm of the mixed kernels."""
        dots = (queries / math.sqrt(queries.shape[-1])) @ keys.mT
        near = self.scaled(squared_distances(queries, keys)) * -0.5
        return torch.logaddexp(dots + logsigmoid(self.logit), near + logsigmoid(-self.logit))


MIXTURE = ScoringSpec(
    name="mixture",
    title="Mixture of dot product and Gaussian",
    formula=r"\ln\left(g\,e^{q^\top k/\sqrt d}+(1-g)\,e^{-\lVert q-k\rVert^2/(2\sigma^2)}\right)",
    build=Mixture,
    parameters=(
        Parameter(
            name="gate",
            title="Gate g",
            default=0.5,
            low=0.01,
            high=0.99,
            step=0.01,
            learnable=True,
            help="1 is the scaled dot product alone, 0 the Gaussian kernel alone.",
        ),
        WIDTH,
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.4",
    description="Favours keys that point the query's way or lie near it, in a proportion that is "
    "learned.",
    same_size=True,
)
