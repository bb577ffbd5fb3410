"""Kernels ``(c_0 + c_1 r + ...) e^-r`` on a line: exact sums from two prefix sums.

Hartikainen & Sarkka 2010, Kalman filtering and smoothing solutions to temporal Gaussian process
regression models, have the same recurrence for the Matern kernels.
"""

from __future__ import annotations

import math

import numpy as np

from attention_plugins.radial import Exponential
from attention_plugins.sums.direct import Line, Means
from attention_plugins.sums.scan import decaying_moments


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
