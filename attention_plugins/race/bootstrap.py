"""The interval of a mean by resampling."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

_RESAMPLES = 9_999
_NORMAL = NormalDist()


def interval(values: np.ndarray, confidence: float, seed: int) -> tuple[float, float]:
    """The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987).

    Where that is undefined it is the percentile interval. Equals scipy's ``bootstrap`` with the
    same generator; written out here because that costs each process 58 MB.

    Args:
        values: ``(n,)``, finite, at least two of them different.
        confidence: between 0 and 1.
        seed: of the generator that draws 9,999 resamples.

    Returns:
        Its lower and its upper end, in the unit of the values.
    """
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (_RESAMPLES, len(values)))].mean(axis=1)
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = np.quantile(means, _accelerated(values, means, tails))
    return float(low), float(high)


def _accelerated(values: np.ndarray, means: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Which quantiles of the resampled means bound the interval; ``tails`` where undefined.

    Efron and Tibshirani (1993), An Introduction to the Bootstrap, equations 14.9, 14.14, 14.15.
    """
    below = ((means < values.mean()).mean() + (means <= values.mean()).mean()) / 2
    others = (values.sum() - values) / (len(values) - 1)  # the mean without each
    away = others.mean() - others
    spread = (away**2).sum() ** 1.5
    if not (0 < below < 1 and spread > 0):
        return tails
    bias = _NORMAL.inv_cdf(float(below))
    acceleration = (away**3).sum() / (6 * spread)
    shifted = np.array([bias + _NORMAL.inv_cdf(float(tail)) for tail in tails])
    return np.array([_NORMAL.cdf(z) for z in bias + shifted / (1 - acceleration * shifted)])
