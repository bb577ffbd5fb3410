"""Paired statistics of a race: differences, their intervals, tests, corrections, ranks.

All functions take values aligned by seed, in which NaN or infinity stands for a training without a
result. It is left out together with the other side's value of that seed. What is drawn at random
is drawn from a fixed seed: equal values give equal results.

Written out with numpy, and tested against scipy and statsmodels, because scipy costs each process
that shows a race 58 MB.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

_RESAMPLES = 9_999
_NORMAL = NormalDist()


def interval(values: np.ndarray, confidence: float, seed: int) -> tuple[float, float]:
    """The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987).

    Where that is undefined it is the percentile interval. Equals scipy's ``bootstrap`` with the
    same generator. Of ``values (n,)``, finite, not all the same, 9,999 resamples are drawn.
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


LEVEL = 0.05  # a p at most this large is no chance
POWER = 0.8  # with which seeds that decide find a difference
CONFIDENCE = 0.95
_EXACT = 13  # seeds up to which all patterns of signs are gone through: 2 ** 13
_DRAWN = 99_999  # patterns that are drawn where there are more seeds
_CELLS = 1 << 22  # sums that ranks hold at once
_ROUNDING = 1e-13  # sums this close, as a share of what was added, differ by rounding alone


class Estimate(NamedTuple):
    """A mean over seeds with its bootstrap interval, and how many seeds it rests on.

    NaN without a value; the ends of the interval with fewer than two.
    """

    mean: float
    low: float
    high: float
    count: int


class Difference(NamedTuple):
    """How much better one contestant is than another, in the unit of the values.

    Args:
        low, high: ends of its bootstrap interval; NaN with fewer than two pairs.
        p: of the paired permutation test, two-sided, not corrected; NaN without a pair.
        pairs: seeds that both have a value of.
    """

    mean: float
    low: float
    high: float
    p: float
    pairs: int


def differences(
    ours: Sequence[Sequence[float]], theirs: Sequence[float], *, higher_is_better: bool,
    intervals: bool = True,
) -> list[Difference]:  # fmt: skip
    """Paired differences of contestants to one, with bootstrap intervals and permutation tests.

    The test flips the signs of the differences (Fisher 1935, section 21): through all patterns up
    to 13 pairs, else through 99,999 that are drawn.

    Args:
        ours: ``(contestants, seeds)``, of the seeds of ``theirs`` in the same order.
        intervals: whether each has its interval; else its ends are NaN.
    """
    rows = [_paired(row, theirs, higher_is_better) for row in ours]
    found = []
    for gains, p in zip(rows, _ps(rows), strict=True):
        one = Estimate(float(gains.mean()) if len(gains) else np.nan, np.nan, np.nan, len(gains))
        mean, low, high, pairs = mean_with_interval(gains) if intervals else one
        found.append(Difference(mean, low, high, p, pairs))
    return found


