"""Regression from the nearest points alone, weighted by any scoring function."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import (
    ModelSizes,
    ModelSpec,
    Parameter,
    Scalar,
    ScoringFactory,
    Sizes,
)
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.tap import Site, Tap

_SITE = Site("pooling", 0)


def nearest(queries: Tensor, keys: Tensor, count: int, mask: Tensor | None) -> Tensor:
    """Which keys are among the ``count`` nearest of those that each query may see, ``(m, n)``.

    By Euclidean distance; points as far away as the last of them belong to them too, so that
    the order of the points means nothing.

    Args:
        queries, keys: ``(m, d)`` and ``(n, d)``.
        mask: boolean, ``(m, n)``, True where a query may see a key; None: everywhere.
    """
    # Not by matrix products: their rounding would depend on how many points there are.
    away = torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist")
    seen = torch.ones_like(away, dtype=torch.bool) if mask is None else mask
    away = away.masked_fill(~seen, torch.inf)
    farthest = away.kthvalue(min(count, keys.shape[0]), dim=-1, keepdim=True).values  # (m, 1)
    return seen & (away <= farthest)


class NearestNeighbours(nn.Module):
    """``f(x) = sum_i softmax_i(a(x, x_i)) y_i`` over the ``k`` training points nearest to x."""

    def __init__(self, scoring: Scoring, count: int) -> None:
        super().__init__()
        self.scoring, self.count = scoring, count

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at ``queries (m, d)``, from ``keys (n, d)`` and ``values (n,)``."""
        near = nearest(queries, keys, self.count, mask)
        return tap.attend(_SITE, self.scoring, queries, keys, values[:, None], near)[:, 0]


def _build(
    factory: ScoringFactory, sizes: ModelSizes, parameters: Mapping[str, Scalar]
) -> NearestNeighbours:
    scoring = factory(Sizes(sizes.source, sizes.source, int(parameters["hidden"]), value=1))
    return NearestNeighbours(scoring, int(parameters["neighbours"]))


NEAREST_NEIGHBOURS = ModelSpec(
    name="nearest_neighbours",
    title="Nearest neighbours",
    task="regression",
    build=_build,
    parameters=(
        Parameter(name="neighbours", title="Neighbours k", default=8, low=1, high=512),
        *NADARAYA_WATSON.parameters,
    ),
    reference="Fix & Hodges 1951, Discriminatory analysis: nonparametric discrimination; "
    "Cover 1968, Estimation by the nearest neighbor rule; "
    "Stone 1977, Consistent nonparametric regression",
    description="Every prediction is a weighted mean of the values of the nearest training "
    "points; all others are out of sight.",
)
