"""How many seeds would decide a lead: as many as find it in four of five draws."""

import math

import numpy as np
import pytest
from support.outcomes import contestant, outcomes

from attention_plugins.race.export import Heading, facts
from attention_plugins.race.standings import standings
from attention_plugins.race.statistics import LEVEL, seeds_to_decide, sign_flip_ps

ONE, OTHER = contestant("one"), contestant("other")


def of(mean, spread, count=4):
    """Differences of exactly that mean and deviation."""
    unit = np.linspace(-1, 1, count)
    return mean + spread * unit / unit.std(ddof=1)


@pytest.mark.parametrize(
    ("effect", "comparisons", "spread"), [(1.0, 1, 1.0), (0.7, 5, 3.0), (1.3, 40, 0.1)]
)
def test_that_many_find_a_planted_difference_in_about_four_of_five_draws(
    effect, comparisons, spread
):
    seeds = seeds_to_decide(of(-effect * spread, spread), comparisons)
    assert seeds
    chance = np.random.default_rng(5)
    drawn = effect * spread + spread * chance.normal(size=(200, seeds))
    found = (sign_flip_ps(drawn) <= LEVEL / comparisons).mean()
    assert 0.7 < found < 0.92
    fewer = (sign_flip_ps(drawn[:, : seeds // 2]) <= LEVEL / comparisons).mean()
    assert fewer < 0.65


def test_more_comparisons_or_a_smaller_difference_need_more_seeds():
    usual = seeds_to_decide(of(1, 1), 10)
    assert usual
    assert seeds_to_decide(of(1, 1), 20) > usual
    assert seeds_to_decide(of(0.5, 1), 10) > 3 * usual


def test_no_number_is_below_what_any_difference_needs():
    assert seeds_to_decide(of(100, 1), 1) == 6
    assert seeds_to_decide([1.0, 1.0], 45) == 11


@pytest.mark.parametrize("gains", [[], [1.0], [math.nan, 1.0], [0.0, 0.0], [-1.0, 1.0]])
def test_where_nothing_differs_no_number_decides(gains):
    assert seeds_to_decide(gains, 1) is None


def test_a_table_has_the_number_of_every_comparison():
    found = [*outcomes(ONE, [1, 2, 3, 4]), *outcomes(OTHER, [2, 4, 3, 7])]
    rows = standings(found, "copy", reference=ONE, higher_is_better=True)
    wanted = seeds_to_decide([1, 2, 0, 3], 1)
    assert {row.contestant: row.decides for row in rows} == {ONE: None, OTHER: wanted}
    heading = Heading(task="Copy", metric="exact match")
    assert wanted in {facts(row, heading)["seeds to decide"] for row in rows}
