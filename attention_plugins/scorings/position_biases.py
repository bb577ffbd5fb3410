"""Scaled dot products plus a number that depends on the distance alone."""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attention_plugins.attention import Positions, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.scaled_dot import scaled_dot


def by_heads(numbers: Tensor) -> Tensor:
    """One number per head ``(heads,)``, shaped to go with scores ``([heads,] n_q, n_k)``.

    With one head scores may have no axis of heads, and get none here.
    """
    return numbers.reshape(-1, 1, 1) if len(numbers) > 1 else numbers.reshape(1, 1)


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


KERPLE_LOG = ScoringSpec(build=KerpleLog, **row(__file__, "kerple_log"))


class KerplePower(Scoring):
    """``q . k / sqrt(d) - r |i - j|^s`` with ``r > 0`` and ``0 < s < 2`` for each head."""

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        # What is learned keeps both in bounds; they start within (0, 2) and at 1.
        self.log_cost = nn.Parameter((2.0 * torch.rand(sizes.heads).clamp_min(0.01)).log())
        self.bend = nn.Parameter(torch.zeros(sizes.heads))

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """``q . k / sqrt(d) - r |i - j|^s``."""
        away = positions.distances.abs().to(queries.dtype)
        cost, power = by_heads(self.log_cost.exp()), by_heads(2.0 * torch.sigmoid(self.bend))
        return scaled_dot(queries, keys) - cost * away**power


KERPLE_POWER = replace(KERPLE_LOG, build=KerplePower, **row(__file__, "kerple_power"))

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
        bias = self.table[:, bucket(positions.distances)]  # (heads, n_q, n_k)
        return scaled_dot(queries, keys) + (bias if len(bias) > 1 else bias[0])


T5_BIAS = ScoringSpec(build=T5Bias, **row(__file__, "t5_bias"))

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


SWIN_V2 = ScoringSpec(build=SwinV2, **row(__file__, "swin_v2"))


def alibi_slopes(heads: int) -> list[float]:
    """A geometric sequence from ``2 ** (-8 / heads)`` to ``2 ** -8``, where heads are 2 ** n.

    Other numbers of heads take those of the power of two below, and every second one of the
    power above, as the authors' code does.
    """
    below = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * head / below) for head in range(1, below + 1)]
    return slopes if below == heads else slopes + alibi_slopes(2 * below)[::2][: heads - below]


class Alibi(Scoring):
    """``q . k / sqrt(d) - m |i - j|`` with a slope ``m`` for each head; nothing is learned."""

    needs = ("positions",)
    elements_per_pair = 1
    slopes: Tensor

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(sizes.heads)))

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """``q . k / sqrt(d) - m |i - j|``; the paper's distances only look back."""
        away = positions.distances.abs().to(queries.dtype)
        return scaled_dot(queries, keys).addcmul_(by_heads(self.slopes), away, value=-1.0)


ALIBI = ScoringSpec(build=Alibi, **row(__file__, "alibi"))

_FIRE_HIDDEN, _PACE, _EPSILON = 32, 0.1, 1e-6  # as in the authors' code


class Fire(Scoring):
    """``q . k / sqrt(d) + f(log(c |i - j| + 1) / log(c max(L, i) + 1))``, ``f`` for each head.

    The paper's distances only look back. Its network adds a constant at the end, which the
    softmax cancels: it is left out.
    """

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.start = float(values["threshold"])
        self.pace = nn.Parameter(torch.tensor(_PACE))
        self.share = nn.Parameter(torch.tensor(1.0))
        self.rise = nn.Linear(1, _FIRE_HIDDEN)
        self.fall = nn.Linear(_FIRE_HIDDEN, sizes.heads, bias=False)

    @property
    def threshold(self) -> Tensor:
        """The threshold ``L`` in use: descent may carry the weight itself below 0."""
        return (self.share * self.start).abs()

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The scaled dot product, and what the network makes of the share of the way back."""
        distances = self._spaced(positions.distances.to(queries.dtype))
        reach = torch.maximum(positions.queries.to(queries.dtype), self.threshold)
        shares = distances / (self._spaced(reach)[:, None] + _EPSILON)  # (n_q, n_k)
        bias = self.fall(self.rise(shares[..., None]).relu()).movedim(-1, 0)
        return scaled_dot(queries, keys) + (bias if len(bias) > 1 else bias[0])

    def _spaced(self, places: Tensor) -> Tensor:
        return (self.pace * places).abs().log1p()


FIRE = ScoringSpec(build=Fire, **row(__file__, "fire"))
