"""Sparsemax: the softmax's sparse sibling."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.contract import normaliser
from attention_plugins.normalisers.support import below_best


@normaliser(
    "sparsemax",
    formula=r"\max(s_i-\tau(s),\,0)",
    reference="Martins & Astudillo 2016, From softmax to sparsemax, algorithm 1",
    description="The nearest point of the simplex: far keys get a weight of exactly 0.",
)
def sparsemax(scores: Tensor) -> Tensor:
    """``max(s - tau, 0)`` with the threshold ``tau`` at which the weights sum to 1."""
    below = below_best(scores)
    ordered = below.sort(dim=-1, descending=True).values
    counts = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    excess = ordered.cumsum(dim=-1) - 1
    support = (counts * ordered > excess).sum(dim=-1, keepdim=True)
    threshold = excess.gather(-1, support - 1) / support
    return (below - threshold).clamp_min(0.0)
