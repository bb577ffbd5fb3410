"""The rational quadratic kernel: Gaussians of many widths at once."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.gaussian import WIDTH
from attention_plugins.scorings.kernels import DistanceKernel


class RationalQuadratic(DistanceKernel):
    """``log((1 + |q - k|^2 w^2 / (2 alpha))^-alpha)``; what is learned is ``log(alpha)``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.log_alpha = nn.Parameter(torch.tensor(math.log(float(values["alpha"]))))

    @property
    def alpha(self) -> Tensor:
        """How fast the tails fall, of one element; always positive."""
        return self.log_alpha.exp()

    def profile(self, distances: Tensor) -> Tensor:
        """``-alpha log(1 + |q - k|^2 w^2 / (2 alpha))``."""
        return (self.scaled(distances) / (2.0 * self.alpha)).log1p() * -self.alpha


RATIONAL_QUADRATIC = ScoringSpec(
    name="rational_quadratic",
    title="Rational quadratic kernel",
    formula=r"-\alpha \ln\left(1+\frac{\lVert q-k\rVert_2^2}{2\alpha\sigma^2}\right)",
    build=RationalQuadratic,
    parameters=(
        WIDTH,
        Parameter(
            name="alpha",
            title="Tails α",
            default=1.0,
            low=0.1,
            high=50.0,
            step=0.1,
            learnable=True,
            help="The smaller, the more far keys count; large values give the Gaussian kernel.",
        ),
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.1, "
    "equation 4.19",
    description="Favours near keys as Gaussians of many widths together would; far ones still "
    "count.",
    same_size=True,
)
