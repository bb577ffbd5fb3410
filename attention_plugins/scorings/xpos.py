"""xPos: rotary positions whose scores also fade with the distance."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention_plugins.attention import Positions, Product, ProductScoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.relative_positions import turn

_GAMMA = 0.4  # as in the authors' code


class XPos(ProductScoring):
    """``sum_p z_p^((i - j) / B) (R_i q)_p . (R_j k)_p / sqrt(d)`` over the pairs ``p``.

    ``z_p = (2 p / d + 0.4) / 1.4``: pairs that turn fast fade fast. The paper's queries look back
    only. At a key that comes later the same factor is above 1, and more than ``70 B`` ahead it
    leaves float32.
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
