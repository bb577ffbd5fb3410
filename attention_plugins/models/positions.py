"""Where a token stands, as sines and cosines of falling frequency."""

from __future__ import annotations

import torch
from torch import Tensor

# The wavelengths grow from 2 pi to this times 2 pi.
_LONGEST = 10_000.0


def angular_frequencies(size: int, like: Tensor) -> Tensor:
    """``10000 ** (-2 j / size)`` for every pair of columns j, ``(ceil(size / 2),)``, in radians.

    Args:
        size: columns of the encoding.
        like: a floating-point tensor that gives precision and device.
    """
    exponents = torch.arange(0, size, 2, dtype=like.dtype, device=like.device) / size
    return _LONGEST**-exponents


def sinusoidal_positions(
    positions: Tensor, size: int, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The sinusoidal encoding of Vaswani et al. 2017, section 3.5: sin and cos in turn.

    Args:
        positions: ``(...)``, any numbers.
        size: columns; the last cosine is left out where it is odd.
        dtype: of the result.

    Returns:
        ``(..., size)``.
    """
    places = positions.to(dtype)[..., None]
    angles = places * angular_frequencies(size, places)  # (..., pairs)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :size]
