"""The Matérn kernels of two smoothnesses: between the Laplacian and the Gaussian."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.radial import Exponential, LineKernel
from attention_plugins.scorings.gaussian import WIDTH
from attention_plugins.scorings.kernels import DistanceKernel


class Matern(DistanceKernel):
    """``log((1 + r) e^-r)`` or ``log((1 + r + r^2 / 3) e^-r)``, ``r = sqrt(2 nu) |q - k| |w|``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.smooth = values["smoothness"] == "5/2"

    def line_kernel(self) -> LineKernel:
        """A polynomial in r times ``e^-r``; at distance 0 it has a kink in a derivative."""
        root = math.sqrt(5.0 if self.smooth else 3.0)
        return Exponential(root / float(self.width), (1.0, 1.0, 1 / 3) if self.smooth else (1, 1))

    def profile(self, distances: Tensor) -> Tensor:
        """``log(1 + r [+ r^2 / 3]) - r``."""
        squares = self.scaled(distances)
        # The root has no gradient at 0, where the kernel's is 0.
        r = squares.clamp_min(torch.finfo(squares.dtype).tiny).sqrt()
        r = r * math.sqrt(5.0 if self.smooth else 3.0)
        return torch.log1p(r + r.square() / 3.0 if self.smooth else r) - r


MATERN = ScoringSpec(
    name="matern",
    title="Matérn kernel",
    formula=r"\ln(1+r)-r \text{ or } \ln\left(1+r+\tfrac{r^2}{3}\right)-r,\ "
    r"r=\frac{\sqrt{2\nu}\,\lVert q-k\rVert_2}{\sigma}",
    build=Matern,
    parameters=(
        WIDTH,
        Parameter(
            name="smoothness",
            title="Smoothness ν",
            default="3/2",
            choices=("3/2", "5/2"),
            help="How often the kernel can be differentiated: once or twice.",
        ),
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.1, "
    "equation 4.17",
    description="Favours near keys; weights fall off smoothly at first, then with the distance "
    "itself.",
    same_size=True,
)
