"""Prefix sums with a decay: ``S_i = v_i + advance(S_(i-1))``, in about 2 sqrt(n) NumPy steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def decaying_moments(steps: np.ndarray, values: np.ndarray, degree: int) -> np.ndarray:
    """``S_k(i) = sum over j <= i of r^k e^-r values_j`` where ``r = steps_(j+1) + ... + steps_i``.

    Every sum comes from those before it by products and sums of terms that are not negative, but
    for the values: nothing cancels and nothing overflows, however far apart the points are.

    Args:
        steps: distance of each point from the one before, ``(n,)``, not negative; the first one's
            is not looked at. Infinity forgets all that was before.
        values: ``(n, c)``.
        degree: the highest power k.

    Returns:
        ``(n, degree + 1, c)``.
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
        carried = _moved(before[row - 1], through, (0, row - 1))
        before[row] = found[-1, row - 1] + carried
    whole = _shift(total, degree)
    found += _moved(before[None], whole, slice(None))
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
