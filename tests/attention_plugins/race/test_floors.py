import math

import pytest
from support.outcomes import contestant, outcomes

from attention_plugins.race import data as of_races
from attention_plugins.race.data import NEAREST, UNIFORM, Floor, Limits, limits, split_of
from attention_plugins.race.standings import standings
from attention_plugins.race.statistics import Estimate

ONE, PLAIN = contestant("one"), contestant("uniform")


def found(task, ours, plain=(), *, copied=None, higher=True):
    given = [*outcomes(ONE, ours, task=task), *outcomes(PLAIN, plain, task=task)]
    rows = standings(given, task, reference=ONE, higher_is_better=higher)
    value = None if copied is None else Estimate(copied, copied, copied, 2)
    result = limits(task, 400, rows, value, higher)
    assert result
    return result, {name: value.mean for name, value in result.floors}


def test_what_knows_only_a_tasks_data_is_worth_what_can_be_counted():
    _, floors = found("recall", [50.0, 60.0], [41.0, 42.0], copied=43.0)
    shares = []
    for data in (split_of("recall", 400, seed) for seed in (0, 1)):
        usual = {}
        for length in (5, 7, 9):  # two to four keys with their values, and a key
            digits = [pair.target for pair in data.learned if len(pair.source.split()) == length]
            usual[length] = max(digits, key=digits.count)
        right = [pair.target == usual[len(pair.source.split())] for pair in data.reported]
        shares.append(100 * sum(right) / len(right))
    assert floors["copying the input"] == 0
    assert floors["a random token at each place"] == pytest.approx(10, abs=5)
    assert floors["the commonest token at each place"] == pytest.approx(sum(shares) / 2)
    assert (floors[UNIFORM], floors[NEAREST]) == (41.5, 43.0)


def test_the_mean_of_the_points_is_the_floor_of_a_problem():
    """Distinct from the nearest point, as from any contestant: it is made of the data alone."""
    limit, floors = found("plane", [0.5, 0.6], higher=False, copied=0.25)
    assert floors["the mean of the training points"] == pytest.approx(3.2, abs=0.5)
    assert (limit.floors[0].name, limit.ceiling, limit.top) == (NEAREST, 0.0, "the truth")
    assert limit.best == 0.55
    assert limit.share == pytest.approx((0.25 - 0.55) / 0.25)


def test_floors_are_those_of_the_contestant_with_the_most_seeds_up_to_a_dozen(monkeypatch):
    name = "the mean of the training points"

    def count(*qualities):
        limit, _ = found("plane", *qualities, higher=False)
        return dict(limit.floors)[name].count

    assert count([0.5, 0.6], [0.5] * 5) == count([0.5] * 5, [0.6]) == 5
    monkeypatch.setattr(of_races, "_MOST_SEEDS", 3)
    of_races._computed.cache_clear()
    assert count([0.5] * 5) == 3
    of_races._computed.cache_clear()


def test_what_is_always_right_is_the_task_and_no_floor():
    limit, floors = found("copy", [50.0, 60.0])
    assert "copying the input" not in floors
    assert limit.ceiling == 100
    assert "copying the input" in found("sort", [50.0, 60.0])[1]


def test_a_corpus_has_the_floors_that_outcomes_hold_and_a_ceiling():
    limit, floors = found("phrasebook", [5.0, 6.0], [4.0, 5.0], copied=22.5)
    assert [*floors.items()] == [(NEAREST, 22.5), (UNIFORM, 4.5)]
    assert limit.ceiling == 100
    assert limit.share < 0
    assert not limit.decides


def test_uniform_attention_is_a_floor_also_where_it_shares_a_contestants_row():
    limit, floors = found("copy", [50.0, 60.0], [50.0, 60.0])
    assert floors[UNIFORM] == 55.0
    assert limit.share == 0
    assert UNIFORM not in found("copy", [50.0, 60.0])[1]


@pytest.mark.parametrize(
    ("best", "decides"), [(54.9, False), (55.0, False), (55.1, True), (50.0, False)]
)
def test_a_task_decides_where_its_best_contestant_is_a_tenth_above_its_floor(best, decides):
    value = Estimate(50.0, math.nan, math.nan, 1)
    one = Limits(floors=(Floor("x", value),), ceiling=100.0, top="y", best=best)
    assert one.decides is decides


def test_without_a_quality_there_are_no_limits():
    rows = standings(
        outcomes(ONE, [math.nan], tuning=True), "copy", reference=ONE, higher_is_better=True
    )
    assert limits("copy", 400, rows, None, True) is None
