"""Softmax means in any number of dimensions, a block of queries at a time, without weights kept.

A block's scores stay in a core's cache. Distances are matrix products where rounding cannot be
seen in the scores, else sums over the dimensions one by one.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attention_plugins.radial import RadialScoring

_BLOCK_SCORES = 1 << 16  # small enough for the cache, and for memory that is used again
_FEWEST_ROWS = 64  # of a block: each block passes over all keys
_LOWEST = -1e4
_SCORE_ERROR = 1e-9  # that products may make


def means_in_blocks(
    scoring: RadialScoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    own: Tensor | None,
    *,
    entropy: bool,
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Means, entropies where asked for, whether any weight is left, and the log of the weights.

    Means are ``(m, c)``, all others ``(m,)``. The log is that of each row's sum of ``exp(score)``.

    Args:
        queries, keys, values: ``(m, d)``, ``(n, d)`` and ``(n, c)``.
        own: which key each query leaves out, ``(m,)``; None: no query does.
    """
    distances = _Distances(scoring, queries, keys)
    weighted = torch.cat([values.new_ones(len(values), 1), values], dim=-1)
    means = torch.empty(len(queries), values.shape[1], dtype=values.dtype)
    entropies = torch.empty(len(queries), dtype=values.dtype)
    reached = torch.empty(len(queries), dtype=torch.bool)
    logs = torch.empty(len(queries), dtype=values.dtype)
    columns = min(len(keys), _BLOCK_SCORES // _FEWEST_ROWS)
    block = _BLOCK_SCORES // columns
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        so_far = _SoFar(len(queries[part]), weighted.shape[1], entropy=entropy)
        for first in range(0, len(keys), columns):
            chunk = slice(first, first + columns)
            scores = scoring.profile(distances.of(part, chunk))
            if own is not None:
                _leave_out(scores, own[part] - first)
            so_far.add(scores, weighted[chunk])
        total = torch.where(so_far.reached, so_far.sums[:, :1], 1.0)
        means[part], reached[part] = so_far.sums[:, 1:] / total, so_far.reached[:, 0]
        entropies[part] = (total.log() - so_far.spread / total)[:, 0]
        logs[part] = (so_far.highest + total.log())[:, 0]
    return means, entropies if entropy else None, reached, logs


def _leave_out(scores: Tensor, own: Tensor) -> None:
    rows = ((own >= 0) & (own < scores.shape[1])).nonzero()[:, 0]
    scores[rows, own[rows]] = -torch.inf


class _SoFar:
    """Sums over the keys so far, shifted by each row's highest score so far.

    Milakov & Gimelshein 2018, Online normalizer calculation for softmax.

    Attributes:
        sums: of weights and of weighted values, ``(b, 1 + c)``.
        spread: of weights times shifted scores, ``(b, 1)``, where asked for.
        highest: ``(b, 1)``.
    """

    def __init__(self, rows: int, channels: int, *, entropy: bool) -> None:
        self.sums = torch.zeros(rows, channels, dtype=torch.float64)
        self.spread = torch.zeros(rows, 1, dtype=torch.float64)
        self.highest = torch.full((rows, 1), -torch.inf, dtype=torch.float64)
        self._entropy = entropy

    @property
    def reached(self) -> Tensor:
        """Whether a row has any weight, ``(b, 1)``."""
        return self.highest > -torch.inf

    def add(self, scores: Tensor, weighted: Tensor) -> None:
        """Some more keys; ``scores (b, k)`` are used up."""
        highest = torch.maximum(self.highest, scores.amax(dim=-1, keepdim=True))
        shift = torch.where(self.reached, self.highest - highest, 0.0)
        self.highest = highest
        scores -= torch.where(self.reached, highest, 0.0)
        weights = scores.exp()
        if self._entropy:
            scores.clamp_min_(_LOWEST)  # a weight of 0 times minus infinity is 0
            self.spread += shift * self.sums[:, :1]
            self.spread *= shift.exp()
            self.spread += torch.linalg.vecdot(weights, scores)[:, None]
        self.sums *= shift.exp()
        self.sums += weights @ weighted


class _Distances:
    """Distances as a scoring's metric has them, of some queries to all keys."""

    def __init__(self, scoring: RadialScoring, queries: Tensor, keys: Tensor) -> None:
        self._absolute = scoring.metric == "absolute"
        if scoring.metric == "squared per dimension":
            scale = np.sqrt(queries.shape[-1])
            queries, keys = queries / scale, keys / scale
        centre = keys.mean(dim=0)
        near, around = queries - centre, keys - centre
        lengths, reach = around.square().sum(-1), near.square().sum(-1)
        self._products = (
            not self._absolute
            and queries.shape[-1] > 1
            and _unseen(scoring, float(lengths.max() + reach.max()))
        )
        if self._products:
            ones = torch.ones_like(lengths)
            self._queries = torch.column_stack([-2.0 * near, reach, torch.ones_like(reach)])
            self._keys = torch.column_stack([around, ones, lengths]).T.contiguous()
        else:
            self._queries, self._keys = queries, keys.T.contiguous()

    def of(self, part: slice, chunk: slice) -> Tensor:
        """``(b, k)`` of some queries and some keys."""
        queries, keys = self._queries[part], self._keys[:, chunk]
        if self._products:
            return (queries @ keys).clamp_min_(0.0)
        found = torch.zeros(len(queries), keys.shape[1], dtype=queries.dtype)
        for column, row in zip(queries.T, keys, strict=True):
            apart = column[:, None] - row
            found = found.add_(apart.abs_()) if self._absolute else found.addcmul_(apart, apart)
        return found


def _unseen(scoring: RadialScoring, reach: float) -> bool:
    """Whether the scores show nothing of an error of a few rounding units of ``reach``.

    A kernel with an edge fails: a key that is just outside must stay there.
    """
    slip = 16 * np.finfo(np.float64).eps * reach
    places = reach * torch.logspace(-12, 0.7, 64, dtype=torch.float64)
    moved = scoring.profile(places + slip) - scoring.profile(places)
    at_zero = scoring.profile(torch.tensor([slip, 0.0], dtype=torch.float64)).diff()
    return bool((torch.cat([moved, at_zero]).abs() <= _SCORE_ERROR).all())
