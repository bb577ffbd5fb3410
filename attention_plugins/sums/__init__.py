"""Attention by scorings of a distance, without the n x n weights: which way is taken, and when.

On a line there are fast sums. Elsewhere a block of queries at a time is scored.
"""

from typing import NamedTuple, TypeGuard

import numpy as np
import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.radial import Exponential, RadialScoring, Window
from attention_plugins.sums.line import Line, exponential_means, window_means
from attention_plugins.sums.smooth import smooth_means

MANY_SCORES = 4_000_000  # up to here weights are made as ever: fast enough, and the same bits
TOLERANCE = 1e-8  # of a sum, relative to the sum of the row's weights


class Pooled(NamedTuple):
    """What queries make of their keys: values ``(m, c)``, 0 where all keys are ruled out.

    ``entropies (m,)`` are of each query's weights, in nats, None where not asked for; ``reached
    (m,)`` says whether a query has any weight.
    """

    values: Tensor
    entropies: Tensor | None
    reached: Tensor


def runs_without_weights(
    scoring: Scoring, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None,
    dropout: float = 0.0,
) -> TypeGuard[RadialScoring]:  # fmt: skip
    """Whether :func:`pool_without_weights` gives what attention would, and should.

    There must be many scores, in double precision on the CPU, and nothing to differentiate.
    """
    if mask is not None or dropout or not queries.dim() == keys.dim() == values.dim() == 2:
        return False
    if not pools_without_weights(scoring) or len(queries) * len(keys) <= MANY_SCORES:
        return False
    tensors = (queries, keys, values)
    if any(each.device.type != "cpu" or each.dtype != torch.float64 for each in tensors):
        return False
    learns = any(each.requires_grad for each in (*tensors, *scoring.parameters()))
    return not (learns and torch.is_grad_enabled())


def pools_without_weights(scoring: Scoring) -> TypeGuard[RadialScoring]:
    """Whether a scoring is of a distance alone, with nothing changed on the way to the output."""
    if not isinstance(scoring, RadialScoring) or scoring.normaliser is not None:
        return False
    kind = type(scoring)
    theirs = (kind.forward, kind.normalise, kind.pool, kind.project_queries, kind.project_keys)
    usual = (
        RadialScoring.forward, Scoring.normalise, Scoring.pool,
        Scoring.project_queries, Scoring.project_keys,
    )  # fmt: skip
    return theirs == usual


@torch.no_grad()
def pool_without_weights(
    scoring: RadialScoring, queries: Tensor, keys: Tensor, values: Tensor, *,
    own: Tensor | None = None, entropy: bool = False,
) -> Pooled:  # fmt: skip
    """``softmax(a(Q, K)) V`` within 1e-6 of what attention gives, in memory linear in m + n.

    Args:
        queries, keys, values: ``(m, d)``, ``(n, d)`` and ``(n, c)``.
        own: which key each query leaves out, ``(m,)``; None: no query does.
    """
    found = _on_a_line(scoring, queries, keys, values, own, entropy=entropy)
    if found is None:
        return Pooled(*means_in_blocks(scoring, queries, keys, values, own, entropy=entropy)[:3])
    if entropy and found.entropies is None:
        entropies = means_in_blocks(scoring, queries, keys, values[:, :0], own, entropy=True)[1]
        return found._replace(entropies=entropies)
    return found


def has_fast_sum(scoring: RadialScoring, keys: Tensor, values: Tensor) -> bool:
    """Whether sums over these keys on a line take time linear in queries and keys.

    One is tried, since a kernel may turn out to be none that they are for.
    """
    return _on_a_line(scoring, keys[:1], keys, values, None, entropy=False) is not None


@torch.no_grad()
def pool_with_and_without(
    scoring: RadialScoring, keys: Tensor, values: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    """What the keys numbered ``rows (r,)`` make of all keys, and of all but themselves.

    Of keys ``(n, d)`` and values ``(n, c)``, means ``(r, c)`` each.
    """
    queries = keys[rows]
    if keys.shape[1] == 1:
        among = pool_without_weights(scoring, queries, keys, values).values
        return among, pool_without_weights(scoring, queries, keys, values, own=rows).values
    alone, _, found, totals = means_in_blocks(scoring, queries, keys, values, rows, entropy=False)
    # A key joins its means by its share of the weights: nothing cancels, however large that is.
    own = scoring.profile(torch.zeros(1, dtype=keys.dtype))
    share = torch.where(found, torch.sigmoid(own - totals), 1.0)[:, None]
    return alone + share * (values[rows] - alone), alone


def _on_a_line(
    scoring: RadialScoring, queries: Tensor, keys: Tensor, values: Tensor, own: Tensor | None, *,
    entropy: bool,
) -> Pooled | None:  # fmt: skip
    kernel = scoring.line_kernel() if queries.shape[1] == 1 else None
    if kernel is None:
        return None
    numbers, positions = keys.numpy()[:, 0], None if own is None else own.numpy()
    table = values.numpy()
    if (numbers[1:] < numbers[:-1]).any():
        order = numbers.argsort(kind="stable")
        numbers, table = numbers[order], table[order]
        if positions is not None:
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            positions = rank[positions]
    # Errors are relative to sizes of values: a large mean or a large unit must not hide any.
    sample = table[:: max(1, len(table) // 10_000)]
    middle = np.median(sample, axis=0)
    unit = np.abs(sample - middle).mean(axis=0)
    unit[unit == 0] = 1.0
    line = Line(queries.numpy()[:, 0], numbers, (table - middle) / unit, positions)
    if isinstance(kernel, Exponential):
        found = exponential_means(kernel, line)
    elif isinstance(kernel, Window):
        found = window_means(scoring, kernel, line, TOLERANCE)
    else:
        found = smooth_means(scoring, kernel, line, TOLERANCE, entropy=entropy)
    if found is None:
        return None
    means = np.where(found.reached[:, None], found.values * unit + middle, 0.0)
    entropies = None if found.entropies is None else torch.from_numpy(found.entropies)
    return Pooled(torch.from_numpy(means), entropies, torch.from_numpy(found.reached))


_BLOCK_SCORES = 1 << 16  # small enough for the cache, and for memory that is used again
_FEWEST_ROWS = 64  # of a block: each block passes over all keys
_LOWEST = -1e4
_SCORE_ERROR = 1e-9  # that products may make


def means_in_blocks(
    scoring: RadialScoring, queries: Tensor, keys: Tensor, values: Tensor, own: Tensor | None, *,
    entropy: bool,
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:  # fmt: skip
    """Means ``(m, c)``, and entropies if asked for, whether any weight is left, a log, ``(m,)``.

    The log is that of each row's sum of ``exp(score)``; arguments as of
    :func:`pool_without_weights`.
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
                left_out = own[part] - first
                rows = ((left_out >= 0) & (left_out < scores.shape[1])).nonzero()[:, 0]
                scores[rows, left_out[rows]] = -torch.inf
            so_far.add(scores, weighted[chunk])
        total = torch.where(so_far.reached, so_far.sums[:, :1], 1.0)
        means[part], reached[part] = so_far.sums[:, 1:] / total, so_far.reached[:, 0]
        entropies[part] = (total.log() - so_far.spread / total)[:, 0]
        logs[part] = (so_far.highest + total.log())[:, 0]
    return means, entropies if entropy else None, reached, logs


class _SoFar:
    """Sums over the keys so far, shifted by each row's highest score so far.

    Milakov & Gimelshein 2018, Online normalizer calculation for softmax. ``sums`` are of weights
    and of weighted values, ``(b, 1 + c)``, ``spread`` of weights times shifted scores, ``(b, 1)``.
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
