"""T5's relative bias: a learned number for every distance, far ones sharing theirs."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import looked_up, scaled_dot

# Where each bucket but the first begins: one per distance below 8, then 8 * 2 ** (n / 2), rounded
# up. Whole numbers, since rounded logarithms put 16, 32 and 64 now here, now there.
_STARTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)
_SIDE = len(_STARTS) + 1


def bucket(distances: Tensor) -> Tensor:
    """The bucket of every distance, key minus query: 0 to 15 at or before it, 16 to 31 after.

    Distances below 8 have one each; the others share, in logarithmic steps up to 128.
    """
    away, found = distances.abs(), (distances > 0) * _SIDE
    for start in _STARTS:
        found = found + (away >= start)
    return found


class T5Bias(Scoring):
    """``q . k / sqrt(d) + b``, where ``b`` belongs to the head and the bucket of ``j - i``."""

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(sizes.heads, 2 * _SIDE))

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """``q . k / sqrt(d) + b[bucket(j - i)]``."""
        return scaled_dot(queries, keys) + looked_up(self.table, bucket(positions.distances))


T5_BIAS = ScoringSpec(
    name="t5_bias",
    title="Relative bias (T5)",
    formula=r"\frac{q_i^\top k_j}{\sqrt{d}} + b_{h,\,\mathrm{bucket}(j-i)}",
    build=T5Bias,
    reference="Raffel et al. 2020, Exploring the limits of transfer learning with a unified "
    "text-to-text transformer, section 2.1",
    description="Learns how much each distance is worth; far distances share what they learn.",
    same_size=True,
    tasks=("translation", "encoding"),
)
