"""cosFormer: a kernel of positive features that fades with the distance, in linear time."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import KernelScoring, Positions
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


class CosFormer(KernelScoring):
    """``log(relu(q_i) . relu(k_j) cos(pi (i - j) / 2 M))``; the cosine is a sum of two products.

    Places beyond ``M`` count as ``M``: farther apart the cosine would be negative.
    """

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.longest = int(values["longest"])

    def query_features(self, queries: Tensor, *, positions: Positions) -> Tensor:
        """``relu(q)`` times cosine and times sine of the query's place."""
        return self._placed(queries, positions.queries)

    def key_features(self, keys: Tensor, *, positions: Positions) -> Tensor:
        """``relu(k)`` times cosine and times sine of the key's place."""
        return self._placed(keys, positions.keys)

    def _placed(self, vectors: Tensor, places: Tensor) -> Tensor:
        wide = torch.promote_types(vectors.dtype, torch.float32)
        angles = math.pi / 2 * places.clamp_max(self.longest).to(wide)[:, None] / self.longest
        seen = vectors.relu()
        return torch.cat([seen * turn.to(seen.dtype) for turn in (angles.cos(), angles.sin())], -1)


COSFORMER = ScoringSpec(build=CosFormer, **row(__file__, "cosformer"))
