"""How far apart the attention maps of two models are: row by row, and head by head."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

_FLAT = 1e-6  # weights this close to each other differ by the rounding of float32 alone
_TIE = 1e-9  # correlations this close to each other differ by the rounding of float64 alone


class Match(NamedTuple):
    """The head that resembles another one most, None without any correlation ``r``, then NaN."""

    head: int | None
    r: float


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """The Jensen-Shannon divergence of every row, in bits: 0 where equal, 1 where disjoint.

    Rows of ``(..., keys)`` are scaled to sum to 1; of one without weight it is NaN (Lin 1991), and
    of one with a weight below 0, which is no distribution.
    ValueError: different shapes.
    """
    _check_shapes(one, other)
    rows, others = _scaled(one), _scaled(other)
    nats = entropy((rows + others) / 2) - (entropy(rows) + entropy(others)) / 2
    return (nats / math.log(2)).clamp(0.0, 1.0)


def correlations(one: Tensor, other: Tensor, seen: Tensor | None = None) -> Tensor:
    """Pearson's correlation of every head with every head of another model, over all cells.

    Maps are ``(heads, queries, keys)``; ``seen (queries, keys)`` is False where a cell does not
    count. The correlations ``(heads, other heads)`` are NaN where either head's weights are all
    the same. ValueError: maps of different shapes.
    """
    _check_shapes(one[0], other[0])
    if seen is None:
        seen = torch.ones_like(one[0], dtype=torch.bool)
    if not seen.any():  # no cell at all would give sums of nothing, which are 0
        return torch.full((len(one), len(other)), torch.nan, dtype=torch.float64)
    return (_standardised(one[:, seen]) @ _standardised(other[:, seen]).T).clamp(-1.0, 1.0)


def match_heads(one: Tensor, other: Tensor, seen: Tensor | None = None) -> list[Match]:
    """For every head the head of the other model with the highest correlation.

    Several heads may have one match; of equal ones the first is taken.
    """
    found = []
    for row in correlations(one, other, seen).nan_to_num(-math.inf):
        best = row.max().item()
        known = best > -math.inf
        head = int((row >= best - _TIE).nonzero()[0]) if known else None
        found.append(Match(head, best if known else math.nan))
    return found


def _check_shapes(one: Tensor, other: Tensor) -> None:
    if one.shape != other.shape:
        raise ValueError(
            f"need maps of one shape to compare, got {tuple(one.shape)} and {tuple(other.shape)}"
        )


def _scaled(weights: Tensor) -> Tensor:
    total = weights.sum(dim=-1, keepdim=True)
    shares = (total > 0) & (weights >= 0).all(dim=-1, keepdim=True)
    return torch.where(shares, weights / total, torch.nan)


def entropy(rows: Tensor) -> Tensor:
    """Of each row ``(..., keys)``, in nats, ``(...)``; 0 where all weight is on one key.

    NaN of a row with a weight below 0.
    """
    return torch.special.entr(rows.masked_fill(rows < 0, torch.nan)).sum(dim=-1)


def _standardised(heads: Tensor) -> Tensor:
    """Each row shifted and scaled to mean 0 and length 1; NaN where it is constant."""
    cells = heads.double()
    centred = cells - cells.mean(dim=1, keepdim=True)
    spread = cells.amax(dim=1, keepdim=True) - cells.amin(dim=1, keepdim=True)
    length = centred.square().sum(dim=1, keepdim=True).sqrt()
    return torch.where(spread > _FLAT, centred / length, torch.nan)
