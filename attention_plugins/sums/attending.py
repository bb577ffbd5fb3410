"""Attention by scorings of a distance, without weights: which way is taken, and when.

Kernels ``(c_0 + c_1 r + ...) e^-r`` on a line: exact sums from two prefix sums.

Hartikainen & Sarkka 2010, Kalman filtering and smoothing solutions to temporal Gaussian process
regression models, have the same recurrence for the Matern kernels.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard

import numpy as np
import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.radial import Exponential, RadialScoring, Smooth, Window
from attention_plugins.sums.blocks import means_in_blocks
from attention_plugins.sums.direct import Line, Means
from attention_plugins.sums.smooth import smooth_means
from attention_plugins.sums.window import decaying_moments, window_means


def exponential_means(kernel: Exponential, line: Line) -> Means:
    """Means ``(m, c)``; entropies of a constant polynomial alone.

    What a query leaves out never enters its sums.
    """
    keys, rate = line.keys, kernel.rate
    n = len(keys)
    after = np.searchsorted(keys, line.queries, side="right")
    left, right = after - 1, after
    if line.own is not None:
        leaves = line.own >= 0
        left, right = np.where(leaves, line.own - 1, left), np.where(leaves, line.own + 1, right)
    weighted = np.column_stack([np.ones(n), line.values])
    alone = len(kernel.coefficients) == 1
    degree = max(1, len(kernel.coefficients) - 1)
    steps = np.diff(keys, prepend=keys[:1]) * rate
    sides = (
        (left, left >= 0, decaying_moments(steps, weighted, degree)),
        (right, right < n, decaying_moments(
            np.concatenate([[0.0], steps[:0:-1]]), weighted[::-1], degree)[::-1]),
    )  # fmt: skip
    away = [
        np.where(there, rate * np.abs(line.queries - keys[np.clip(at, 0, n - 1)]), np.inf)
        for at, there, _ in sides
    ]
    nearest = np.minimum(*away)
    sums, farther = np.zeros((len(line.queries), weighted.shape[1])), np.zeros(len(line.queries))
    for r, (at, there, moments) in zip(away, sides, strict=True):
        rows = np.flatnonzero(there)
        decay = np.exp(nearest[rows] - r[rows])[:, None]
        found = moments[at[rows]]
        for k, coefficient in enumerate(kernel.coefficients):
            for j in range(k + 1):
                factor = coefficient * math.comb(k, j) * r[rows, None] ** (k - j)
                sums[rows] += factor * decay * found[:, j]
        beyond = (r[rows] - nearest[rows])[:, None] * found[:, 0, :1] + found[:, 1, :1]
        farther[rows] += (kernel.coefficients[0] * decay * beyond)[:, 0]
    total = sums[:, 0]
    entropies = np.log(total / kernel.coefficients[0]) + farther / total if alone else None
    return Means(sums[:, 1:] / sums[:, :1], entropies, np.ones(len(sums), dtype=bool))


MANY_SCORES = 4_000_000  # up to here weights are made as ever: fast enough, and the same bits
TOLERANCE = 1e-8  # of a sum, relative to the sum of the row's weights


class Pooled(NamedTuple):
    """What queries make of their keys.

    Args:
        values: ``(m, c)``; 0 where all keys are ruled out.
        entropies: of each query's weights, in nats, ``(m,)``; 0 where all keys are ruled out.
            None where not asked for.
        reached: whether a query has any weight, ``(m,)``.
    """

    values: Tensor
    entropies: Tensor | None
    reached: Tensor


def runs_without_weights(
    scoring: Scoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> TypeGuard[RadialScoring]:
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
    scoring: RadialScoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    own: Tensor | None = None,
    entropy: bool = False,
) -> Pooled:
    """``softmax(a(Q, K)) V`` within 1e-6 of what attention gives, in memory linear in m + n.

    Args:
        queries, keys, values: ``(m, d)``, ``(n, d)`` and ``(n, c)``.
        own: which key each query leaves out, ``(m,)``; None: no query does.
    """
    found = _on_a_line(scoring, queries, keys, values, own, entropy=entropy)
    if found is not None:
        means, entropies, reached = found
        if entropy and entropies is None:
            nothing = values[:, :0]
            entropies = means_in_blocks(scoring, queries, keys, nothing, own, entropy=True)[1]
        return Pooled(means, entropies, reached)
    return Pooled(*means_in_blocks(scoring, queries, keys, values, own, entropy=entropy)[:3])


def has_fast_sum(scoring: RadialScoring, keys: Tensor, values: Tensor) -> bool:
    """Whether the scoring's sums over these keys on a line take time linear in queries and keys.

    One is tried, since a kernel may turn out to be none that they are for.

    Args:
        keys, values: ``(n, d)`` and ``(n, c)``.
    """
    one = keys[:1]
    return _on_a_line(scoring, one, keys, values, None, entropy=False) is not None


@torch.no_grad()
def pool_with_and_without(
    scoring: RadialScoring, keys: Tensor, values: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    """What the keys numbered ``rows (r,)`` make of all keys, and of all but themselves.

    Args:
        keys, values: ``(n, d)`` and ``(n, c)``.

    Returns:
        Means ``(r, c)`` each, see :func:`pool_without_weights`.
    """
    queries = keys[rows]
    if keys.shape[1] == 1:
        among = pool_without_weights(scoring, queries, keys, values).values
        return among, pool_without_weights(scoring, queries, keys, values, own=rows).values
    alone, _, reached, totals = means_in_blocks(
        scoring, queries, keys, values, rows, entropy=False
    )
    # A key joins its means by its share of the weights: nothing cancels, however large that is.
    own = scoring.profile(torch.zeros(1, dtype=keys.dtype))
    share = torch.where(reached, torch.sigmoid(own - totals), 1.0)[:, None]
    return alone + share * (values[rows] - alone), alone


def _on_a_line(
    scoring: RadialScoring,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    own: Tensor | None,
    *,
    entropy: bool,
) -> tuple[Tensor, Tensor | None, Tensor] | None:
    """The fast sum of the scoring's kernel; None where it has none."""
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
    found = _summed(scoring, kernel, line, entropy=entropy)
    if found is None:
        return None
    means = np.where(found.reached[:, None], found.values * unit + middle, 0.0)
    entropies = None if found.entropies is None else torch.from_numpy(found.entropies)
    return torch.from_numpy(means), entropies, torch.from_numpy(found.reached)


def _summed(
    scoring: RadialScoring, kernel: Smooth | Exponential | Window, line: Line, *, entropy: bool
) -> Means | None:
    if isinstance(kernel, Exponential):
        return exponential_means(kernel, line)
    if isinstance(kernel, Window):
        return window_means(scoring, kernel, line, TOLERANCE)
    return smooth_means(scoring, kernel, line, TOLERANCE, entropy=entropy)
