"""Chebyshev polynomials on boxes, and kernels between two boxes in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

Scores = Callable[[np.ndarray], np.ndarray]


def polynomials(places: np.ndarray, count: int) -> np.ndarray:
    """``T_0`` to ``T_(count - 1)`` at places in [-1, 1], ``(count, ...)``."""
    found = np.empty((count, *places.shape))
    found[0] = 1.0
    found[1] = places
    double = 2.0 * places
    for k in range(2, count):
        np.multiply(double, found[k - 1], out=found[k])
        found[k] -= found[k - 2]
    return found


@lru_cache
def nodes(count: int) -> np.ndarray:
    """The zeros of ``T_count``."""
    return np.cos((np.arange(count) + 0.5) * np.pi / count)


@lru_cache
def to_coefficients(count: int) -> np.ndarray:
    """Values at the nodes to coefficients, ``(count, count)``."""
    table = polynomials(nodes(count), count) * (2.0 / count)
    table[0] *= 0.5
    return table


@lru_cache
def halves(count: int) -> np.ndarray:
    """``T_k((u - 1) / 2)`` and ``T_k((u + 1) / 2)`` as sums of ``T_j(u)``, ``(2, k, j)``."""
    places = [(nodes(count) + side) / 2 for side in (-1.0, 1.0)]
    return np.stack([polynomials(at, count) @ to_coefficients(count).T for at in places])


class Transfer:
    """A kernel K between boxes of one size, as coefficients, and how well they fit.

    Args:
        scores: ``log K`` of differences of numbers.
        size: of the boxes.
        offsets: query's box minus key's box, not negative, ``(o,)``.
        count: of polynomials, p.

    Attributes:
        kernel: ``(o, p, p)``, with ``K(q - k) = sum A_ij T_i(q) T_j(k)``.
        entropic: the same of ``K log K``.
        errors: the largest difference between the two sides that was seen, for either, ``(o,)``.
    """

    def __init__(self, scores: Scores, size: float, offsets: np.ndarray, count: int) -> None:
        probe = np.linspace(-1.0, 1.0, count + 3)
        change, basis = to_coefficients(count), polynomials(probe, count)
        at_nodes, at_probe = (
            scores(size * (offsets[:, None, None] + (at[:, None] - at) / 2))
            for at in (nodes(count), probe)
        )
        found, self.errors = [], np.zeros(len(offsets))
        for make in (np.exp, _entropic):
            matrices = change @ make(at_nodes) @ change.T
            seen = np.abs(basis.T @ matrices @ basis - make(at_probe)).max(axis=(1, 2))
            self.errors = np.maximum(self.errors, seen)
            found.append(matrices)
        self.kernel, self.entropic = found


def mirrored(matrices: np.ndarray) -> np.ndarray:
    """The matrices of the negative offsets, of those of the positive ones."""
    signs = np.where(np.arange(matrices.shape[-1]) % 2, -1.0, 1.0)
    return matrices * signs[:, None] * signs


def _entropic(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) * scores
