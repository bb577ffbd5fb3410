import math
from dataclasses import replace

import numpy as np
import pytest
from support.outcomes import contestant, outcome, outcomes

from attention_plugins.contract import ContractError
from attention_plugins.race.standings import (
    baseline,
    curves,
    learning,
    standings,
)
from attention_plugins.race.statistics import differences, mean_with_interval

NAN = math.nan
ONE, OTHER, THIRD = contestant("one"), contestant("other"), contestant("third")


def draws(seed: int, count: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count)


def stand(found, **rest):
    arguments = {"reference": ONE, "higher_is_better": True} | rest
    return {row.contestant: row for row in standings(found, "copy", **arguments)}


def verdict(ours, theirs, **rest) -> str:
    return stand([*outcomes(OTHER, ours), *outcomes(ONE, theirs)], **rest)[OTHER].verdict


@pytest.mark.slow
def test_two_equal_contestants_are_no_difference_in_19_of_20_repeats():
    found = [verdict(draws(2 * n), draws(2 * n + 1)) for n in range(20)]
    assert found.count("no difference found") >= 19


@pytest.mark.slow
def test_planted_noise_is_found():
    """Both have the same quality but for what noise in the scores costs one of them."""
    noise = [0.3 * np.abs(draws(1000 + n)) for n in range(20)]
    found = [verdict(draws(n) - cost, draws(n)) for n, cost in enumerate(noise)]
    assert found == ["worse"] * 20


@pytest.mark.parametrize(("higher", "expected"), [(True, "better"), (False, "worse")])
def test_better_is_what_the_metric_says(higher, expected):
    assert verdict(draws(0) + 5, draws(1), higher_is_better=higher) == expected


def test_a_contestant_stands_against_the_reference_seed_by_seed():
    ours, theirs = draws(0), draws(1)
    rows = stand([*outcomes(ONE, theirs), *reversed(outcomes(OTHER, ours))])
    assert rows[OTHER].difference == differences([ours], theirs, higher_is_better=True)[0]
    assert rows[OTHER].quality == mean_with_interval(ours)
    reference = rows[ONE]
    assert (reference.verdict, reference.difference) == ("reference", None)
    assert reference.seeds_needed is None
    assert math.isnan(reference.corrected_p)


def test_p_is_corrected_for_all_contestants():
    base = draws(0)
    gains = {OTHER: draws(1) + 0.6, THIRD: draws(2) + 0.7}
    found = [o for who, gain in gains.items() for o in outcomes(who, base + gain)]
    both = stand([*outcomes(ONE, base), *found])
    ps = {who: row.difference.p for who, row in both.items() if row.difference}
    small, large = sorted(ps, key=lambda who: ps[who])
    assert both[small].corrected_p == 2 * ps[small]
    assert both[large].corrected_p == max(2 * ps[small], ps[large])


def test_too_few_seeds_say_how_many_would_do():
    rows = stand([*outcomes(ONE, [0] * 5), *outcomes(OTHER, [1, 2, 3, 4, 5])])
    assert (rows[OTHER].verdict, rows[OTHER].seeds_needed) == ("too few seeds", 6)
    rows = stand([*outcomes(ONE, [0] * 6), *outcomes(OTHER, [1, 2, 3, 4, 5, 6])])
    assert (rows[OTHER].verdict, rows[OTHER].seeds_needed) == ("better", 6)


def test_equal_contestants_share_a_row_and_are_compared_once():
    base, gain = draws(0), draws(1) + 0.7
    found = [*outcomes(THIRD, base + gain), *outcomes(ONE, base), *outcomes(OTHER, base + gain)]
    rows = stand(found)
    assert [*rows] == [THIRD, ONE]  # the one that came first stands for both
    assert (rows[THIRD].equals, rows[THIRD].name) == ((OTHER,), "third, other")
    assert rows[THIRD].corrected_p == rows[THIRD].difference.p
    assert rows[ONE].rank == 2  # one is better, not two
    assert stand(found, reference=OTHER)[OTHER].equals == (THIRD,)


