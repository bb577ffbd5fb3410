import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, permutation_test
from statsmodels.stats.multitest import multipletests

from attention_plugins.race.statistics import (
    Difference,
    corrected,
    differences,
    interval,
    mean_with_interval,
    ranks,
    seeds_needed,
    sign_flip_ps,
    smallest_p,
)

NAN = math.nan
# Sums and differences of these are exact.
VALUES = st.integers(-64, 64).map(lambda n: n / 16)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=8)


def draws(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def scipys(gains: np.ndarray, n_resamples: float = np.inf) -> float:
    return permutation_test(
        (gains,), np.mean, permutation_type="samples", n_resamples=n_resamples
    ).pvalue


def difference(ours, theirs, *, higher_is_better) -> Difference:
    return differences([ours], theirs, higher_is_better=higher_is_better)[0]


# --- difference


def test_a_difference_is_paired_by_seed():
    """Seeds differ by far more than contestants do: only their pairs tell."""
    easy = 10 * draws(0, 12)
    found = difference(easy + 0.3 + draws(1, 12) / 10, easy, higher_is_better=True)
    assert found.mean == pytest.approx(0.3, abs=0.1)
    assert 0.1 < found.low < found.mean < found.high < 0.5
    assert found.p == 2 / 2**12
    assert found.pairs == 12


def test_positive_means_ours_is_better():
    assert difference([3, 4], [1, 1], higher_is_better=True).mean == 2.5
    assert difference([3, 4], [1, 1], higher_is_better=False).mean == -2.5


@pytest.mark.parametrize("pairs", [2, 3, 5, 11])
def test_the_test_is_exact(pairs):
    gains = draws(pairs, pairs) + 0.4
    assert difference(gains, np.zeros(pairs), higher_is_better=True).p == scipys(gains)


def test_beyond_13_seeds_patterns_are_drawn():
    gains = draws(3, 17) + 0.5
    found = difference(gains, np.zeros(17), higher_is_better=True)
    assert found.p == pytest.approx(scipys(gains), abs=0.005)
    assert found == difference(gains, np.zeros(17), higher_is_better=True)


@given(pairs=PAIRS, higher=st.booleans())
def test_swapping_both_mirrors_the_difference(pairs, higher):
    ours, theirs = zip(*pairs, strict=True)
    one = difference(ours, theirs, higher_is_better=higher)
    other = difference(theirs, ours, higher_is_better=higher)
    assert (other.mean, other.p, other.pairs) == (-one.mean, one.p, one.pairs)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-12)


@given(pairs=PAIRS, shift=VALUES)
def test_a_constant_added_to_both_changes_nothing(pairs, shift):
    ours, theirs = np.transpose(pairs)
    one = difference(ours, theirs, higher_is_better=True)
    assert one == difference(ours + shift, theirs + shift, higher_is_better=True)


def test_a_missing_value_leaves_out_its_pair():
    ours, theirs = [1.0, NAN, 3.0, 5.0, math.inf, 7.0], [0.5, 9.0, NAN, 4.0, math.inf, -math.inf]
    one = difference(ours, theirs, higher_is_better=True)
    assert one == difference([1.0, 5.0], [0.5, 4.0], higher_is_better=True)
    assert one.pairs == 2


def test_equal_differences_have_an_interval_of_one_point():
    found = difference([1.1, 2.1, 3.1], [1.0, 2.0, 3.0], higher_is_better=True)
    assert found.low == pytest.approx(0.1)
    assert found.low <= found.mean <= found.high
    assert found.p == 0.25


def test_no_difference_at_all_is_chance():
    assert difference([1, 2, 3], [1, 2, 3], higher_is_better=True) == (0, 0, 0, 1, 3)


def test_one_seed_proves_nothing():
    mean, low, high, p, pairs = difference([3], [1], higher_is_better=True)
    assert (mean, p, pairs) == (2, 1, 1)
    assert math.isnan(low)
    assert math.isnan(high)


def test_no_pair_is_no_difference():
    found = difference([1, NAN], [NAN, 1], higher_is_better=True)
    assert all(math.isnan(number) for number in found[:4])
    assert found.pairs == 0


def test_values_of_other_seeds_are_refused():
    with pytest.raises(ValueError, match="same seeds, got 2 of ours and 1 of theirs"):
        difference([1, 2], [1], higher_is_better=True)


def test_chance_is_found_no_more_often_than_it_should():
    """Of 200 pairs of equal contestants at most 7% are told apart, at a level of 5%."""
    told = [
        difference(*draws(repeat, 2, 12), higher_is_better=True).p <= 0.05 for repeat in range(200)
    ]
    assert 0 < sum(told) <= 14


