"""Points in boxes of one size on a line: their moments, and sums evaluated at them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attention_plugins.sums.chebyshev import polynomials

_CHUNK = 1 << 12
_LONG_RUN = 32  # points of a box in a row, from where a matrix product is faster


class Boxed(NamedTuple):
    """Points and the boxes that hold some.

    Args:
        boxes: numbers of the boxes, increasing, ``(b,)``.
        of_point: which of them each point is in, ``(n,)``.
        places: each point's place in its box, in [-1, 1], ``(n,)``.
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
    """``sum over a box's points of T_k(place) v``, ``(b, c, count)``, for sorted points.

    Args:
        values: ``(c, n)``.
    """
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
    """``sum over k of T_k(place) local_k`` of each point's box, ``(n, c)``.

    Args:
        local: ``(b, c, count)``.
    """
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


def _runs(starts: np.ndarray, n: int) -> zip[tuple[int, int]]:
    return zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True)
