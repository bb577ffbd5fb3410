import numpy as np
import pytest
from scipy import stats

from attention_plugins.race import statistics


def draws(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize(
    "values",
    [draws(0, 12), draws(1, 2), np.exp(2 * draws(2, 25)), -np.exp(draws(3, 7)), [0.0] * 9 + [1.0]],
    ids=["normal", "two", "skewed", "skewed down", "one differs"],
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_the_interval_is_scipys(values, confidence):
    values = np.array(values)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=9_999, confidence_level=confidence, method="BCa",
        rng=np.random.default_rng(4),
    ).confidence_interval  # fmt: skip
    assert statistics.interval(values, confidence, 4) == pytest.approx(tuple(expected), rel=1e-9)


def test_an_undefined_interval_is_scipys_of_percentiles():
    """The cubes of such small numbers are 0."""
    values = 1e-120 * draws(0, 12)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=9_999, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert statistics.interval(values, 0.95, 0) == pytest.approx(tuple(expected), rel=1e-9)


def test_a_skewed_sample_has_a_skewed_interval():
    values = np.exp(2 * draws(2, 25))
    low, high = statistics.interval(values, 0.95, 0)
    assert high - values.mean() > 1.3 * (values.mean() - low)


def test_where_all_means_lie_on_one_side_the_interval_is_the_percentile_interval():
    tails = np.array([0.025, 0.975])
    for means in (np.array([5.0, 6.0]), np.array([0.0, 0.5])):
        assert statistics._accelerated(np.array([1.0, 2.0, 4.0]), means, tails) is tails
