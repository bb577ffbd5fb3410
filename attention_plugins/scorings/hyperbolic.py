"""Hyperbolic distance: a space with room for trees."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.radial import elements_of_squares, squared_distances


def hyperbolic_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """``arcosh(sqrt(1 + |q|^2) sqrt(1 + |k|^2) - q . k)``, ``(..., n_q, n_k)``.

    The vectors are points ``(sqrt(1 + |x|^2), x)`` of the hyperboloid. As ``2 arsinh`` of half the
    chord, near points lose no digits: of the cosine all would be lost in the 1.
    """
    asked, answers = (x.square().sum(dim=-1, keepdim=True) for x in (queries, keys))
    heights = (1.0 + asked).sqrt() + (1.0 + answers).sqrt().mT
    rise = (asked - answers.mT) / heights  # the difference of the first coordinates
    chords = squared_distances(queries, keys) - rise.square()
    # The root has no gradient at 0, and rounding may leave a little below it.
    return 2.0 * torch.asinh(chords.clamp_min(torch.finfo(chords.dtype).tiny).sqrt() / 2.0)


class Hyperbolic(Scoring):
    """``-beta`` times the hyperbolic distance of query and key.

    The paper's constant is cancelled by the softmax; values are averaged as everywhere, not by an
    Einstein midpoint.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = elements_of_squares(sizes.key)
        self.learned_beta = nn.Parameter(torch.tensor(float(values["beta"])))

    @property
    def beta(self) -> Tensor:
        """The factor in use: descent may carry the weight itself below 0."""
        return self.learned_beta.abs()

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``-beta d(q, k)``."""
        return -self.beta * hyperbolic_distances(queries, keys)


HYPERBOLIC = ScoringSpec(build=Hyperbolic, **row(__file__, "hyperbolic"))
