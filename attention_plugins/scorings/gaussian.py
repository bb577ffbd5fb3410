"""The Gaussian kernel: softmax over it is Nadaraya-Watson regression."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import Parameter, ScoringSpec
from attention_plugins.scorings.kernels import DistanceKernel

WIDTH = Parameter(
    name="width",
    title="Width σ",
    default=1.0,
    low=0.02,
    high=10.0,
    step=0.01,
    learnable=True,
    help="How far a query looks: keys much farther away than this count almost nothing.",
)


class Gaussian(DistanceKernel):
    """``-|q - k|^2 w^2 / 2`` with one weight, ``w = 1 / width``, as in d2l.ai, equation 10.2.7.

    ``w`` itself is what training changes, so that a step of gradient descent is the textbook's.
    """

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|^2 w^2 / 2``."""
        return distances * (-0.5 * self.inverse_width.square())


GAUSSIAN = ScoringSpec(
    name="gaussian",
    title="Gaussian kernel",
    formula=r"-\frac{\lVert q-k\rVert_2^2}{2\sigma^2}",
    build=Gaussian,
    parameters=(WIDTH,),
    reference="Nadaraya 1964, On estimating regression; Watson 1964, Smooth regression analysis",
    description="Favours near keys; weights fall off with the square of the distance.",
    same_size=True,
)
