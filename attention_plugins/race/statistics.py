"""Paired statistics of a race: differences, their intervals, tests, corrections, ranks.

All functions take values aligned by seed, in which NaN or infinity stands for a training without a
result. It is left out together with the other side's value of that seed. What is drawn at random
is drawn from a fixed seed: equal values give equal results.

Loads numpy alone at import; scipy where it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

LEVEL = 0.05  # a p at most this large is no chance
CONFIDENCE = 0.95
_EXACT = 13  # seeds up to which all patterns of signs are gone through: 2 ** 13
_DRAWN = 99_999  # patterns that are drawn where there are more seeds
_RESAMPLES = 9_999  # of the bootstrap
_CELLS = 1 << 22  # sums that ranks hold at once
_ROUNDING = 1e-13  # sums this close, as a share of what was added, differ by rounding alone


class Estimate(NamedTuple):
    """A mean over seeds with its interval.

    Args:
        mean: NaN without a value.
        low, high: ends of the bootstrap interval; NaN with fewer than two values.
        count: seeds that it rests on.
    """

    mean: float
    low: float
    high: float
    count: int


class Difference(NamedTuple):
    """How much better one contestant is than another, seed by seed.

    Args:
        mean: in the unit of the values; positive where ours is better.
        low, high: ends of its bootstrap interval; NaN with fewer than two pairs.
        p: of the paired permutation test, two-sided, not corrected; NaN without a pair.
        pairs: seeds that both have a value of.
    """

    mean: float
    low: float
    high: float
    p: float
    pairs: int


def difference(
    ours: Sequence[float], theirs: Sequence[float], *, higher_is_better: bool,
    confidence: float = CONFIDENCE, seed: int = 0,
) -> Difference:  # fmt: skip
    """The paired difference of two contestants, with a bootstrap interval and a permutation test.

    The test flips the signs of the differences (Fisher 1935, section 21): through all patterns up
    to 13 pairs, else through 99,999 that are drawn. The interval is bias-corrected and accelerated
    (Efron 1987), and where that is undefined a percentile interval.

    Args:
        ours, theirs: values of the same seeds in the same order.
        confidence: of the interval, between 0 and 1.
        seed: of what is drawn.

    Raises:
        ValueError: different numbers of values.
    """
    gains = _paired(ours, theirs, higher_is_better)
    mean, low, high, pairs = mean_with_interval(gains, confidence=confidence, seed=seed)
    return Difference(mean, low, high, _sign_flip_p(gains, seed), pairs)


def mean_with_interval(
    values: Sequence[float] | np.ndarray, *, confidence: float = CONFIDENCE, seed: int = 0
) -> Estimate:
    """The mean of the values with its bootstrap interval; see :func:`difference`."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return Estimate(float(known[0]) if len(known) else np.nan, np.nan, np.nan, len(known))
    mean = float(known.mean())
    if np.all(known == known[0]):
        return Estimate(float(known[0]), float(known[0]), float(known[0]), len(known))
    low, high = _bootstrap(known, confidence, seed)
    return Estimate(mean, low, high, len(known))


def corrected(ps: Sequence[float]) -> list[float]:
    """Each p corrected for all of them by Holm's step-down method (Holm 1979).

    The smallest counts as many times as there are, the next once less; none comes out below one
    that went in smaller. NaN stays where it is and is not counted.
    """
    found = np.array(ps, dtype=float)
    order = np.argsort(found)[: np.isfinite(found).sum()]  # NaN comes last
    times = np.arange(len(order), 0, -1)
    found[order] = np.minimum(1.0, np.maximum.accumulate(times * found[order]))
    return found.tolist()


def smallest_p(pairs: int) -> float:
    """The smallest p that the test of :func:`difference` can give; NaN without a pair."""
    if pairs < 1:
        return np.nan
    return 2 / 2**pairs if pairs <= _EXACT else 2 / (_DRAWN + 1)


def seeds_needed(comparisons: int) -> int | None:
    """How few seeds let all of so many corrected p be at most 0.05; None if none do."""
    enough = (n for n in range(1, _EXACT + 2) if comparisons * smallest_p(n) <= LEVEL)
    return next(enough, None)


