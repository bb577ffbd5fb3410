"""Smooth kernels on a line: sums over boxes, in time linear in queries and keys.

Keys become a few moments of their box, boxes of about half the kernel's scale act on boxes by
small matrices, and queries evaluate a polynomial of their box (Fong & Darve 2009, The black-box
fast multipole method). Rows where the error that was seen could matter, such as those far from all
keys, are computed term by term.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from attention_plugins.radial import RadialScoring, Smooth
from attention_plugins.sums.levels import NOTHING, Boxes, Scores, Transfer, acting, polynomials
from attention_plugins.sums.line import Line, Means, means_over_runs, profile_of

_CHUNK = 1 << 12
_LONG_RUN = 32  # points of a box in a row, from where a matrix product is faster


class Boxed(NamedTuple):
    """Points and the boxes that hold some, by their numbers, increasing, ``(b,)``.

    ``of_point (n,)`` says which of them each point is in, ``places (n,)`` where in it, in [-1, 1].
    """

    boxes: np.ndarray
    of_point: np.ndarray
    places: np.ndarray


def boxed(points: np.ndarray, size: float) -> Boxed:
    """Points in boxes whose size is a power of two, so that no place is rounded."""
    scaled = points / size
    floor = np.floor(scaled)
    number = floor.astype(np.int64)
    scaled -= floor
    scaled *= 2.0
    scaled -= 1.0
    if (number[1:] >= number[:-1]).all():
        opens = np.concatenate([[True], number[1:] != number[:-1]])
        return Boxed(number[opens], np.cumsum(opens) - 1, scaled)
    boxes, of_point = np.unique(number, return_inverse=True)
    return Boxed(boxes, of_point, scaled)


def moments(points: Boxed, values: np.ndarray, count: int) -> np.ndarray:
    """``sum over a box's points of T_k(place) v``, ``(b, c, count)``, of values ``(c, n)``."""
    found = np.zeros((len(points.boxes), len(values), count))
    for part in _chunks(len(points.places)):
        table = polynomials(points.places[part], count)
        held, of_point = values[:, part], points.of_point[part]
        starts = np.flatnonzero(np.diff(of_point, prepend=-1))
        if len(of_point) >= _LONG_RUN * len(starts):
            for start, end in _runs(starts, len(of_point)):
                found[of_point[start]] += held[:, start:end] @ table[:, start:end].T
        else:
            for c, row in enumerate(held):
                found[of_point[starts], c] += np.add.reduceat(table * row, starts, axis=1).T
    return found


def sizes(points: Boxed, amounts: np.ndarray) -> np.ndarray:
    """The sum of an amount of every point in each box, ``(b,)``."""
    return np.bincount(points.of_point, amounts, len(points.boxes))


def evaluated(points: Boxed, local: np.ndarray) -> np.ndarray:
    """``sum over k of T_k(place) local_k``, ``(n, c)``, of each box's ``local (b, c, count)``."""
    found = np.empty((len(points.places), local.shape[1]))
    for part in _chunks(len(points.places)):
        table = polynomials(points.places[part], local.shape[2])
        of_point = points.of_point[part]
        starts = np.flatnonzero(np.diff(of_point, prepend=-1))
        if len(of_point) >= _LONG_RUN * len(starts):
            for start, end in _runs(starts, len(of_point)):
                found[part][start:end] = table[:, start:end].T @ local[of_point[start]].T
        else:
            np.einsum("kn,nck->nc", table, local[of_point], out=found[part])
    return found


def _chunks(n: int) -> list[slice]:
    return [slice(start, start + _CHUNK) for start in range(0, n, _CHUNK)]


def _runs(starts: np.ndarray, n: int) -> Iterable[tuple[int, int]]:
    return zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True)


_COUNTS = (8, 10, 12, 14, 16, 20, 24)  # polynomials
_FIT = 1e-3  # share of the tolerance that one fit may use
_MOST_NEAR, _FEWEST_NEAR = 32, 2  # boxes on either side that act directly
_LARGEST = 2.0**50  # numbers of boxes: places within them are then exact
_FEW_PER_BOX, _FEW_PAIRS = 8, 64
_NEGLIGIBLE_SCORE = 41.0  # e^-41 is 1e-18
_PER_OCTAVE = 64
_ROUNDING = 1e-14


