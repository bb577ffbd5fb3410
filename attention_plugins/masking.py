"""Which keys a query may attend to, and how its scores become weights."""

from collections.abc import Callable

import torch
from torch import Tensor

# On a CPU torch's softmax takes the numbers of a row that do not fill a vector one by one. It is
# several times as fast over the first dimension, unless there are only a few scores.
_SHORT_ROW = 16
_FEW_SCORES = 1 << 10

Normaliser = Callable[[Tensor], Tensor]


def as_mask(mask: Tensor, scores_shape: torch.Size) -> Tensor:
    """A boolean mask that broadcasts to scores ``(..., n_q, n_k)``; True: may attend.

    Args:
        mask: a boolean mask already, or valid lengths: ``(batch,)``, one for all queries of a
            row, or ``(batch, n_q)``, one per query.

    Raises:
        ValueError: lengths of another shape, or a floating-point mask.
    """
    if mask.dtype == torch.bool:
        return mask
    if mask.is_floating_point():
        raise ValueError("a mask is boolean (True: may attend) or whole valid lengths, not floats")
    n_queries, n_keys = scores_shape[-2:]
    if mask.dim() not in (1, 2) or (mask.dim() == 2 and mask.shape[1] != n_queries):
        raise ValueError(
            f"need valid lengths of shape (batch,) or (batch, {n_queries}), "
            f"got {tuple(mask.shape)}"
        )
    if mask.shape[0] != scores_shape[0] or len(scores_shape) < 3:
        raise ValueError(
            f"need one row of valid lengths per batch row: scores are {tuple(scores_shape)}, "
            f"lengths {tuple(mask.shape)}"
        )
    lengths = mask if mask.dim() == 2 else mask[:, None]  # (batch, n_q or 1)
    allowed = torch.arange(n_keys, device=mask.device) < lengths[..., None]
    between = (1,) * (len(scores_shape) - 3)  # heads
    return allowed.reshape(allowed.shape[0], *between, *allowed.shape[1:])


def softmax(scores: Tensor) -> Tensor:
    """Over the keys, the last dimension."""
    on_cpu = scores.device.type == "cpu"
    if not on_cpu or scores.shape[-1] >= _SHORT_ROW or scores.numel() < _FEW_SCORES:
        return scores.softmax(dim=-1)
    return scores.movedim(-1, 0).contiguous().softmax(dim=0).movedim(0, -1)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that the mask allows; exactly 0 elsewhere.

    A row without any allowed key is all 0, never NaN. ``scores`` is not changed.

    Args:
        scores: ``(..., n_q, n_k)``; minus infinity rules a key out like a mask.
        mask: None, boolean (True: may attend), or valid lengths; see :func:`as_mask`.

    Returns:
        Weights of the shape of ``scores``; each row sums to 1, or to 0 if fully masked.
    """
    return masked_weights(scores, mask, softmax)


def masked_weights(scores: Tensor, mask: Tensor | None, normalise: Normaliser) -> Tensor:
    """Weights by any normaliser over the keys that the mask allows; exactly 0 elsewhere.

    The normaliser sees the lowest finite number on keys that are ruled out.
    """
    forbidden = ruled_out(scores, mask)
    if forbidden is None:
        return normalise(scores)
    # The lowest finite number, not minus infinity: a fully masked row would be NaN, and its
    # gradient too. The second fill makes the zeros exact.
    lowest = torch.finfo(scores.dtype).min
    return normalise(scores.masked_fill(forbidden, lowest)).masked_fill(forbidden, 0.0)


def ruled_out(scores: Tensor, mask: Tensor | None) -> Tensor | None:
    """Which keys get no weight, broadcasting to the scores; None if all may get some."""
    masked = None if mask is None else ~as_mask(mask, scores.shape)
    scores = scores.detach()
    # Asking a GPU would stall it. The lowest number is found far sooner than all infinite ones.
    if scores.device.type == "cpu" and scores.numel() and scores.amin() > -torch.inf:
        return masked
    infinite = torch.isneginf(scores)
    return infinite if masked is None else masked | infinite


def part_of_mask(allowed: Tensor | None, part: slice) -> Tensor | None:
    """What a boolean mask says to some of the queries; one row may stand for all queries."""
    if allowed is not None and allowed.dim() > 1 and allowed.shape[-2] > 1:
        return allowed[..., part, :]
    return allowed
