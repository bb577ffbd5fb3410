"""What scorings of positions share: the scaled dot product, tables by heads, sines of places."""

from __future__ import annotations

import math

import torch
from torch import Tensor

# The wavelengths grow from 2 pi to this times 2 pi, as in Vaswani et al. 2017, section 3.5.
_LONGEST = 10_000.0


def scaled_dot(queries: Tensor, keys: Tensor) -> Tensor:
    """``q . k / sqrt(d)``, ``(..., n_q, n_k)``."""
    return (queries / math.sqrt(queries.shape[-1])) @ keys.mT


def by_heads(numbers: Tensor) -> Tensor:
    """One number per head ``(heads,)``, shaped to go with scores ``([heads,] n_q, n_k)``.

    With one head scores may have no axis of heads, and get none here.
    """
    return numbers.reshape(-1, 1, 1) if len(numbers) > 1 else numbers.reshape(1, 1)


def looked_up(table: Tensor, columns: Tensor) -> Tensor:
    """``(heads, columns)`` at ``columns (n_q, n_k)``: ``(heads, n_q, n_k)``, or without heads."""
    found = table[:, columns]
    return found if len(table) > 1 else found[0]


def sines_and_cosines(places: Tensor, size: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Of ``places (n,)`` times ``10000 ** (-2 j / size)``, each ``(n, size // 2)``.

    Args:
        size: of the vectors that are compared; the last number of an odd one has no pair.
        like: gives the result's precision. The angles are formed in float32 at least.
    """
    wide = torch.promote_types(like.dtype, torch.float32)
    pairs = torch.arange(size // 2, dtype=wide, device=places.device)
    angles = places.to(wide)[:, None] * _LONGEST ** (-2.0 * pairs / max(size, 1))
    return angles.sin().to(like.dtype), angles.cos().to(like.dtype)