def smooth_means(
    scoring: RadialScoring, kernel: Smooth, line: Line, tolerance: float, *, entropy: bool
) -> Means | None:
    """Means ``(m, c)``, and entropies where asked for; None where the kernel is not smooth.

    The tolerance is of the error of a sum, relative to the sum of the row's weights.
    """
    top = float(profile_of(scoring, np.zeros(1))[0])

    def scores(differences: np.ndarray) -> np.ndarray:
        return profile_of(scoring, differences) - top

    reach = max(np.abs(line.keys).max(), np.abs(line.queries).max())
    if not (math.isfinite(top) and 0.0 < kernel.scale < math.inf):
        return None
    size = 2.0 ** round(math.log2(kernel.scale / 2))
    if not (math.isfinite(size) and size > 0.0 and reach / size < _LARGEST):
        return None
    fall = np.exp(scores(size * np.arange(1.0, _MOST_NEAR + 1)))
    near = int((fall > NOTHING).sum()) + 1
    falls_off = near <= _MOST_NEAR
    keys = boxed(line.keys, size)
    if falls_off and len(keys.boxes) * _FEW_PER_BOX > len(line.keys):
        first, last = _runs_that_count(scores, size, line, np.arange(len(line.queries)))
        if (last - first).sum() <= _FEW_PAIRS * (len(line.queries) + len(line.keys)):
            return means_over_runs(scoring, line, np.arange(len(first)), first, last)
    near = near if falls_off else _FEWEST_NEAR
    transfer = _fitting(scores, size, near, tolerance * _FIT)
    if transfer is None:
        return None
    totals, slips = _totals(scores, size, transfer, line, keys)
    slips += _ROUNDING * totals[:, 0]
    if line.own is not None:
        leaves = np.flatnonzero(line.own >= 0)
        totals[leaves, 0] -= 1.0
        own = line.values[line.own[leaves]]
        totals[leaves, 1:-1] -= own
        slips[leaves] += _ROUNDING * np.abs(own).max(axis=1, initial=0.0)
    good = slips < tolerance * totals[:, 0]
    divisor = np.where(good, totals[:, 0], 1.0)
    values = totals[:, 1:-1] / divisor[:, None]
    entropies = np.log(divisor) - totals[:, -1] / divisor
    reached = np.ones(len(values), dtype=bool)
    bad = np.flatnonzero(~good)
    if bad.size:
        again = means_over_runs(scoring, line, bad, *_runs_that_count(scores, size, line, bad))
        values[bad], entropies[bad], reached[bad] = again
    return Means(values, entropies if entropy else None, reached)


def _fitting(scores: Scores, size: float, near: int, most: float) -> Transfer | None:
    """The near boxes' matrices with as few polynomials as keep the error below ``most``."""
    for count in _COUNTS:
        transfer = Transfer(scores, size, np.arange(near + 1), count)
        if (transfer.errors <= most).all():
            return transfer
    return None


def _runs_that_count(
    scores: Scores, size: float, line: Line, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keys ``first`` to ``last - 1`` that have a weight worth adding, for rows ``(r,)``."""
    keys, queries, n = line.keys, line.queries[rows], len(line.keys)
    after = np.searchsorted(keys, queries, side="right")
    left, right = after - 1, after
    if line.own is not None:
        own = line.own[rows]
        left, right = np.where(own >= 0, own - 1, left), np.where(own >= 0, own + 1, right)
    nearest = np.minimum(
        np.where(left >= 0, queries - keys[np.maximum(left, 0)], np.inf),
        np.where(right < n, keys[np.minimum(right, n - 1)] - queries, np.inf),
    )
    farthest = max(keys[-1] - queries.min(), queries.max() - keys[0], size)
    octaves = math.ceil(math.log2(farthest / size)) + 1
    steps = _PER_OCTAVE * (octaves + 10)
    table = size * 2.0 ** (np.arange(steps) / _PER_OCTAVE - 10)
    fall = -np.maximum.accumulate(-scores(table))  # it never grows
    at = np.searchsorted(-fall, _NEGLIGIBLE_SCORE - scores(nearest), side="left")
    cut = np.where(at < steps, table[np.minimum(at, steps - 1)], np.inf)
    cut = np.maximum(cut, nearest * (1 + 1e-12))
    return (
        np.searchsorted(keys, queries - cut, side="left"),
        np.searchsorted(keys, queries + cut, side="right"),
    )


def _totals(
    scores: Scores, size: float, transfer: Transfer, line: Line, keys: Boxed
) -> tuple[np.ndarray, np.ndarray]:
    """Sums at every query, and how much any of them may be off.

    They are of weights, of weighted values and of weights times scores, ``(m, 1 + c + 1)``; the
    bounds ``(m,)`` are as if values were no larger than 1.
    """
    queries = boxed(line.queries, size)
    channels = np.concatenate([np.ones((1, len(line.keys))), line.values.T])
    # An error of one part in 10^9 of an outlier is an error of its neighbours' rows.
    amounts = np.maximum(1.0, np.abs(line.values).max(axis=1, initial=0.0))
    boxes = Boxes(
        size, queries.boxes, keys.boxes,
        moments(keys, channels, transfer.kernel.shape[-1]), sizes(keys, amounts),
    )  # fmt: skip
    local = acting(scores, boxes, transfer)
    return evaluated(queries, local.coefficients), local.slips[queries.of_point]