@pytest.mark.parametrize(
    "change",
    [
        {"quality": 0.51}, {"validation": 0.51}, {"parts": {"near": 0.51}},
        {"losses": (1.0, 0.51)}, {"curve": ((4.0, 0.51),)}, {"curve": ()},
        {"parts": {"far": 0.5}}, {"problem": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_contestants_are_equal_only_in_all_that_was_measured(change):
    """A single seed's single number tells two apart, unless it is rounding."""
    same = {"quality": 0.5, "validation": 0.5, "parts": {"near": 0.5}, "losses": (1.0, 0.5),
            "curve": ((4.0, 0.5),)}  # fmt: skip
    rounded = same | {"quality": 0.50001, "losses": (1.0, 0.49999)}

    def rows(last):
        both = [outcome(who, 0, **same) for who in (ONE, OTHER)]
        return stand([*both, outcome(ONE, 1, **same), outcome(OTHER, 1, **last)])

    assert rows(rounded)[ONE].equals == (OTHER,)
    assert not rows(same | change)[ONE].equals


def test_one_seed_makes_nobody_equal():
    assert len(stand([outcome(ONE, 0, 0.5), outcome(OTHER, 0, 0.5)])) == 2
    elsewhere = contestant("other", model="rnn")
    assert len(stand([*outcomes(ONE, [1, 2]), *outcomes(elsewhere, [1, 2])])) == 2
    assert len(stand([*outcomes(ONE, [1, 2]), *outcomes(OTHER, [1, 2, 3])])) == 2


@pytest.mark.parametrize(
    ("rate", "tried", "edge"),
    [
        (0.03, {0.01: 0.5, 0.03: 0.6}, "highest"), (0.01, {0.01: 0.6, 0.03: 0.5}, "lowest"),
        (0.03, {0.01: 0.5, 0.03: 0.6, 0.1: 0.4}, ""), (0.01, {0.01: 0.5}, ""), (0.01, {}, ""),
        (0.01, {0.01: 0.5, 0.03: 0.5}, ""),
    ],
)  # fmt: skip
def test_a_rate_at_the_end_of_those_tried_is_marked(rate, tried, edge):
    tuned = [outcome(OTHER, 100, tuning=True, rate=r, validation=v) for r, v in tried.items()]
    found = [*tuned, *outcomes(ONE, draws(0)), *outcomes(OTHER, draws(1), rate=rate)]
    assert stand(found)[OTHER].edge == edge
    assert stand(tuned + outcomes(ONE, draws(0)))[ONE].edge == ""


def test_more_comparisons_need_more_seeds():
    found = [outcomes(contestant(name), range(n, n + 6)) for n, name in enumerate("abc", 1)]
    rows = stand([*outcomes(ONE, [0] * 6), *(o for part in found for o in part)])
    assert {rows[contestant(n)].verdict for n in "abc"} == {"too few seeds"}
    assert rows[contestant("a")].seeds_needed == 7


def test_one_with_fewer_seeds_may_stand_where_another_cannot():
    """Holm's correction asks less of the larger p."""
    found = [
        *outcomes(ONE, [0] * 12),
        *outcomes(OTHER, range(1, 13)),
        *outcomes(THIRD, range(1, 7)),
    ]
    rows = stand(found)
    assert (rows[OTHER].verdict, rows[THIRD].verdict) == ("better", "better")
    assert rows[THIRD].corrected_p == 2 / 2**6


def test_ranks_are_ties_and_rows_go_by_rank_then_quality():
    found = [*outcomes(ONE, draws(0)), *outcomes(OTHER, draws(1) + 9), *outcomes(THIRD, draws(2))]
    for higher, expected in ((True, [1, 2, 2]), (False, [1, 1, 3])):
        rows = standings(found, "copy", reference=ONE, higher_is_better=higher)
        assert [row.rank for row in rows] == expected
        assert (rows[0] if higher else rows[-1]).contestant == OTHER
        ties = [row.quality.mean for row in rows if row.contestant != OTHER]
        assert ties == sorted(ties, reverse=higher)


def test_one_that_nobody_is_surely_better_than_stands_before_one_with_a_higher_mean():
    base, wide = draws(0), 30 * draws(3)
    found = [*outcomes(ONE, base), *outcomes(OTHER, base - 1), *outcomes(THIRD, wide - 9)]
    rows = standings(found, "copy", reference=ONE, higher_is_better=True)
    assert [(row.contestant, row.rank) for row in rows] == [(ONE, 1), (THIRD, 1), (OTHER, 2)]
    assert rows[1].quality.mean < rows[2].quality.mean


def test_one_that_could_not_run_says_why_and_is_last():
    problem = "need an even number of features, got 3"
    found = [
        outcome(contestant("failed"), 0, problem=problem), *outcomes(ONE, draws(0)),
        *outcomes(OTHER, draws(1)),
    ]  # fmt: skip
    row = standings(found, "copy", reference=ONE, higher_is_better=True)[-1]
    assert (row.verdict, row.problem, row.rank) == ("could not run", problem, None)
    assert (row.seeds, row.difference, row.seeds_needed) == (0, None, None)
    rows = stand(found)
    assert rows[OTHER].corrected_p == rows[OTHER].difference.p  # it counts as no comparison


def test_one_whose_tuning_failed_could_not_run():
    found = [
        outcome(OTHER, 100, tuning=True, rate=rate, problem="the loss became infinite")
        for rate in (0.1, 0.01)
    ]
    row = stand([*outcomes(ONE, draws(0)), *found])[OTHER]
    assert (row.verdict, row.problem) == ("could not run", "the loss became infinite")
    assert row.rate is None


def test_a_rate_that_failed_is_no_problem_of_one_that_ran():
    tuned = outcome(OTHER, 100, tuning=True, rate=9.0, problem="the loss became infinite")
    row = stand([tuned, *outcomes(ONE, draws(0)), *outcomes(OTHER, draws(1), rate=0.03)])[OTHER]
    assert (row.problem, row.rate, row.verdict) == ("", 0.03, "no difference found")


def test_one_that_is_still_tuned_has_too_few_seeds():
    waiting = outcome(OTHER, 100, tuning=True, validation=0.5)
    row = stand([*outcomes(ONE, draws(0)), waiting])[OTHER]
    assert (row.verdict, row.rank, row.seeds, row.problem) == ("too few seeds", None, 0, "")
    assert math.isnan(row.milliseconds)


def test_a_training_that_failed_is_left_out_and_counted():
    problems = ("the loss became infinite", "there was no room")
    failed = [outcome(OTHER, seed, problem=problem) for seed, problem in enumerate(problems)]
    ran = [outcome(OTHER, seed, 0.5) for seed in range(2, 12)]
    row = stand([*outcomes(ONE, draws(0)), *failed, *ran])[OTHER]
    assert row.problem == "2 of 12 trainings: the loss became infinite"
    assert (row.seeds, row.difference.pairs, row.quality.count) == (10, 10, 10)


def test_facts_are_of_the_trainings_that_are_reported():
    rest = {"parameters": 7, "operations": 11, "parts": {"near": 0.5}}
    found = [
        outcome(OTHER, 0, 0.1, milliseconds=3.0, **rest),
        outcome(OTHER, 1, 0.2, milliseconds=99.0, **rest | {"parts": {"near": 0.7, "far": 0.2}}),
        outcome(OTHER, 2, 0.3, milliseconds=5.0, **rest | {"operations": 13}),
        outcome(OTHER, 100, 0.3, tuning=True, rate=5.0, **rest | {"parameters": 9}),
    ]
    row = stand([*outcomes(ONE, [0, 0, 0]), *found])[OTHER]
    assert (row.parameters, row.operations, row.milliseconds, row.seeds) == (7, 11, 5.0, 3)
    # The first was never timed, the others were.
    first = [outcome(OTHER, 0, 0.1), *(replace(one, trial=replace(one.trial, seed=n))
             for n, one in enumerate(found[::2], 1))]  # fmt: skip
    assert stand([*outcomes(ONE, [0, 0, 0]), *first])[OTHER].milliseconds == 4.0
    assert row.rate == 0.01
    assert row.parts["near"] == mean_with_interval([0.5, 0.7, 0.5])
    assert (row.parts["far"].mean, row.parts["far"].count) == (0.2, 1)


def test_other_tasks_and_models_are_left_out():
    elsewhere = contestant("one", model="rnn")
    found = [
        *outcomes(ONE, draws(0)), *outcomes(OTHER, draws(1)), *outcomes(elsewhere, draws(2)),
        *outcomes(ONE, draws(3), task="sort"), *outcomes(THIRD, draws(3), task="sort"),
    ]  # fmt: skip
    assert set(stand(found)) == {ONE, OTHER, elsewhere}
    assert set(stand(found, models=["transformer"])) == {ONE, OTHER}


def test_an_unknown_reference_is_refused():
    found = outcomes(OTHER, draws(0))
    with pytest.raises(ContractError, match="one in transformer has no outcome on 'copy'"):
        stand(found)
    with pytest.raises(ContractError, match="choose one of those that have: none"):
        stand(found, reference=OTHER, models=["rnn"])


def test_a_training_counts_once_and_has_one_rate():
    once = outcomes(ONE, [0.5])
    row = stand([*once, *outcomes(ONE, [0.7])])[ONE]
    assert (row.seeds, row.quality.mean) == (1, 0.5)
    with pytest.raises(ContractError, match=r"one ran on 'copy' with seed 0 at .* 0.01 and 9"):
        stand([*once, outcome(ONE, 0, 0.5, rate=9.0)])


def test_curves_are_means_at_ascending_sizes():
    found = [
        outcome(OTHER, 0, curve=((8.0, 0.5), (4.0, 0.9))),
        outcome(OTHER, 1, curve=((4.0, 0.7), (8.0, 0.1), (16.0, 0.0))),
        outcome(OTHER, 9, tuning=True, curve=((4.0, 5.0),)),
        outcome(THIRD, 0, 0.5),
        outcome(ONE, 0, curve=((4.0, 1.0),)),
    ]
    (one, _), (other, points) = curves(found, "copy")
    assert (one, other) == (ONE, OTHER)
    assert [size for size, _ in points] == [4.0, 8.0, 16.0]
    assert points[0][1] == mean_with_interval([0.9, 0.7])
    assert points[1][1] == mean_with_interval([0.5, 0.1])


def test_learning_is_the_mean_loss_of_each_epoch():
    found = [
        outcome(OTHER, 0, losses=(4.0, 2.0, 1.0)), outcome(OTHER, 1, losses=(2.0, 1.0)),
        outcome(OTHER, 9, tuning=True, losses=(9.0,)), outcome(ONE, 0, 0.5),
    ]  # fmt: skip
    assert [*learning(found, "copy")] == [(OTHER, [3.0, 1.5, 1.0])]


def test_the_baseline_counts_every_seed_once():
    found = [
        outcome(who, seed, parts={"copied": copied})
        for who in (ONE, OTHER)
        for seed, copied in enumerate((0.2, 0.3, 0.7))
    ]
    found.append(outcome(THIRD, 3, parts={"near": 0.1}))
    assert baseline(found, "copy") == mean_with_interval([0.2, 0.3, 0.7])
    assert baseline(outcomes(ONE, draws(0)), "copy") is None
