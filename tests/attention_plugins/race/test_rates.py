"""A grid of rates is widened while its best lies at its edge, and what that costs is counted."""

from dataclasses import replace

import pytest

from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan, edge_of
from attention_plugins.race.spending import cost
from attention_plugins.race.standings import standings
from attention_plugins.race.trials import (
    REGRESSION,
    SYMBOLS,
    count,
    pending,
    plan,
    rates_of,
    wanted,
)

DOT = Contestant(model="bahdanau", scoring="scaled_dot")
GRID = (0.003, 0.01, 0.03, 0.1)
BUDGET = Budget(examples=200, epochs=2, batch_size=64, rates=GRID, widen=2)
PLAN = Plan(tasks={"copy": BUDGET}, contestants=(DOT,), seeds=2, tuning_seeds=2)


def raced(by_rate, given=PLAN, most=100):
    """All that a race does, where a rate is worth what a function says of it and of a seed."""
    done = []
    while trials := [*pending(given, done)]:
        trial = trials[0]
        value = by_rate(trial.rate, trial.seed)
        done.append(Outcome(trial=trial, validation=value, quality=value, seconds=3.0))
        assert len(done) < most
    return done


def tried(outcomes):
    return sorted({one.trial.rate for one in outcomes if one.trial.tuning})


@pytest.mark.parametrize(
    ("best", "rates", "edge"),
    [
        (0.025, GRID, ""),
        (0.1, (*GRID, 0.333), ""),
        (0.34, (*GRID, 0.333, 1.11), ""),
        (9.0, (*GRID, 0.333, 1.11), "highest"),
        (0.003, (0.0009, *GRID), ""),
        (1e-9, (0.00027, 0.0009, *GRID), "lowest"),
    ],
)
def test_beyond_an_edge_one_more_is_tried_at_most_twice(best, rates, edge):
    found = raced(lambda rate, seed: seed % 3 - abs(rate - best))
    assert tried(found) == pytest.approx(rates)
    assert count(PLAN, found) == len(found) == 2 + 2 * len(rates)
    (row,) = standings(found, "copy", reference=DOT, higher_is_better=True)
    assert row.edge == edge
    assert row.rate == min(tried(found), key=lambda rate: abs(rate - best))


def test_a_plan_of_before_is_never_widened():
    budget = {"examples": 200, "epochs": 2, "batch_size": 64, "rates": [0.01, 0.03]}
    found = Plan.from_json(PLAN.to_json() | {"tasks": {"copy": budget}})
    assert found.tasks["copy"].widen == 0
    assert tried(raced(lambda rate, seed: rate, found)) == [0.01, 0.03]


def test_who_learns_nothing_at_any_rate_tries_no_more():
    found = raced(lambda rate, seed: float(seed))
    assert tried(found) == [*GRID]
    assert edge_of(GRID[0], [one for one in found if one.trial.tuning]) == ""


def test_a_rate_that_fails_at_the_edge_is_no_best_one():
    found = raced(lambda rate, seed: float("nan") if rate > 0.05 else rate)
    assert tried(found) == [*GRID]


def test_nothing_is_widened_before_every_rate_has_all_its_seeds():
    first = [*pending(PLAN, [])]
    assert [(one.rate, one.seed - 1_000_000) for one in first] == [
        (rate, seed) for seed in (0, 1) for rate in GRID
    ]
    done = [Outcome(trial=one, validation=one.rate) for one in first]
    assert [*pending(PLAN, done[:-1])] == first[-1:]
    assert rates_of(PLAN, "copy", done[:-1]) == [*GRID]
    assert {one.rate for one in pending(PLAN, done)} == {0.333}


def test_an_error_is_best_where_it_is_least():
    kernel = Contestant(model="nadaraya_watson", scoring="gaussian")
    given = replace(PLAN, tasks={"sine": BUDGET}, contestants=(kernel,))
    assert tried(raced(lambda rate, seed: rate, given))[:2] == [0.00027, 0.0009]


def test_tasks_of_the_field_keep_their_authors_rates():
    who = Contestant(model="zoology_64", scoring="dot")
    budget = replace(TASKS["mqar_64_4"].budget, widen=2)
    given = Plan(tasks={"mqar_64_4": budget}, contestants=(who,), seeds=0)
    assert tried(raced(lambda rate, seed: rate, given)) == sorted(budget.rates)


def test_a_new_race_has_four_rates_judged_twice_and_may_widen():
    found = plan(tasks=(*REGRESSION, *SYMBOLS), scorings=("dot",))
    assert found.tuning_seeds == 2
    for budget in found.tasks.values():
        assert len(budget.rates) == 4
        assert budget.widen == 2
    assert {*wanted(found, ()).values()} == {12 + 2 * 4}


def test_what_only_chooses_rates_is_counted():
    found = raced(lambda rate, seed: rate)
    tuning = [one for one in found if one.trial.tuning]
    assert len(tuning) == 12
    assert cost(found) == pytest.approx((3.0 * len(found) / 3600, 100 * 12 / 14))
    assert cost([]) == (0, 0)
    field = [replace(one, trial=replace(one.trial, task="mqar_64_4")) for one in tuning]
    assert cost(field).share == 0
