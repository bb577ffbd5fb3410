"""Who goes on by successive halving, and that those who do are compared as fairly as before."""

from collections import Counter
from dataclasses import replace

import numpy as np

from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.race.standings import comparisons, standings
from attention_plugins.race.trials import count, pending

NAMES = ("scaled_dot", "dot", "additive", "mlp", "cosine", "uniform", "bilinear")
WHO = [Contestant(model="bahdanau", scoring=name) for name in NAMES]
BUDGET = Budget(examples=200, epochs=2, batch_size=64, rates=(0.01, 0.03))
PLAN = Plan(
    tasks={"copy": BUDGET}, contestants=WHO, seeds=3, tuning_seeds=2, halving=2
)  # fmt: skip


def raced(plan, value):
    """Every trial of a race whose outcomes a function gives, and how many there were to be."""
    done = []
    while trials := [*pending(plan, done)]:
        new = [Outcome(trial=one, validation=value(one), quality=value(one)) for one in trials]
        done += new
    return done


def worth(trial):
    """The later a name comes, the better; the reference is the worst."""
    return NAMES.index(trial.contestant.scoring) + trial.rate + trial.seed % 10 / 100


def names(outcomes, *, tuning, seed=0):
    return {one.trial.contestant.scoring for one in outcomes
            if one.trial.tuning == tuning and one.trial.seed % 1_000_000 == seed}  # fmt: skip


def test_the_better_half_goes_on_and_the_reference():
    found = raced(PLAN, worth)
    assert names(found, tuning=True) == {*NAMES}
    assert names(found, tuning=True, seed=1) == {
        "scaled_dot",
        "mlp",
        "cosine",
        "uniform",
        "bilinear",
    }
    assert names(found, tuning=False) == {"scaled_dot", "cosine", "uniform", "bilinear"}
    assert len(found) == count(PLAN, found) == 7 * 2 + 5 * 2 + 4 * 3
    rows = standings(found, "copy", reference=WHO[0], higher_is_better=True)
    assert {row.contestant.scoring for row in rows if row.seeds} == names(found, tuning=False)


def test_without_halving_all_go_on():
    found = raced(replace(PLAN, halving=0), worth)
    assert names(found, tuning=False) == {*NAMES}
    assert Plan.from_json({k: v for k, v in PLAN.to_json().items() if k != "halving"}).halving == 0
    assert Plan.from_json(PLAN.to_json()) == replace(PLAN, contestants=tuple(WHO))


def test_nobody_goes_on_before_all_have_tried_every_rate():
    first = [*pending(PLAN, [])]
    assert {one.seed for one in first} == {1_000_000}
    done = [Outcome(trial=one, validation=worth(one)) for one in first]
    assert [*pending(PLAN, done[1:])] == first[:1]
    assert {one.seed for one in pending(PLAN, done)} == {1_000_001}


def test_who_fails_everywhere_holds_nobody_up_and_equals_go_on_together():
    found = raced(PLAN, lambda one: float("nan") if one.contestant == WHO[3] else 1.0)
    assert names(found, tuning=False) == {*NAMES} - {"mlp"}


def test_where_less_is_better_the_half_with_less_goes_on():
    kernels = [replace(who, model="nadaraya_watson") for who in WHO if who.scoring != "mlp"]
    found = raced(replace(PLAN, tasks={"sine": BUDGET}, contestants=kernels), worth)
    assert "bilinear" not in names(found, tuning=False)
    assert {"scaled_dot", "dot"} <= names(found, tuning=False)


def test_only_who_goes_on_tries_rates_beyond_the_edge():
    plan = replace(PLAN, tasks={"copy": replace(BUDGET, widen=1)})
    found = raced(plan, worth)
    wider = {one.trial.contestant.scoring for one in found if one.trial.rate > 0.05}
    assert wider == names(found, tuning=False)
    assert len(found) == count(plan, found)


def test_on_tasks_of_the_field_all_go_on():
    who = [Contestant(model="zoology_64", scoring=name) for name in NAMES[:4]]
    plan = Plan(
        tasks={"mqar_64_4": TASKS["mqar_64_4"].budget}, contestants=who, seeds=1, halving=1
    )
    assert len(names(raced(plan, worth), tuning=False)) == 4


def test_false_finds_stay_rare_though_contestants_were_chosen():
    """400 races in which nobody differs: what chooses is drawn apart from what is compared."""
    chance, seen = np.random.default_rng(7), Counter()
    plan = replace(PLAN, halving=1, tuning_seeds=1, seeds=8)
    for _ in range(400):
        found = raced(plan, lambda one: float(chance.normal()))
        reported = [one for one in found if not one.trial.tuning]
        seen[false_finds(reported) > 0] += 1
    assert 0 < seen[True] <= 0.05 * 400 + 2 * (400 * 0.05 * 0.95) ** 0.5


def false_finds(outcomes):

    values: dict[Contestant, list[float]] = {}
    for one in sorted(outcomes, key=lambda one: one.trial.seed):
        values.setdefault(one.trial.contestant, []).append(one.quality)
    found = comparisons(values, WHO[0], higher_is_better=True, intervals=False)
    return sum(one.verdict in ("better", "worse") for one in found.values())
