"""Which conclusions hold at several budgets, of small drawn outcomes."""

import random
from dataclasses import replace

import pytest
from support.outcomes import contestant, outcomes

from attention_plugins.race.budgets import at_budgets
from attention_plugins.race.export import Heading, as_latex, caption
from attention_plugins.race.records import Budget
from attention_plugins.race.standings import standings

ONCE = Budget(examples=100, epochs=5, batch_size=10, rates=(0.01, 0.03))
TWICE = ONCE.longer(2)
A, B, C, D = (contestant(name) for name in "abcd")


def drawn(gains, seeds=10, noise=0.1, draw=1):
    """Qualities around 50 with what each contestant gains, the seed's own part shared by all."""
    chance = random.Random(draw)
    shared = [chance.gauss(50, 5) for _ in range(seeds)]
    return [
        one
        for who, gain in gains.items()
        for one in outcomes(who, [each + gain + chance.gauss(0, noise) for each in shared])
    ]


def found(*races, reference=A, **more):
    return at_budgets(races, "copy", reference=reference, higher_is_better=True, **more)


def test_leads_that_hold_turn_and_come_are_told_apart():
    first = drawn({A: 0, B: 5, C: -5, D: 0})
    then = drawn({A: 0, B: -5, C: -9, D: 3}, draw=2)
    # B and A, B and D change their leader; D leads A later only; all lead C at both.
    one = found((TWICE, then), (ONCE, first))
    assert one
    assert one.steps == (50, 100)
    assert one.seeds == 10
    assert one.pairs[0] == 6
    assert one.pairs[2:] == (3, 2, 1, 6)
    assert one.pairs.same in (3, 4)  # of A and D the first means differ by chance
    placed = {who.scoring: [(p.rank, p.verdict) for p in rows] for who, rows in one.rows.items()}
    assert placed == {
        "a": [(2, None), (2, None)],
        "b": [(1, "better"), (3, "worse")],
        "c": [(4, "worse"), (4, "worse")],
        "d": [(2, "no difference found"), (1, "better")],
    }
    said = " ".join(one.sentences())
    assert "After 50 / 100 steps, with the 10 seeds and the 4 contestants" in said
    assert "of 6 pairs 3 have the same leader beyond chance at every budget" in said
    assert "2 change their leader beyond chance, and 1 are told apart at some" in said
    assert "Of 6 pairs the difference itself changes beyond chance" in said
    assert one.turned == ((B, A), (B, D))
    assert "rates" not in said
    assert one.grown[B].difference.mean == pytest.approx(-10, abs=0.2)


def test_with_no_effect_of_the_budget_nothing_is_said_to_change():
    """Noise alone turns no lead; the interaction is found in no more than 5% of races."""
    wrong = 0
    for draw in range(40):
        gains = {A: 0, B: 1, C: -1}
        one = found((ONCE, drawn(gains, noise=1, draw=draw)),
                    (TWICE, drawn(gains, noise=1, draw=1_000 + draw)))  # fmt: skip
        assert one
        assert one.pairs.turned == 0
        verdicts = {each.verdict for each in one.grown.values()}
        wrong += bool(one.pairs.changed or verdicts & {"better", "worse"})
    assert wrong <= 4


def test_of_equal_budgets_the_first_counts():
    first, other = drawn({A: 0, B: 5}), drawn({A: 0, B: -5}, draw=2)
    one = found((ONCE, first), (TWICE, first), (replace(ONCE, rates=(0.1,)), other))
    assert one
    assert (one.steps, one.pairs.held, one.pairs.turned, one.same_rates) == ((50, 100), 1, 0, True)


def test_only_shared_contestants_and_seeds_count():
    first = drawn({A: 0, B: 5, C: -5}, seeds=12)
    then = drawn({A: 0, B: 5, D: 1}, seeds=7, draw=2)
    one = found((ONCE, first), (TWICE, then))
    assert one
    assert (one.seeds, {*one.rows}) == (7, {A, B})
    short = [each for each in first if each.trial.seed < 7]
    assert one == found((ONCE, short), (TWICE, then))
    assert found((ONCE, first), (TWICE, then), models=["another"]) is None


def test_with_too_few_seeds_no_lead_is_claimed():
    one = found(*((budget, drawn({A: 0, B: 5}, seeds=5)) for budget in (ONCE, TWICE)))
    assert one
    (said,) = one.sentences()
    assert "no lead can be told from chance; of 1 pairs the means of 1" in said
    assert (one.pairs.held, one.pairs.some) == (0, 0)


def test_who_is_equal_at_every_budget_counts_once():
    first, then = drawn({A: 0, B: 5}), drawn({A: 0, B: 6}, draw=2)
    twins = [
        [*race, *(replace(o, trial=replace(o.trial, contestant=C))
                  for o in race if o.trial.contestant == B)]
        for race in (first, then)
    ]  # fmt: skip
    one = found((ONCE, twins[0]), (TWICE, twins[1]))
    assert one
    assert {*one.rows} == {A, B}
    other = found((ONCE, twins[0]), (TWICE, [*then, *drawn({C: 9}, draw=3)]))
    assert other
    assert {*other.rows} == {A, B, C}


def test_one_budget_or_nobody_in_common_is_nothing_to_compare():
    race = drawn({A: 0, B: 5})
    assert found((ONCE, race)) is None
    assert found((ONCE, race), (ONCE, race)) is None
    assert found((ONCE, race), (TWICE, drawn({B: 0, C: 1}))) is None
    assert found((ONCE, race), (TWICE, drawn({A: 0, B: 1}, seeds=1))) is None
    assert found((ONCE, race), (TWICE, [])) is None


def test_other_rates_are_said():
    race = drawn({A: 0, B: 5})
    one = found((ONCE, race), (replace(TWICE, rates=(0.01, 0.1)), race))
    assert one
    assert [*one.sentences()][-1].startswith("The learning rates that were tried are not the same")


def test_where_less_is_better_the_leader_is_who_has_less():
    one = at_budgets(
        [(ONCE, drawn({A: 0, B: 5})), (TWICE, drawn({A: 0, B: 5}, draw=2))], "copy", reference=A,
        higher_is_better=False,
    )  # fmt: skip
    assert one
    assert [each.verdict for each in one.rows[B]] == ["worse", "worse"]


def test_a_tables_caption_says_it_too():
    race = drawn({A: 0, B: 5})
    one = found((ONCE, race), (TWICE, race))
    assert one
    said = " ".join(one.sentences())
    heading = Heading(task="Copy", metric="exact match", unit="%", at_budgets=said)
    rows = standings(race, "copy", reference=A, higher_is_better=True)
    assert caption(rows, heading).endswith(said)
    assert "at every budget" in as_latex(rows, heading)


def test_that_few_seeds_find_only_what_many_pairs_show_is_said():
    who = [contestant(name) for name in "abcdefgh"]
    gains = {one: 5.0 * place for place, one in enumerate(who)}
    six = found(*((budget, drawn(gains, seeds=6)) for budget in (ONCE, TWICE)))
    more = found(*((budget, drawn(gains, seeds=12)) for budget in (ONCE, TWICE)))
    assert six
    assert more
    (least,) = [said for said in six.sentences() if "at least" in said]
    assert "With 6 seeds a lead" in least
    assert "at least 18 pairs" in least  # 28 * (2 / 2**6) / 0.05, rounded up
    assert not [said for said in more.sentences() if "at least" in said]
    assert six.pairs.held == more.pairs.held == 28
