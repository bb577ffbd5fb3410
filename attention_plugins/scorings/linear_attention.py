"""Kernels of features that are never negative: sums over keys in linear time."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import KernelScoring, Positions
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes

# Exponents of features stay within these, so that no product or sum of them leaves float32, and a
# product of two is above its smallest normal number.
_LOWEST, _HIGHEST = -40.0, 60.0


def orthogonal_features(count: int, size: int) -> Tensor:
    """Rows ``(count, size)``, orthogonal in blocks of ``size``, of a normal vector's lengths."""
    q, r = torch.linalg.qr(torch.randn(-(-count // size), size, size))
    # Whichever sign the decomposition prefers would be a bias: those of a random rotation.
    rotations = q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return rotations.mT.flatten(0, 1)[:count] * torch.randn(count, size).norm(dim=-1, keepdim=True)


class Performer(KernelScoring):
    """``log(phi(q) . phi(k))``, ``phi(x) = exp(W x - |x|^2 / 2) / sqrt(m)``, ``x`` over ``d^1/4``.

    A query's largest exponent is taken off: the division by the row's sum cancels it. Nothing is
    taken off the keys, since it would have to be the same for all, those to come included.
    """

    features: Tensor

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.register_buffer("features", orthogonal_features(int(values["features"]), sizes.key))

    def query_features(self, queries: Tensor) -> Tensor:
        """``phi(q)`` over its largest entry."""
        exponents = self._exponents(queries)
        return (exponents - exponents.amax(dim=-1, keepdim=True)).clamp_min(_LOWEST).exp()

    def key_features(self, keys: Tensor) -> Tensor:
        """``phi(k)``."""
        exponents = self._exponents(keys) - math.log(len(self.features)) / 2
        return exponents.clamp(_LOWEST, _HIGHEST).exp()

    def _exponents(self, points: Tensor) -> Tensor:
        points = points / points.shape[-1] ** 0.25
        return points @ self.features.mT - points.square().sum(dim=-1, keepdim=True) / 2


PERFORMER = ScoringSpec(build=Performer, **row(__file__, "performer"))


class LinearAttention(KernelScoring):
    """``log(phi(q) . phi(k))`` with ``phi(x) = elu(x) + 1``."""

    def query_features(self, queries: Tensor) -> Tensor:
        """``elu(q) + 1``: ``q + 1`` above 0, ``e^q`` below."""
        # Not elu(q) + 1, which rounds to 0 where e^q is far from it.
        return queries.clamp(_LOWEST, 0.0).exp() + queries.relu()

    def key_features(self, keys: Tensor) -> Tensor:
        """``elu(k) + 1``."""
        return self.query_features(keys)


LINEAR_ATTENTION = ScoringSpec(
    build=lambda sizes, values: LinearAttention(), **row(__file__, "linear_attention")
)


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
