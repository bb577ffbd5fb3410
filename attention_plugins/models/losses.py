"""What translation models minimise."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def masked_cross_entropy(
    logits: Tensor, target: Tensor, lengths: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Mean cross-entropy over the tokens that count, in nats.

    Args:
        logits: ``(B, m, vocabulary)``.
        target: ``(B, m)`` token ids.
        lengths: ``(B,)``; tokens from there on are padding and do not count.
        label_smoothing: share of the target probability spread over the whole vocabulary.
    """
    counts = torch.arange(target.shape[1], device=target.device) < lengths[:, None]  # (B, m)
    return cross_entropy(logits[counts], target[counts], label_smoothing=label_smoothing)
