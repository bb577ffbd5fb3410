"""Exact sums over sorted keys on a line: term by term, and from prefix sums.

A window is the end of a box as wide as it reaches, whole boxes, and the beginning of another: only
points in it are ever added, so nothing cancels. For kernels ``(c_0 + c_1 r + ...) e^-r`` see
Hartikainen & Sarkka 2010, Kalman filtering and smoothing solutions to temporal Gaussian process
regression models.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from attention_plugins.radial import Exponential, RadialScoring, Window

_BLOCK_PAIRS = 1 << 18


class Line(NamedTuple):
    """A problem on a line: queries ``(m,)``, sorted keys ``(n,)``, their values ``(n, c)``.

    ``own (m,)`` says which key each query leaves out, -1 for none; None: no query does.
    """

    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    own: np.ndarray | None


class Means(NamedTuple):
    """What queries make of their keys: values ``(m, c)``, 0 where all keys are ruled out.

    ``entropies (m,)`` are of each query's weights in nats, where asked for; ``reached (m,)`` says
    whether it has any.
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
        divisor = np.where(some, np.add.reduceat(weights, starts), 1.0)
        sums = np.add.reduceat(weights[:, None] * line.values[keys], starts)
        values[part] = sums / divisor[:, None]
        shifted[weights == 0] = 0.0
        entropies[part] = np.log(divisor) - np.add.reduceat(weights * shifted, starts) / divisor
        reached[part] = some
    return Means(values, entropies, reached)


def _blocks(counts: np.ndarray) -> Iterator[np.ndarray]:
    some = np.flatnonzero(counts > 0)
    ends = np.cumsum(counts[some])
    start = 0
    while start < len(some):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK_PAIRS, side="right")))
        yield some[start:stop]
        start = stop


