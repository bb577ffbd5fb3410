"""The Laplacian kernel, with distances along the axes (L1), as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.distances import absolute_distances
from attention_plugins.scorings.gaussian import WIDTH


class Laplacian(Scoring):
    """``-|q - k|_1 |w|`` with one weight, ``w = 1 / width``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.inverse_width = nn.Parameter(torch.tensor(1.0 / float(values["width"])))

    @property
    def width(self) -> Tensor:
        """The distance at which a weight falls to 1/e, of one element."""
        return 1.0 / self.inverse_width.abs()

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``-|q - k|_1 |w|``."""
        return absolute_distances(queries, keys) * -self.inverse_width.abs()


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
