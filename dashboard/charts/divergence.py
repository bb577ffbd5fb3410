"""How far apart two attention maps are: row by row, and as a whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dashboard.charts.frames import array_of

_FLAT = 1e-6  # weights this close to each other differ by the rounding of float32 alone


class Match(NamedTuple):
    """The head that resembles another one most, and the correlation ``r`` of their weights.

    ``head`` is None, and ``r`` NaN, where there is no correlation with any.
    """

    head: int | None
    r: float


def jensen_shannon(weights: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The Jensen–Shannon divergence of every row, in bits: 0 where equal, 1 where disjoint.

    Half the Kullback–Leibler divergence of each row from the mean of both, added (Lin 1991). Rows
    are scaled to sum to 1; a masked cell, NaN, counts as 0.

    Args:
        weights, reference: ``(..., keys)``, not negative, of one shape.

    Returns:
        ``(...)``; NaN where a row has no weight.

    Raises:
        ValueError: different shapes.
    """
    rows, others = _rows(weights), _rows(reference)
    _check_shapes(rows, others)
    middle = (rows + others) / 2
    found = (_relative(rows, middle) + _relative(others, middle)) / 2
    return np.clip(found, 0.0, 1.0)  # clip keeps NaN


def correlations(weights: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Pearson's correlation of every head with every head of another model.

    Over all cells that neither masks, without regard to where they stand.

    Args:
        weights: ``(heads, queries, keys)``, NaN where masked.
        reference: ``(other heads, queries, keys)``.

    Returns:
        ``(heads, other heads)``; NaN where either head's weights are all the same.

    Raises:
        ValueError: maps of different shapes.
    """
    maps, others = array_of(weights), array_of(reference)
    _check_shapes(maps[0], others[0])
    seen = ~(np.isnan(maps).any(axis=0) | np.isnan(others).any(axis=0))
    return _standardised(maps[:, seen]) @ _standardised(others[:, seen]).T


def match_heads(weights: np.ndarray, reference: np.ndarray) -> list[Match]:
    """For every head the head of the other model with the highest correlation.

    Several heads may have one match. Arguments and errors as of :func:`correlations`.
    """
    return [
        Match(None, float("nan"))
        if np.isnan(row).all()
        else Match(int(np.nanargmax(row)), float(np.nanmax(row)))
        for row in correlations(weights, reference)
    ]


def _check_shapes(one: np.ndarray, other: np.ndarray) -> None:
    if one.shape != other.shape:
        raise ValueError(f"need maps of one shape to compare, got {one.shape} and {other.shape}")


def _rows(weights: np.ndarray) -> np.ndarray:
    values = np.nan_to_num(array_of(weights))
    total = values.sum(axis=-1, keepdims=True)
    return np.divide(values, total, out=np.full_like(values, np.nan), where=total > 0)


def _relative(rows: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """The Kullback–Leibler divergence of each row from ``middle``, in bits."""
    ratio = np.divide(rows, middle, out=np.ones_like(rows), where=rows > 0)
    return (rows * np.log2(ratio)).sum(axis=-1)


def _standardised(maps: np.ndarray) -> np.ndarray:
    """Each row shifted and scaled to mean 0 and length 1; NaN where it is constant."""
    if not maps.shape[1]:
        return np.full_like(maps, np.nan)
    centred = maps - maps.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    flat = np.ptp(maps, axis=1, keepdims=True) <= _FLAT
    return np.divide(centred, length, out=np.full_like(maps, np.nan), where=~flat)
