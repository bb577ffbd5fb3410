"""Numbers to try, and whether two results are the same but for rounding."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers of their own generator."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


@torch.no_grad()
def move(module: nn.Module) -> None:
    """Move all weights a little from where they start: a kernel may start as the identity."""
    for number, weight in enumerate(module.parameters()):
        weight.add_(draw(*weight.shape, seed=200 + number).to(weight.dtype) / 10)


def equal(one: Tensor, other: Tensor, tolerance: float = 1e-9) -> bool:
    """Whether two tensors agree up to rounding, relative to the larger one's largest number.

    What is infinite in one is so in the other.
    """
    if one.shape != other.shape or not one.numel():
        return one.shape == other.shape
    if one.dtype != torch.float64:  # what is cast down is the matter of the rule on precision
        tolerance = max(tolerance, 1e-4)
    size = max(
        1.0, *(float(part.detach().nan_to_num(0, 0, 0).abs().max()) for part in (one, other))
    )
    return bool(torch.allclose(one, other, rtol=0.0, atol=tolerance * size, equal_nan=True))