def ranks(by_contestant: Sequence[Sequence[float]], higher_is_better: bool) -> list[int]:
    """1 + how many contestants are better than each beyond chance, so that ties share a rank.

    All pairs are tested like in :func:`difference`, and corrected for their number by the
    false discovery rate (Benjamini and Hochberg 1995) at 5 %.

    Args:
        by_contestant: ``(contestants, seeds)``.

    Raises:
        ValueError: rows of different lengths, or one without a value.
    """
    values = _table(by_contestant)
    ours, theirs = np.triu_indices(len(values), k=1)
    found = [1] * len(values)
    if not len(ours):
        return found
    from scipy.stats import false_discovery_control

    gains = values[ours] - values[theirs]  # (pairs of contestants, seeds)
    gains = np.where(np.isfinite(gains), gains, 0.0) * (1 if higher_is_better else -1)
    beyond = false_discovery_control(sign_flip_ps(gains), method="bh") <= LEVEL
    for one, other, gain in zip(
        ours[beyond], theirs[beyond], gains[beyond].sum(axis=1), strict=True
    ):
        found[other if gain > 0 else one] += 1
    return found


def sign_flip_ps(gains: np.ndarray, seed: int = 0) -> np.ndarray:
    """The two-sided p of each row of differences ``(rows, seeds)``, all at once.

    Equals scipy's ``permutation_test`` of each row. A difference of 0 changes no p, and so stands
    for a missing one. Where all patterns are gone through, half of them do: the others are their
    mirror images.
    """
    seeds = gains.shape[1]
    exact = seeds <= _EXACT
    if exact:
        half = np.arange(2 ** max(seeds - 1, 0))
        signs = 1.0 - 2 * ((half[:, None] >> np.arange(seeds)) & 1)  # the last is always 1
    else:
        signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(_DRAWN, seeds))
    added = 0 if exact else 1  # the observed pattern counts as drawn
    found = np.ones(len(gains))
    step = max(1, _CELLS // len(signs))
    for start in range(0, len(gains), step):
        part = gains[start : start + step]
        rounding = _ROUNDING * np.abs(part).sum(axis=1)
        extreme = np.abs(part @ signs.T) >= (np.abs(part.sum(axis=1)) - rounding)[:, None]
        found[start : start + step] = (extreme.sum(axis=1) + added) / (len(signs) + added)
    return found


def _table(rows: Sequence[Sequence[float]]) -> np.ndarray:
    if len({len(row) for row in rows}) > 1:
        raise ValueError(
            "need as many values of every contestant: one per seed, NaN where missing"
        )
    values = np.asarray(rows, dtype=float)
    without = [i for i, row in enumerate(values) if not np.isfinite(row).any()]
    if without:
        raise ValueError(
            f"need at least one value of every contestant; numbers {without} have none"
        )
    return values


def _paired(ours: Sequence[float], theirs: Sequence[float], higher_is_better: bool) -> np.ndarray:
    if len(ours) != len(theirs):
        raise ValueError(
            f"need values of the same seeds, got {len(ours)} of ours and {len(theirs)} of theirs"
        )
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gains = np.subtract(ours, theirs, dtype=float) * (1 if higher_is_better else -1)
    return gains[np.isfinite(gains)]


def _sign_flip_p(gains: np.ndarray, seed: int) -> float:
    if len(gains) < 2:
        return 1.0 if len(gains) else np.nan
    from scipy.stats import permutation_test

    tested = permutation_test(
        (gains,), np.mean, permutation_type="samples", vectorized=True,
        n_resamples=2**_EXACT if len(gains) <= _EXACT else _DRAWN,
        rng=np.random.default_rng(seed),
    )  # fmt: skip
    return float(tested.pvalue)


def _bootstrap(values: np.ndarray, confidence: float, seed: int) -> tuple[float, float]:
    from scipy.stats import DegenerateDataWarning, bootstrap

    def interval(method: str) -> tuple[float, float]:
        found = bootstrap(
            (values,), np.mean, vectorized=True, n_resamples=_RESAMPLES, method=method,
            confidence_level=confidence, rng=np.random.default_rng(seed),
        ).confidence_interval  # fmt: skip
        return float(found.low), float(found.high)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        low, high = interval("BCa")
    return (low, high) if np.isfinite(low) and np.isfinite(high) else interval("percentile")