def decaying_moments(steps: np.ndarray, values: np.ndarray, degree: int) -> np.ndarray:
    """``S_k(i) = sum over j <= i of r^k e^-r values_j`` where ``r = steps_(j+1) + ... + steps_i``.

    Every sum comes from those before it by products and sums of terms that are not negative, but
    for the values ``(n, c)``: nothing cancels and nothing overflows. Steps ``(n,)`` are distances
    of each point from the one before; infinity forgets all that was before, and the first does not
    count. Sums are ``(n, degree + 1, c)``.
    """
    n, channels = values.shape
    width = math.isqrt(max(0, n - 1)) + 1
    rows = -(-n // width)
    moves = np.zeros(rows * width)
    moves[:n] = steps
    found = np.zeros((width, rows, degree + 1, channels))  # row by row of the points, transposed
    held = np.zeros((rows * width, channels))
    held[:n] = values
    held = held.reshape(rows, width, channels).swapaxes(0, 1)
    moves = np.ascontiguousarray(moves.reshape(rows, width).T)
    found[:, :, 0] = held
    shifts = _shift(moves, degree)
    for column in range(1, width):  # within each row
        found[column] += _moved(found[column - 1], shifts, column)
    before = np.zeros((rows, degree + 1, channels))  # at the end of the rows before
    total = np.cumsum(moves, axis=0)  # from the end of the row before
    through = _shift(total[-1:], degree)
    for row in range(1, rows):
        before[row] = found[-1, row - 1] + _moved(before[row - 1], through, (0, row - 1))
    found += _moved(before[None], _shift(total, degree), slice(None))
    return found.swapaxes(0, 1).reshape(rows * width, degree + 1, channels)[:n]


def _shift(r: np.ndarray, degree: int) -> list[list[np.ndarray]]:
    """``[k][j]``: the share ``C(k, j) r^(k-j) e^-r`` of ``S_j`` in ``S_k`` a distance r later."""
    decay = np.exp(-r)
    powers = [decay]
    with np.errstate(invalid="ignore"):
        for _ in range(degree):
            powers.append(np.where(decay > 0, powers[-1] * r, 0.0))  # infinity times 0 is 0 here
    return [[math.comb(k, j) * powers[k - j] for j in range(k + 1)] for k in range(degree + 1)]


def _moved(state: np.ndarray, shifts: list[list[np.ndarray]], at: Any) -> np.ndarray:
    """The state ``(..., degree + 1, c)`` after the distances that ``shifts`` was made of."""
    if len(shifts) == 1:
        return state * shifts[0][0][at][..., None, None]
    moved = np.empty(np.broadcast_shapes(state.shape, (*shifts[0][0][at].shape, 1, 1)))
    for k, row in enumerate(shifts):
        parts = (state[..., j, :] * part[at][..., None] for j, part in enumerate(row))
        moved[..., k, :] = sum(parts)
    return moved


def exponential_means(kernel: Exponential, line: Line) -> Means:
    """Means ``(m, c)``, entropies of constant polynomials alone; what is left out never enters."""
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


_MOST_BETWEEN = 2  # whole boxes inside a window


def window_means(scoring: RadialScoring, kernel: Window, line: Line, tolerance: float) -> Means:
    """Means ``(m, c)``, 0 where no key is in the window; entropies of constant kernels alone.

    Which keys are inside is asked of the scoring's profile, so that keys at the very edge are
    where its scores have them. Rows that may have lost more than the tolerance to cancellation,
    relative to the sum of their weights, are computed term by term.
    """
    first, last = _edges(scoring, kernel.width, line)
    rows = np.flatnonzero(last > first)
    sums, certain = _sums(kernel, line, rows, first[rows], last[rows])
    lost = np.ones(len(rows))
    if line.own is not None:
        leaves = np.flatnonzero(line.own[rows] >= 0)
        own = line.values[line.own[rows[leaves]]]
        sums[leaves, 0] -= kernel.coefficients[0]
        sums[leaves, 1:] -= kernel.coefficients[0] * own
        lost[leaves] += np.abs(own).max(axis=1, initial=0.0)
    rounding = np.finfo(np.float64).eps * (last - first)[rows] * lost
    certain &= rounding < tolerance * sums[:, 0]
    values = np.zeros((len(first), line.values.shape[1]))
    entropies, reached = np.zeros(len(first)), np.zeros(len(first), dtype=bool)
    good, bad = rows[certain], rows[~certain]
    values[good] = sums[certain, 1:] / sums[certain, :1]
    reached[good], entropies[good] = True, np.log(sums[certain, 0])
    again = means_over_runs(scoring, line, bad, first[bad], last[bad])
    values[bad], entropies[bad], reached[bad] = again
    flat = len(kernel.coefficients) == 1  # all keys in the window have the same weight
    return Means(values, entropies if flat else None, reached)


def _edges(scoring: RadialScoring, width: float, line: Line) -> tuple[np.ndarray, np.ndarray]:
    queries, keys = line.queries, line.keys
    doubt = 1e-12 * width + 4e-16 * np.abs(queries)
    ends = []
    for side in (-1.0, 1.0):
        low = np.searchsorted(keys, queries + side * width - doubt, side="left")
        high = np.searchsorted(keys, queries + side * width + doubt, side="right")
        while (open_ := np.flatnonzero(low < high)).size:
            middle = (low[open_] + high[open_]) // 2
            inside = profile_of(scoring, queries[open_] - keys[middle]) > -np.inf
            before = inside == (side < 0)  # the end that is sought is not after the middle
            high[open_] = np.where(before, middle, high[open_])
            low[open_] = np.where(before, low[open_], middle + 1)
        ends.append(low)
    return ends[0], np.maximum(*ends)


def _sums(
    kernel: Window, line: Line, rows: np.ndarray, first: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    keys, n, powers = line.keys, len(line.keys), 2 * len(kernel.coefficients) - 1
    cell = np.floor((keys - keys[0]) / kernel.width)
    opens = np.concatenate([[True], cell[1:] != cell[:-1]])
    box = np.cumsum(opens) - 1
    centres = keys[0] + (cell[opens] + 0.5) * kernel.width
    places = (keys - centres[box]) / kernel.width
    weighted = np.column_stack([np.ones(n), line.values])
    moments = np.concatenate([weighted * places[:, None] ** k for k in range(powers)], axis=1)
    closes = np.concatenate([opens[1:], [True]])
    prefix = _within(moments, opens)
    suffix = _within(moments[::-1], closes[::-1])[::-1]

    start, end = box[first], box[last - 1]
    sums = np.zeros((len(rows), weighted.shape[1]))
    queries = line.queries[rows]

    def add(chosen: np.ndarray, found: np.ndarray, boxes: np.ndarray) -> None:
        place = (queries[chosen] - centres[boxes]) / kernel.width
        sums[chosen] += _polynomial(kernel, place, found)

    same = start == end
    whole = opens[first]
    alone, split = np.flatnonzero(same), np.flatnonzero(~same)
    from_start = whole[alone]
    add(alone[from_start], prefix[last[alone[from_start]] - 1], end[alone[from_start]])
    add(alone[~from_start], suffix[first[alone[~from_start]]], start[alone[~from_start]])
    add(split, suffix[first[split]], start[split])
    add(split, prefix[last[split] - 1], end[split])
    total = prefix[closes]
    for step in range(1, _MOST_BETWEEN + 1):
        between = np.flatnonzero(start + step < end)
        add(between, total[start[between] + step], start[between] + step)
    certain = np.where(same, whole | closes[last - 1], end - start <= _MOST_BETWEEN + 1)
    return sums, certain


def _within(moments: np.ndarray, opens: np.ndarray) -> np.ndarray:
    return decaying_moments(np.where(opens, np.inf, 0.0), moments, 0)[:, 0]


def _polynomial(kernel: Window, place: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """``sum over points of K(place - point) v`` from their moments, ``(r, powers * channels)``."""
    powers = 2 * len(kernel.coefficients) - 1
    moments = moments.reshape(len(place), powers, moments.shape[1] // powers)
    sums = np.zeros((len(place), moments.shape[2]))
    for i, coefficient in enumerate(kernel.coefficients):
        for k in range(2 * i + 1):
            factor = coefficient * math.comb(2 * i, k) * place ** (2 * i - k) * (-1) ** k
            sums += factor[:, None] * moments[:, k]
    return sums
