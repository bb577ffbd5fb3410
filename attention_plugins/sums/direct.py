"""Softmax means of single queries over a run of sorted keys, term by term."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from attention_plugins.radial import RadialScoring

_BLOCK_PAIRS = 1 << 18


class Line(NamedTuple):
    """A problem on a line.

    Args:
        queries: ``(m,)``.
        keys: ``(n,)``, sorted.
        values: ``(n, c)``, in the order of the keys.
        own: which key each query leaves out, ``(m,)``; -1 for none. None: no query does.
    """

    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    own: np.ndarray | None


class Means(NamedTuple):
    """What queries make of their keys.

    Args:
        values: ``(m, c)``; 0 where all keys are ruled out.
        entropies: of each query's weights in nats, ``(m,)``, where asked for.
        reached: whether a query has any weight, ``(m,)``.
    """

    values: np.ndarray
    entropies: np.ndarray | None
    reached: np.ndarray


def profile_of(scoring: RadialScoring, distances: np.ndarray) -> np.ndarray:
    """Scores at differences of numbers, of any shape and sign."""
    measured = np.abs(distances) if scoring.metric == "absolute" else np.square(distances)
    with torch.no_grad():
        return scoring.profile(torch.from_numpy(measured)).numpy()


def means_over_runs(
    scoring: RadialScoring, line: Line, rows: np.ndarray, first: np.ndarray, last: np.ndarray
) -> Means:
    """Exact means of the queries numbered ``rows (r,)`` over the keys ``first`` to ``last - 1``.

    A shift by each row's highest score keeps far queries exact, as a softmax does. Memory does
    not grow with the number of pairs.

    Args:
        first, last: ``(r,)``.
    """
    values = np.zeros((len(rows), line.values.shape[1]))
    entropies, reached = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    for part in _blocks(last - first):
        counts = (last - first)[part]
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        of_row = np.repeat(np.arange(len(counts)), counts)
        keys = np.arange(counts.sum()) - starts[of_row] + first[part][of_row]
        scores = profile_of(scoring, line.queries[rows[part]][of_row] - line.keys[keys])
        if line.own is not None:
            scores = np.where(keys == line.own[rows[part]][of_row], -np.inf, scores)
        highest = np.maximum.reduceat(scores, starts)
        some = highest > -np.inf
        shifted = scores - np.where(some, highest, 0.0)[of_row]
        weights = np.exp(shifted)
        total = np.add.reduceat(weights, starts)
        divisor = np.where(some, total, 1.0)
        sums = np.add.reduceat(weights[:, None] * line.values[keys], starts)
        values[part] = sums / divisor[:, None]
        shifted[weights == 0] = 0.0
        entropies[part] = np.log(divisor) - np.add.reduceat(weights * shifted, starts) / divisor
        reached[part] = some
    return Means(values, entropies, reached)


def _blocks(counts: np.ndarray) -> Iterator[np.ndarray]:
    """Numbers of rows, in blocks of bounded size; rows of no keys are in none."""
    some = np.flatnonzero(counts > 0)
    ends = np.cumsum(counts[some])
    start = 0
    while start < len(some):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK_PAIRS, side="right")))
        yield some[start:stop]
        start = stop
