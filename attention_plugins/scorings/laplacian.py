"""The Laplacian kernel, with distances along the axes (L1), as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.radial import Exponential, LineKernel
from attention_plugins.scorings.gaussian import WIDTH
from attention_plugins.scorings.kernels import DistanceKernel


class Laplacian(DistanceKernel):
    """``-|q - k|_1 |w|`` with one weight, ``w = 1 / width``."""

    metric = "absolute"

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.elements_per_pair = sizes.key  # differences along every axis, at any size

    def line_kernel(self) -> LineKernel:
        """``e^-r``, with a kink at distance 0."""
        return Exponential(1.0 / float(self.width), (1.0,))

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|_1 |w|``."""
        return distances * -self.inverse_width.abs()


LAPLACIAN = ScoringSpec(
    name="laplacian",
    title="Laplacian kernel",
    formula=r"-\frac{\lVert q-k\rVert_1}{b}",
    build=Laplacian,
    parameters=(replace(WIDTH, title="Width b"),),
    reference="Rahimi & Recht 2007, Random features for large-scale kernel machines, table 1",
    description="Favours near keys with a sharp peak, yet never quite forgets far ones.",
    same_size=True,
)
