"""KERPLE: a cost of distance that grows with its logarithm, learned for each head."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import by_heads, scaled_dot


class KerpleLog(Scoring):
    """``q . k / sqrt(d) - r log(1 + s |i - j|)`` with positive ``r`` and ``s`` for each head."""

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        # Logarithms are learned, which keeps both positive; they start within (0, 2) and (0, 1).
        self.log_cost = nn.Parameter((2.0 * torch.rand(sizes.heads).clamp_min(0.01)).log())
        self.log_pace = nn.Parameter(torch.rand(sizes.heads).clamp_min(0.01).log())

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """``q . k / sqrt(d) - r log(1 + s |i - j|)``."""
        away = positions.distances.abs().to(queries.dtype)
        cost, pace = by_heads(self.log_cost.exp()), by_heads(self.log_pace.exp())
        return scaled_dot(queries, keys) - cost * (pace * away).log1p()


KERPLE_LOG = ScoringSpec(
    name="kerple_log",
    title="Logarithmic distance (KERPLE)",
    formula=r"\frac{q_i^\top k_j}{\sqrt{d}} - r_h\log(1+s_h\,\lvert i-j\rvert)",
    build=KerpleLog,
    reference="Chi et al. 2022, KERPLE: kernelized relative positional embedding for length "
    "extrapolation, section 4, the logarithmic variant",
    description="Distance costs, but the next word farther away costs less than the one before.",
    same_size=True,
    tasks=("translation", "encoding"),
)