def mean_with_interval(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean of the values with its bootstrap interval; see :func:`interval`."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return Estimate(float(known[0]) if len(known) else np.nan, np.nan, np.nan, len(known))
    if np.all(known == known[0]):
        low = high = float(known[0])
        return Estimate(low, low, high, len(known))
    low, high = interval(known, CONFIDENCE, 0)
    return Estimate(float(known.mean()), low, high, len(known))


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
    """A bound below which no p of :func:`differences` lies; NaN without a pair.

    Up to 13 pairs it is reached where all differences have one sign.
    """
    if pairs < 1:
        return np.nan
    return 2 / 2**pairs if pairs <= _EXACT else 1 / (_DRAWN + 1)


def seeds_needed(comparisons: int) -> int | None:
    """How few seeds let all of so many corrected p be at most 0.05; None if none do."""
    # Where all differences have one sign, which a draw may or may not show again.
    expected = {n: max(2 / 2**n, 2 / (_DRAWN + 1)) for n in range(1, 2 * _EXACT)}
    return next((n for n, p in expected.items() if comparisons * p <= LEVEL), None)


def seeds_to_decide(gains: Sequence[float] | np.ndarray, comparisons: int) -> int | None:
    """About how many pairs show the mean of these differences with a power of 80%.

    Were the mean and the spread those of the differences so far, and each of so many comparisons
    tested at its share of 5%: the number of a paired t-test (Guenther 1981), from which that of
    flipping signs hardly differs. None where nothing differs.
    """
    known = np.asarray(gains, dtype=float)
    known = known[np.isfinite(known)]
    fewest = seeds_needed(comparisons)
    if len(known) < 2 or not known.mean() or fewest is None:
        return None
    level = _NORMAL.inv_cdf(1 - LEVEL / 2 / comparisons)
    ratio = float(known.std(ddof=1) / known.mean())
    return max(fewest, math.ceil((ratio * (level + _NORMAL.inv_cdf(POWER))) ** 2 + level**2 / 2))


def ranks(by_contestant: Sequence[Sequence[float]], higher_is_better: bool) -> list[int]:
    """1 + how many contestants lead each beyond chance, so that ties share one: :func:`leads`."""
    return (1 + leads(by_contestant, higher_is_better).sum(axis=0, dtype=int)).tolist()


def leads(by_contestant: Sequence[Sequence[float]], higher_is_better: bool) -> np.ndarray:
    """Who leads whom beyond chance: ``(contestants, contestants)``, true where a row leads.

    All pairs of ``(contestants, seeds)`` are tested like in :func:`differences`, and corrected for
    their number by the false discovery rate (Benjamini and Hochberg 1995) at 5%. Rows must have
    one length, and each a value.
    """
    if len({len(row) for row in by_contestant}) > 1:
        raise ValueError(
            "need as many values of every contestant: one per seed, NaN where missing"
        )
    values = np.asarray(by_contestant, dtype=float)
    without = [i for i, row in enumerate(values) if not np.isfinite(row).any()]
    if without:
        raise ValueError(
            f"need at least one value of every contestant; numbers {without} have none"
        )
    ours, theirs = np.triu_indices(len(values), k=1)
    found = np.zeros((len(values), len(values)), dtype=bool)
    if not len(ours):
        return found
    gains = values[ours] - values[theirs]  # (pairs of contestants, seeds)
    gains = np.where(np.isfinite(gains), gains, 0.0) * (1 if higher_is_better else -1)
    ps = sign_flip_ps(gains)
    order = np.argsort(ps)  # of those beyond chance at most 5% are expected not to be
    bounds = LEVEL * np.arange(1, len(ps) + 1) / len(ps)
    beyond = order[: max(np.flatnonzero(ps[order] <= bounds), default=-1) + 1]
    ahead = gains[beyond].sum(axis=1) > 0
    found[ours[beyond], theirs[beyond]] = ahead
    found[theirs[beyond], ours[beyond]] = ~ahead
    return found


def sign_flip_ps(gains: np.ndarray) -> np.ndarray:
    """The two-sided p of each row of differences ``(rows, seeds)``, all at once.

    Equals scipy's ``permutation_test`` of each row. A difference of 0 changes no p, and so stands
    for a missing one. Where all patterns are gone through, half do: the others mirror these.
    """
    seeds = gains.shape[1]
    exact = seeds <= _EXACT
    if exact:
        half = np.arange(2 ** max(seeds - 1, 0))
        signs = 1.0 - 2 * ((half[:, None] >> np.arange(seeds)) & 1)  # the last is always 1
    else:
        signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(_DRAWN, seeds))
    added = 0 if exact else 1  # the observed pattern counts as drawn
    found = np.ones(len(gains))
    step = max(1, _CELLS // len(signs))
    for start in range(0, len(gains), step):
        part = gains[start : start + step]
        rounding = _ROUNDING * np.abs(part).sum(axis=1)
        extreme = np.abs(part @ signs.T) >= (np.abs(part.sum(axis=1)) - rounding)[:, None]
        found[start : start + step] = (extreme.sum(axis=1) + added) / (len(signs) + added)
    return found


def _paired(ours: Sequence[float], theirs: Sequence[float], higher_is_better: bool) -> np.ndarray:
    if len(ours) != len(theirs):
        raise ValueError(
            f"need values of the same seeds, got {len(ours)} of ours and {len(theirs)} of theirs"
        )
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gains = np.subtract(ours, theirs, dtype=float) * (1 if higher_is_better else -1)
    return gains[np.isfinite(gains)]


def _ps(rows: Sequence[np.ndarray]) -> list[float]:
    """The p of each row of differences; NaN of one without any. Equally long ones go at once."""
    found = [np.nan] * len(rows)
    for count in {len(row) for row in rows} - {0}:
        places = [place for place, row in enumerate(rows) if len(row) == count]
        ps = sign_flip_ps(np.array([rows[place] for place in places]))
        for place, p in zip(places, ps.tolist(), strict=True):
            found[place] = p
    return found
