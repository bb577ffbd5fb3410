"""Dot products in which the distance meets the query or the key."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.attention import Positions, Product, ProductScoring, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.scaled_dot import scaled_dot

# The wavelengths grow from 2 pi to this times 2 pi, as in Vaswani et al. 2017, section 3.5.
_LONGEST = 10_000.0


def _sines_and_cosines(places: Tensor, size: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Of ``places (n,)`` times ``10000 ** (-2 j / size)``, each ``(n, size // 2)``.

    Args:
        size: of the vectors that are compared; the last number of an odd one has no pair.
        like: gives the result's precision. The angles are formed in float32 at least.
    """
    wide = torch.promote_types(like.dtype, torch.float32)
    pairs = torch.arange(size // 2, dtype=wide, device=places.device)
    angles = places.to(wide)[:, None] * _LONGEST ** (-2.0 * pairs / max(size, 1))
    return angles.sin().to(like.dtype), angles.cos().to(like.dtype)


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


SHAW = ScoringSpec(build=Shaw, **row(__file__, "shaw"))


class TransformerXL(Scoring):
    """``((q + u) . k + (q + v) . W r) / sqrt(d)``, ``r`` the sinusoids of ``i - j``.

    ``u``, ``v`` and ``W`` belong to the head. An odd size has one sinusoid less.
    """

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        shape = (sizes.heads, 1) if sizes.heads > 1 else (1,)
        self.content_bias = nn.Parameter(torch.zeros(*shape, sizes.key))  # u
        self.place_bias = nn.Parameter(torch.zeros(*shape, sizes.key))  # v
        self.from_place = nn.Parameter(  # W, by heads
            torch.randn(*shape[:-1], sizes.key, 2 * (sizes.key // 2)) / math.sqrt(sizes.key)
        )

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The four terms of section 3.3, two by two."""
        content = (queries + self.content_bias) @ keys.mT
        places = self._places((queries + self.place_bias) @ self.from_place, positions)
        return (content + places) / math.sqrt(queries.shape[-1])

    def _places(self, asked: Tensor, positions: Positions) -> Tensor:
        """``asked . r(i - j)``; sines first in ``asked (..., n_q, sinusoids)``.

        Sine and cosine of a difference are products of those of ``i`` and ``j``: no sinusoid is
        made per pair.
        """
        size = self.from_place.shape[-2]
        sines, cosines = _sines_and_cosines(positions.queries, size, asked)
        key_sines, key_cosines = _sines_and_cosines(positions.keys, size, asked)
        for_sine, for_cosine = asked.chunk(2, dim=-1) if size > 1 else (asked, asked)
        with_sine = for_cosine * sines - for_sine * cosines
        with_cosine = for_sine * sines + for_cosine * cosines
        return with_sine @ key_sines.mT + with_cosine @ key_cosines.mT


TRANSFORMER_XL = ScoringSpec(build=TransformerXL, **row(__file__, "transformer_xl"))


def turn(vectors: Tensor, places: Tensor) -> Tensor:
    """Each pair of neighbouring numbers of ``(..., n, d)`` as a point, turned by its angle.

    The last number of an odd size has no partner and stays as it is.
    """
    sines, cosines = _sines_and_cosines(places, vectors.shape[-1], vectors)
    paired = 2 * sines.shape[-1]
    x, y = vectors[..., 0:paired:2], vectors[..., 1:paired:2]
    turned = torch.stack([x * cosines - y * sines, x * sines + y * cosines], dim=-1).flatten(-2)
    return torch.cat([turned, vectors[..., paired:]], dim=-1)


class Rope(ProductScoring):
    """``(R_i q) . (R_j k) / sqrt(d)``, which depends on ``j - i`` alone."""

    needs = ("positions",)

    def factors(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Product:
        """``R_i q``, ``R_j k`` and ``1 / sqrt(d)``."""
        turned = turn(queries, positions.queries), turn(keys, positions.keys)
        return Product(*turned, 1.0 / math.sqrt(queries.shape[-1]))


ROPE = ScoringSpec(build=lambda sizes, values: Rope(), **row(__file__, "rope"))

_GAMMA = 0.4  # as in the authors' code


class XPos(ProductScoring):
    """``sum_p z_p^((i - j) / B) (R_i q)_p . (R_j k)_p / sqrt(d)`` over the pairs ``p``.

    ``z_p = (2 p / d + 0.4) / 1.4``: pairs that turn fast fade fast. The paper's queries look back
    only. At later keys the factor is above 1, and beyond ``70 B`` ahead it leaves float32.
    """

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.base = float(values["base"])

    def factors(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Product:
        """What RoPE multiplies, times powers of ``z`` that meet as ``z^((i - j) / B)``."""
        # From the middle of the keys, so that neither power leaves float32 in long sequences.
        middle = positions.keys.max() // 2
        asked = self._faded(turn(queries, positions.queries), positions.queries - middle)
        answers = self._faded(turn(keys, positions.keys), middle - positions.keys)
        return Product(asked, answers, 1.0 / math.sqrt(queries.shape[-1]))

    def _faded(self, vectors: Tensor, places: Tensor) -> Tensor:
        size = vectors.shape[-1]
        wide = torch.promote_types(vectors.dtype, torch.float32)
        pairs = torch.arange(size // 2, dtype=wide, device=vectors.device)
        bases = (2.0 * pairs / size + _GAMMA) / (1.0 + _GAMMA)
        powers = bases ** (places.to(wide)[:, None] / self.base)  # (n, size // 2)
        powers = powers.repeat_interleave(2, dim=-1)
        return vectors * pad(powers, (0, size % 2), value=1.0).to(vectors.dtype)


XPOS = ScoringSpec(build=XPos, **row(__file__, "xpos"))
