"""Shaw's relative positions: a learned vector for every distance, in keys and in values."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import scaled_dot


class Shaw(Scoring):
    """``q . (k + a) / sqrt(d)``, and values ``v + c``; ``a``, ``c`` belong to the distance.

    The heads share both tables, as in the paper's section 3.3.
    """

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.farthest = int(values["farthest"])
        distances = 2 * self.farthest + 1
        self.keys_table = nn.Parameter(torch.empty(distances, sizes.key))
        self.values_table = nn.Parameter(torch.empty(distances, sizes.value or sizes.key))
        for table in (self.keys_table, self.values_table):
            nn.init.xavier_uniform_(table)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """Equation 4: ``q . k`` and ``q . a`` apart, so that no vector is made per pair."""
        asked = scaled_dot(queries, self.keys_table)  # (..., n_q, distances)
        return scaled_dot(queries, keys) + asked.gather(-1, self._rows(asked, positions))

    def pool(self, weights: Tensor, values: Tensor, *, positions: Positions) -> Tensor:
        """Equation 3: the weighted values, and each distance's vector by its share of weight."""
        shares = weights.new_zeros(*weights.shape[:-1], len(self.values_table))
        shares = shares.scatter_add(-1, self._rows(weights, positions), weights)
        return weights @ values + shares @ self.values_table

    def _rows(self, like: Tensor, positions: Positions) -> Tensor:
        """Each pair's row of the tables, ``(..., n_q, n_k)``: its distance, clipped."""
        rows = positions.distances.clamp(-self.farthest, self.farthest) + self.farthest
        return rows.expand(*like.shape[:-2], *rows.shape)


SHAW = ScoringSpec(
    name="shaw",
    title="Relative vectors (Shaw)",
    formula=r"\frac{q_i^\top (k_j + a_{\mathrm{clip}(j-i)})}{\sqrt{d}}",
    build=Shaw,
    parameters=(
        Parameter(
            name="farthest",
            title="Farthest distance",
            default=4,
            low=1,
            high=64,
            unit="positions",
            help="Words farther apart than this count as this far apart.",
        ),
    ),
    reference="Shaw, Uszkoreit & Vaswani 2018, Self-attention with relative position "
    "representations, sections 3.1 and 3.2",
    description="Learns a vector for every distance: queries look for it, and values tell it.",
    same_size=True,
    tasks=("translation", "encoding"),
)
