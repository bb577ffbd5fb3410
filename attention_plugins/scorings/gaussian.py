"""The Gaussian kernel: softmax over it is Nadaraya-Watson regression."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.distances import squared_distances

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


class Gaussian(Scoring):
    """``-|q - k|^2 w^2 / 2`` with one weight, ``w = 1 / width``, as in d2l.ai (11.2.7).

    ``w`` itself is what training changes, so that a step of gradient descent is the textbook's.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.inverse_width = nn.Parameter(torch.tensor(1.0 / float(values["width"])))

    @property
    def width(self) -> Tensor:
        """The kernel's standard deviation, of one element; positive whatever the weight's sign."""
        return 1.0 / self.inverse_width.abs()

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``-|q - k|^2 w^2 / 2``."""
        return squared_distances(queries, keys) * (-0.5 * self.inverse_width.square())


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