def test_chance_is_found_as_often_as_the_level_says():
    """204 of 4,096 patterns of 12 signs: 4.98%."""
    found = np.mean(sign_flip_ps(draws(0, 5000, 12)) <= 0.05)
    assert found == pytest.approx(204 / 4096, abs=0.01)


# --- intervals


def test_an_interval_holds_the_mean_as_often_as_it_says():
    """Roughly: a bootstrap of 20 values is somewhat narrow."""
    found = [mean_with_interval(draws(repeat, 20)) for repeat in range(200)]
    held = np.mean([one.low <= 0 <= one.high for one in found])
    assert 0.88 <= held <= 0.98


def test_a_wider_confidence_is_a_wider_interval():
    narrow, wide = (interval(draws(0, 12), confidence, 0) for confidence in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_an_interval_leaves_out_what_is_missing():
    assert mean_with_interval([1, NAN, 2, math.inf, 4]) == mean_with_interval([1, 2, 4])
    assert mean_with_interval([1, NAN, 2]).count == 2


def test_where_the_accelerated_interval_is_undefined_it_is_of_percentiles():
    """The cubes of such small numbers are 0."""
    found = mean_with_interval(1e-120 * draws(0, 12))
    assert found.low < found.mean < found.high


@pytest.mark.parametrize(("values", "mean"), [([], NAN), ([2.5], 2.5)])
def test_fewer_than_two_values_have_no_interval(values, mean):
    found = mean_with_interval(values)
    assert found == pytest.approx((mean, NAN, NAN, len(values)), nan_ok=True)


# --- many comparisons


def test_corrected_is_holms_and_keeps_what_is_missing():
    ps = [0.01, NAN, 0.04, 0.03]
    expected = multipletests([0.01, 0.04, 0.03], method="holm")[1]
    found = corrected(ps)
    assert math.isnan(found[1])
    assert [found[0], found[2], found[3]] == expected.tolist() == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.parametrize("count", [1, 60])
def test_corrected_is_what_statsmodels_says(count):
    """Ties among them, and some that come out as 1."""
    rng = np.random.default_rng(count)
    ps = np.concatenate([rng.uniform(1e-6, 0.1, count), rng.choice([0.01, 0.02], count)]).tolist()
    assert corrected(ps) == pytest.approx(multipletests(ps, method="holm")[1].tolist())


def test_nothing_to_correct():
    assert corrected([]) == []
    assert math.isnan(corrected([NAN])[0])


@pytest.mark.parametrize("pairs", [1, 2, 6, 13, 14, 40])
def test_no_p_is_smaller_than_the_smallest(pairs):
    found = difference(np.arange(1, pairs + 1), np.zeros(pairs), higher_is_better=True)
    assert found.p == pytest.approx(smallest_p(pairs), abs=2e-4 if pairs == 14 else 0)
    assert found.p >= smallest_p(pairs) > 0


@pytest.mark.parametrize(
    ("comparisons", "seeds"),
    [(1, 6), (2, 7), (39, 11), (204, 13), (205, 14), (2500, 17), (2501, None)],
)
def test_enough_seeds_are_as_few_as_do(comparisons, seeds):
    assert seeds_needed(comparisons) == seeds
    if seeds:
        assert comparisons * 2 / 2**seeds <= 0.05 < comparisons * 2 / 2 ** (seeds - 1)


# --- ranks


def test_all_sign_flips_at_once_equal_scipys():
    gains = draws(5, 40, 11) + np.linspace(0, 1, 40)[:, None]
    assert sign_flip_ps(gains).tolist() == [scipys(row) for row in gains]


def test_sign_flips_count_ties_as_scipy_does():
    """Of values on a grid many patterns have the observed sum."""
    gains = np.random.default_rng(0).integers(-3, 4, size=(30, 7)) / 10
    assert sign_flip_ps(gains).tolist() == [scipys(row) for row in gains]


def test_a_difference_of_nothing_stands_for_a_missing_one():
    gains = draws(6, 5, 7) + 0.5
    padded = np.insert(gains, (2, 5), 0.0, axis=1)
    assert sign_flip_ps(padded).tolist() == sign_flip_ps(gains).tolist()


def test_drawn_sign_flips_agree_with_scipys():
    gains = draws(7, 3, 15) + np.array([[0], [0.3], [0.6]])
    assert sign_flip_ps(gains) == pytest.approx([scipys(row) for row in gains], abs=0.005)


@pytest.mark.parametrize("repeat", range(4))
def test_pairs_beyond_chance_are_those_of_scipys_false_discovery_rate(repeat):
    """A contestant's rank is 1 + the pairs of it that scipy rejects and that it loses."""
    rows = draws(repeat, 7, 12) + np.linspace(0, 0.4 * repeat, 7)[:, None]
    pairs = [(i, j) for i in range(7) for j in range(i)]
    ps = [scipys(rows[i] - rows[j]) for i, j in pairs]
    beyond = false_discovery_control(ps, method="bh") <= 0.05
    losers = [
        i if rows[i].sum() < rows[j].sum() else j
        for (i, j), told in zip(pairs, beyond, strict=True) if told
    ]  # fmt: skip
    found = ranks(rows.tolist(), higher_is_better=True)
    assert found == [1 + losers.count(i) for i in range(7)]


def test_a_p_above_its_own_bound_counts_where_a_larger_one_is_below_its():
    """The procedure steps up: the last p that is small enough takes all before it along."""
    stepped = 0
    for seed in range(60):
        rows = draws(seed, 5, 8) + np.linspace(0, 1.5, 5)[:, None]
        pairs = [(i, j) for i in range(5) for j in range(i)]
        ps = sign_flip_ps(np.array([rows[i] - rows[j] for i, j in pairs]))
        beyond = false_discovery_control(ps, method="bh") <= 0.05
        losers = [
            i if rows[i].sum() < rows[j].sum() else j
            for (i, j), told in zip(pairs, beyond, strict=True) if told
        ]  # fmt: skip
        found = ranks(rows.tolist(), higher_is_better=True)
        assert found == [1 + losers.count(i) for i in range(5)]
        small = np.sort(ps) <= 0.05 * np.arange(1, len(ps) + 1) / len(ps)
        stepped += small.sum() < beyond.sum()
    assert stepped > 3, "else no draw tells the two apart"


def test_equal_contestants_share_the_first_rank():
    assert ranks(draws(0, 10, 12).tolist(), higher_is_better=True) == [1] * 10


def test_a_rank_counts_who_is_better_beyond_chance():
    seeds = draws(0, 12)
    rows = [seeds + shift + draws(i, 12) / 10 for i, shift in enumerate((0, 2, 1, 2))]
    assert ranks(rows, higher_is_better=True) == [4, 1, 3, 1]
    assert ranks(rows, higher_is_better=False) == [1, 3, 2, 3]


def test_ranks_leave_out_pairs_with_a_missing_value():
    one, other = draws(0, 12) + 3, draws(1, 12)
    one[0], other[1] = NAN, math.inf
    assert ranks([one, other], higher_is_better=True) == [1, 2]
    one[5:] = NAN  # four pairs are too few
    assert ranks([one, other], higher_is_better=True) == [1, 1]


def test_ranks_are_corrected_for_all_pairs():
    """Six seeds reach p = 0.031: enough for one pair, too little for one of many."""
    better = np.linspace(1, 2, 6)
    rows = [better, np.zeros(6)]
    assert ranks(rows, higher_is_better=True) == [1, 2]
    among = draws(0, 6, 6).tolist()
    assert ranks([*rows, *among], higher_is_better=True) == [1] * 8


def test_one_contestant_is_first_and_none_has_no_rank():
    assert ranks([[0.5, NAN]], higher_is_better=True) == [1]
    assert ranks([], higher_is_better=True) == []


def test_ranks_refuse_rows_without_a_value_or_of_different_lengths():
    with pytest.raises(ValueError, match=r"numbers \[1\] have none"):
        ranks([[1.0, 2.0], [NAN, NAN]], higher_is_better=True)
    with pytest.raises(ValueError, match="as many values of every contestant"):
        ranks([[1.0, 2.0], [1.0]], higher_is_better=True)


@pytest.mark.parametrize("seeds", [12, 15])
def test_differences_of_many_at_once_are_those_of_each(seeds):
    rng = np.random.default_rng(5)
    theirs, ours = rng.normal(size=seeds), rng.normal(0.5, 1, size=(7, seeds))
    ours[2, 3:7] = ours[3, 1] = np.nan
    ours[5] = np.nan
    each = [difference(row, theirs, higher_is_better=False) for row in ours]
    found = differences(ours.tolist(), theirs.tolist(), higher_is_better=False)
    np.testing.assert_array_equal(found, each)
    bare = differences(ours.tolist(), theirs.tolist(), higher_is_better=False, intervals=False)
    assert [(one.p, one.pairs) for one in bare if one.pairs] == [
        (one.p, one.pairs) for one in each if one.pairs
    ]
    np.testing.assert_allclose([one.mean for one in bare], [one.mean for one in each])
    assert all(np.isnan(one.low) for one in bare)
