"""Swin V2's attention: a cosine, and a bias that a small network makes of the distance."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import by_heads

_HIDDEN = 32  # the authors' code has 512, for images
_SHARPEST = 0.01
_SHORTEST = 1e-6


class SwinV2(Scoring):
    """``cos(q, k) / tau + B``: ``tau`` is learned for each head, ``B`` by a network.

    The network reads log-spaced distances, along one axis where the paper's images have two.
    """

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.full((sizes.heads,), math.log(10.0)))
        self.rise = nn.Linear(1, _HIDDEN)
        self.fall = nn.Linear(_HIDDEN, sizes.heads, bias=False)

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries of length 1; shorter ones than 1e-6 have no direction."""
        return normalize(queries, dim=-1, eps=_SHORTEST)

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys of length 1."""
        return normalize(keys, dim=-1, eps=_SHORTEST)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """Equations 2 and 3; ``tau`` is never below 0.01."""
        scale = by_heads(self.log_scale.clamp_max(-math.log(_SHARPEST)).exp())  # 1 / tau
        away = positions.distances.to(queries.dtype)
        spaced = (away.sign() * away.abs().log1p())[..., None]  # equation 4
        bias = self.fall(self.rise(spaced).relu()).movedim(-1, 0)  # (heads, n_q, n_k)
        return scale * (queries @ keys.mT) + (bias if len(bias) > 1 else bias[0])


SWIN_V2 = ScoringSpec(
    name="swin_v2",
    title="Cosine with log-spaced bias (Swin V2)",
    formula=r"\frac{\cos(q_i, k_j)}{\tau_h} + \mathrm{MLP}_h\bigl(\mathrm{sign}(j-i)"
    r"\log(1+\lvert j-i\rvert)\bigr)",
    build=SwinV2,
    reference="Liu et al. 2022, Swin Transformer V2: scaling up capacity and resolution, "
    "sections 3.2 and 3.3",
    description="Compares directions only; a small network learns what near and far are worth.",
    same_size=True,
    tasks=("translation", "encoding"),
)
