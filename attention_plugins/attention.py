"""Attention, in one place: the scoring's seams, mask, softmax, weighted values."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from torch.utils.checkpoint import checkpoint

# Scores of one block of queries: about what stays in a core's cache, in elements.
_BLOCK_ELEMENTS = 1 << 20


class Scoring(nn.Module):
    """A scoring function ``a(q, k)``: raw scores of every query against every key.

    It never masks, never normalises, never moves devices. Only :meth:`forward` is a must. The
    projections are seams of their own so that keys are projected once, also while decoding.
    """

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries ``(..., n_q, d_q)`` into the space where they are compared."""
        return queries

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys ``(..., n_k, d_k)`` into the space where they are compared."""
        return keys

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Projected queries and keys to scores ``(..., n_q, n_k)``."""
        raise NotImplementedError(f"{type(self).__name__} needs forward(queries, keys)")


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


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that the mask allows; exactly 0 elsewhere.

    A row without any allowed key is all 0, never NaN. ``scores`` is not changed.

    Args:
        scores: ``(..., n_q, n_k)``.
        mask: None, boolean (True: may attend), or valid lengths; see :func:`as_mask`.

    Returns:
        Weights of the shape of ``scores``; each row sums to 1, or to 0 if fully masked.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    forbidden = ~as_mask(mask, scores.shape)
    # The lowest finite number, not minus infinity: a fully masked row would be NaN, and its
    # gradient too. The second fill makes the zeros exact.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(forbidden, lowest).softmax(dim=-1).masked_fill(forbidden, 0.0)


def attend(
    scoring: Scoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    keys_projected: bool = False,
) -> tuple[Tensor, Tensor]:
    """``softmax(mask(a(Q, K))) V``.

    Args:
        scoring: the scoring function ``a``.
        queries: ``(..., n_q, d_q)``.
        keys: ``(..., n_k, d_k)``, or what ``scoring.project_keys`` made of them.
        values: ``(..., n_k, d_v)``.
        mask: see :func:`masked_softmax`.
        dropout: share of weights dropped, after the softmax; 0 outside training.
        keys_projected: whether ``keys`` went through ``scoring.project_keys`` before.

    Returns:
        The output ``(..., n_q, d_v)`` and the weights ``(..., n_q, n_k)`` before dropout.
    """
    projected = keys if keys_projected else scoring.project_keys(keys)
    weights = masked_softmax(scoring(scoring.project_queries(queries), projected), mask)
    return (drop(weights, dropout) if dropout else weights) @ values, weights


def attend_in_blocks(
    scoring: Scoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    keys_projected: bool = False,
    block: int | None = None,
) -> Tensor:
    """:func:`attend`'s output alone, a block of queries at a time.

    The scores of all queries never exist at once; the backward pass makes each block's again.
    Memory is then linear in the number of queries.

    Args:
        block: queries per block; by default what keeps a block's scores in cache.
    """
    projected = keys if keys_projected else scoring.project_keys(keys)
    n_queries, n_keys = queries.shape[-2], projected.shape[-2]
    rows = max(1, projected.shape[:-2].numel())
    block = block or max(1, _BLOCK_ELEMENTS // max(1, rows * n_keys * projected.shape[-1]))
    scores_shape = torch.Size((*queries.shape[:-1], n_keys))
    allowed = None if mask is None else as_mask(mask, scores_shape)

    def one(block_queries: Tensor, block_mask: Tensor | None) -> Tensor:
        return attend(
            scoring, block_queries, projected, values, block_mask,
            dropout=dropout, keys_projected=True,
        )[0]  # fmt: skip

    outputs = []
    for start in range(0, n_queries, block):
        part = slice(start, start + block)
        block_mask = allowed
        if allowed is not None and allowed.dim() > 1 and allowed.shape[-2] > 1:  # one per query
            block_mask = allowed[..., part, :]
        outputs.append(checkpoint(one, queries[..., part, :], block_mask, use_reentrant=False))
    return torch.cat(outputs, dim=-2)
