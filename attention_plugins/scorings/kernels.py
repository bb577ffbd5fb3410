"""What kernels of a distance share: a width that is learned."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.contract import Parameter, Scalar, Sizes
from attention_plugins.radial import LineKernel, RadialScoring, Smooth, elements_of_squares


class DistanceKernel(RadialScoring):
    """A kernel of ``|q - k| |w|`` with one weight, ``w = 1 / width``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = elements_of_squares(sizes.key)
        self.inverse_width = nn.Parameter(torch.tensor(1.0 / float(values["width"])))

    @property
    def width(self) -> Tensor:
        """The distance that counts as 1, of one element; positive whatever the weight's sign."""
        return 1.0 / self.inverse_width.abs()

    def line_kernel(self) -> LineKernel | None:
        """Smooth over one width, unless a kernel says otherwise."""
        return Smooth(float(self.width))

    def scaled(self, squares: Tensor) -> Tensor:
        """``|q - k|^2 w^2`` of squared distances."""
        return squares * self.inverse_width.square()


def rule_out(scores: Tensor, allowed: Tensor) -> Tensor:
    """Minus infinity, and no gradient, on all that is not allowed."""
    return torch.where(allowed, scores, -torch.inf)


WINDOW = Parameter(
    name="width",
    title="Width h",
    default=2.0,
    low=0.02,
    high=10.0,
    step=0.01,
    learnable=True,
    help="How far a query looks: keys farther away than this count nothing.",
)
