"""What several normalisers share."""

from __future__ import annotations

import torch
from torch import Tensor

# The threshold of every alpha-entmax lies at most 1 below the best scaled score, so what lies
# further below has weight 0, however far: squares of the lowest finite number would overflow.
_FARTHEST = -2.0


def below_best(scores: Tensor) -> Tensor:
    """The scores minus their row's best, cut off where no weight can be."""
    return (scores - scores.amax(dim=-1, keepdim=True).detach()).clamp_min(_FARTHEST)


def allowed_keys(scores: Tensor) -> Tensor:
    """How many keys of each row are not ruled out, at least 1, ``(..., n_q, 1)``."""
    allowed = scores > torch.finfo(scores.dtype).min
    return allowed.sum(dim=-1, keepdim=True).clamp_min(1).to(scores.dtype)
