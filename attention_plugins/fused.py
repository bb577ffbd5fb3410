"""Attention whose scores are matrix products, by torch's fused kernels: none is ever stored."""

from __future__ import annotations

from typing import TypeGuard

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from attention_plugins.attention import ProductScoring, Scoring, as_mask, needs_of


def runs_fused(scoring: Scoring, queries: Tensor, dropout: float) -> TypeGuard[ProductScoring]:
    """Whether :func:`attend_fused` gives what ``attend`` would, and in less time.

    Not with dropout on a CPU: torch has no fused kernel for it there.
    """
    if not isinstance(scoring, ProductScoring) or scoring.normaliser is not None:
        return False
    kind = type(scoring)
    if (kind.normalise, kind.pool) != (Scoring.normalise, Scoring.pool):
        return False  # it changes its weights on the way
    if "memory" in scoring.needs or (dropout and not queries.is_cuda):
        return False
    return _depth(kind, "factors") <= _depth(kind, "forward")


def _depth(kind: type, method: str) -> int:
    """How many classes up, in the order of inheritance, the method is defined."""
    return next(n for n, parent in enumerate(kind.__mro__) if method in vars(parent))


def attend_fused(
    scoring: ProductScoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    keys_projected: bool = False,
    first: int = 0,
    key_positions: Tensor | None = None,
) -> Tensor:
    """``attend``'s output alone, for scores that are products; its arguments.

    A query without any allowed key reads 0, as everywhere.
    """
    projected = keys if keys_projected else scoring.project_keys(keys)
    needs = needs_of(scoring, queries.shape[-2], projected, first, None, key_positions)
    left, right, scale = scoring.factors(scoring.project_queries(queries), projected, **needs)
    allowed = None
    if mask is not None:
        rows = _together(left.shape[:-2], right.shape[:-2])
        allowed = as_mask(mask, torch.Size((*rows, left.shape[-2], right.shape[-2])))
        allowed = allowed[None] if allowed.dim() == 1 else allowed
        allowed = allowed.expand(*allowed.shape[:-1], right.shape[-2])
    # The kernels want a batch and heads in front, of one shape, and one size for all vectors. A
    # mask may have more rows than queries and keys.
    shapes = [part.shape[:-2] for part in (left, right, values, allowed) if part is not None]
    leading = _together(*shapes)
    size = max(left.shape[-1], values.shape[-1])
    parts = [
        pad(part.expand(*leading, -1, -1), (0, size - part.shape[-1]))
        if part.shape[-1] < size
        else part.expand(*leading, -1, -1)
        for part in (left, right, values)
    ]
    missing = range(2 - len(leading))
    for _ in missing:
        parts = [part.unsqueeze(-3) for part in parts]
        if allowed is not None and allowed.dim() > 2:
            allowed = allowed.unsqueeze(-3)
    output = scaled_dot_product_attention(
        *parts, attn_mask=allowed, dropout_p=dropout, scale=scale
    )
    for _ in missing:
        output = output.squeeze(-3)
    return output[..., : values.shape[-1]]


def _together(*shapes: torch.Size) -> tuple[int, ...]:
    """What tensors of these shapes broadcast to; torch's own way imports sympy."""
    rank = max(map(len, shapes))
    filled = ((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*filled, strict=True))
