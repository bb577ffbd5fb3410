"""Rotary positions: queries and keys are turned by where they stand."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import Positions, Product, ProductScoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import sines_and_cosines


def turn(vectors: Tensor, places: Tensor) -> Tensor:
    """Each pair of neighbouring numbers of ``(..., n, d)`` as a point, turned by its angle.

    The last number of an odd size has no partner and stays as it is.
    """
    sines, cosines = sines_and_cosines(places, vectors.shape[-1], vectors)
    paired = 2 * sines.shape[-1]
    x, y = vectors[..., 0:paired:2], vectors[..., 1:paired:2]
    turned = torch.stack([x * cosines - y * sines, x * sines + y * cosines], dim=-1).flatten(-2)
    return torch.cat([turned, vectors[..., paired:]], dim=-1)


class Rope(ProductScoring):
    """``(R_i q) . (R_j k) / sqrt(d)``, which depends on ``j - i`` alone."""

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()

    def factors(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Product:
        """``R_i q``, ``R_j k`` and ``1 / sqrt(d)``."""
        turned = turn(queries, positions.queries), turn(keys, positions.keys)
        return Product(*turned, 1.0 / math.sqrt(queries.shape[-1]))


ROPE = ScoringSpec(
    name="rope",
    title="Rotary (RoPE)",
    formula=r"\frac{(R_i q_i)^\top R_j k_j}{\sqrt{d}}",
    build=Rope,
    reference="Su et al. 2021, RoFormer: enhanced transformer with rotary position embedding, "
    "section 3.2.2",
    description="Turns queries and keys by their places, so that a score depends on how far "
    "apart two words stand.",
    same_size=True,
    tasks=("translation", "encoding"),
)
