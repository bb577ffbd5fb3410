"""Softmax means in any number of dimensions, a block of queries at a time, without weights kept.

A block's scores stay in a core's cache. Distances are matrix products where rounding cannot be
seen in the scores, else sums over the dimensions one by one.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attention_plugins.radial import RadialScoring

_BLOCK_SCORES = 1 << 17
_SCORE_ERROR = 1e-9  # that products may make


def means_in_blocks(
    scoring: RadialScoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    own: Tensor | None,
    *,
    entropy: bool,
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Means ``(m, c)``, entropies ``(m,)`` where asked for, and whether any weight is left.

    Args:
        queries, keys, values: ``(m, d)``, ``(n, d)`` and ``(n, c)``.
        own: which key each query leaves out, ``(m,)``; None: no query does.
    """
    distances = _Distances(scoring, queries, keys)
    weighted = torch.cat([values.new_ones(len(values), 1), values], dim=-1)
    means = torch.empty(len(queries), values.shape[1], dtype=values.dtype)
    entropies = torch.empty(len(queries), dtype=values.dtype)
    reached = torch.empty(len(queries), dtype=torch.bool)
    block = max(1, _BLOCK_SCORES // len(keys))
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        scores = scoring.profile(distances.of(part))
        if own is not None:
            scores[torch.arange(len(scores)), own[part]] = -torch.inf
        highest = scores.amax(dim=-1, keepdim=True)
        some = highest > -torch.inf
        scores -= torch.where(some, highest, 0.0)
        weights = scores.exp()
        sums = weights @ weighted
        total = torch.where(some, sums[:, :1], 1.0)
        means[part], reached[part] = sums[:, 1:] / total, some[:, 0]
        if entropy:
            scores.masked_fill_(weights == 0, 0.0)
            entropies[part] = total[:, 0].log() - (weights * scores).sum(-1) / total[:, 0]
    return means, entropies if entropy else None, reached


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

    def of(self, part: slice) -> Tensor:
        """``(b, n)``."""
        queries = self._queries[part]
        if self._products:
            return (queries @ self._keys).clamp_min_(0.0)
        found = torch.zeros(len(queries), self._keys.shape[1], dtype=queries.dtype)
        for column, row in zip(queries.T, self._keys, strict=True):
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
