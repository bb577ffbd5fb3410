from dataclasses import replace

import pytest

from attention_plugins.contract import DatasetSpec
from attention_plugins.datasets import symbols
from attention_plugins.race import trials
from attention_plugins.race.data import pairs_of
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan, Trial
from attention_plugins.race.store import Race
from attention_plugins.race.trials import best_rate, count, entries, pending, perform

SMALL = Budget(examples=200, epochs=2, batch_size=64, rates=(0.01, 0.03))
POINTS = Budget(examples=20, epochs=5, batch_size=20, rates=(0.1,))
DOT = Contestant(model="bahdanau", scoring="scaled_dot")
GAUSSIAN = Contestant(model="nadaraya_watson", scoring="gaussian")
PLAN = Plan(tasks={"copy": SMALL, "sine": POINTS}, contestants=(DOT, GAUSSIAN), seeds=2)


def tuned(trial, validation):
    return Outcome(trial=trial, validation=validation)


def test_each_contestant_runs_on_the_tasks_of_its_model():
    assert entries(PLAN) == [("copy", DOT), ("sine", GAUSSIAN)]
    assert count(PLAN) == (2 + 2) + (2 + 1)


def test_a_race_is_on_every_symbol_task_that_ships():
    shipped = [spec.name for spec in vars(symbols).values() if isinstance(spec, DatasetSpec)]
    assert {*trials.SYMBOLS} == {*shipped}
    assert len(trials.TASKS) == len({*trials.TASKS}) == 12


def test_rates_are_chosen_first_and_on_seeds_of_their_own():
    found = list(pending(PLAN, []))
    assert [(t.task, t.rate) for t in found] == [("copy", 0.01), ("copy", 0.03), ("sine", 0.1)]
    assert all(t.tuning and t.seed >= 1_000_000 for t in found)


def test_then_everybody_runs_with_their_best_rate_seed_after_seed():
    low, high, sine = pending(PLAN, [])
    done = [tuned(low, 10.0), tuned(high, 30.0), tuned(sine, 0.5)]
    trials = list(pending(PLAN, done))
    assert [(t.task, t.rate, t.seed) for t in trials] == [
        ("copy", 0.03, 0), ("sine", 0.1, 0), ("copy", 0.03, 1), ("sine", 0.1, 1),
    ]  # fmt: skip
    assert not any(t.tuning for t in trials)
    left = pending(PLAN, [*done, Outcome(trial=trials[0], quality=1.0)])
    assert list(left) == trials[1:]
    assert not list(pending(PLAN, [*done, *(Outcome(trial=t) for t in trials)]))


def test_nobody_runs_before_all_their_rates_were_tried():
    low, *_ = pending(PLAN, [])
    assert {t.tuning for t in pending(PLAN, [tuned(low, 10.0)]) if t.task == "copy"} == {True}


def test_an_error_is_best_where_it_is_least_and_a_score_where_it_is_most():
    copies, sines = list(pending(PLAN, []))[:2], list(pending(PLAN, []))[2:]
    assert best_rate("copy", [tuned(copies[0], 10.0), tuned(copies[1], 9.0)]) == 0.01
    other = tuned(sines[0], 0.5)
    worse = Outcome(
        trial=sines[0].__class__(**{**sines[0].__dict__, "rate": 0.01}), validation=0.9
    )
    assert best_rate("sine", [worse, other]) == 0.1


def test_of_equal_rates_the_lower_is_taken_and_one_that_failed_never():
    low, high = list(pending(PLAN, []))[:2]
    assert best_rate("copy", [tuned(high, 5.0), tuned(low, 5.0)]) == 0.01
    failed = Outcome(trial=low, problem="it does not fit")
    assert best_rate("copy", [failed, tuned(high, 0.0)]) == 0.03
    assert best_rate("copy", [failed]) is None


def test_who_fails_at_every_rate_is_not_tried_again():
    low, high, sine = pending(PLAN, [])
    failed = [Outcome(trial=low, problem="no"), Outcome(trial=high, problem="no")]
    assert {t.task for t in pending(PLAN, [*failed, tuned(sine, 1.0)])} == {"sine"}


def test_what_goes_wrong_in_a_plugin_is_its_outcomes_problem():
    (trial, *_) = pending(PLAN, [])
    unknown = Contestant(model="bahdanau", scoring="nobody_has_this")
    pairs_of.cache_clear()  # to draw them again takes some milliseconds
    found = perform(replace(trial, contestant=unknown), PLAN)
    assert "nobody_has_this" in found.problem
    assert found.seconds > 0


@pytest.mark.parametrize(("error", "told"), [
    (ValueError("no room\nat all"), "no room"), (KeyError(), "KeyError"),
    (ValueError("x" * 999), "x" * 300),
])  # fmt: skip
def test_a_problem_is_one_line_and_not_a_long_one(error, told, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setitem(trials._WORK, "translation", fails)
    assert perform(Trial(task="copy", contestant=DOT, rate=0.03, seed=0), PLAN).problem == told


def test_a_trial_that_is_stopped_has_no_outcome_and_one_that_fails_does(monkeypatch):
    trial = Trial(task="mqar_64_4", contestant=DOT, rate=0.01, seed=0)

    def fails(*_, beat, rest):
        beat()
        raise ValueError("no data")

    def beat():
        raise InterruptedError("the page asked")

    monkeypatch.setattr(trials, "learn", fails)

    plan = replace(PLAN, tasks={"mqar_64_4": SMALL})
    with pytest.raises(InterruptedError, match="the page asked"):
        perform(trial, plan, beat=beat)
    assert perform(trial, plan).problem == "no data"


def test_what_a_trial_took_before_it_was_stopped_counts_too(monkeypatch):
    trial = Trial(task="copy", contestant=DOT, rate=0.03, seed=0)
    before = replace(tuned(trial, 1.0), seconds=5.0)
    monkeypatch.setitem(trials._WORK, "translation", lambda *_: before)
    assert 5 <= perform(trial, PLAN).seconds < 6


def test_a_trial_that_another_process_has_done_meanwhile_is_not_done_again(tmp_path, monkeypatch):
    race = Race.create(tmp_path, PLAN, {})
    (first, *_) = pending(PLAN, [])
    done, rest = [], race.rest(first)
    rest.write_bytes(b"half of it")

    def performed(trial, *_):
        done.append(trial.id)
        if len(done) == 1:  # another process does all that is left but one
            for other in [*pending(PLAN, race.outcomes())][1:3]:
                Race.open(tmp_path).add(tuned(other, 1.0))
        return tuned(trial, 1.0)

    monkeypatch.setattr(trials, "perform", performed)
    trials.run(race)
    lines = (tmp_path / "outcomes.jsonl").read_text().splitlines()
    assert len(lines) == len(race.outcomes()) == 3 + len(done[1:])
    assert done[0] == first.id
    assert not rest.exists()  # what a trial goes on from goes with its end


def test_a_trial_gives_the_same_numbers_again():
    trial = Trial(task="copy", contestant=DOT, rate=0.03, seed=0)
    one, other = perform(trial, PLAN), perform(trial, PLAN)
    assert not one.problem
    assert (one.quality, one.losses, one.curve) == (other.quality, other.losses, other.curve)
    assert len(one.losses) == 2
    assert one.losses[1] < one.losses[0]
    assert {"near", "far", "copied"} >= set(one.parts)
    assert one.operations > 1000
    assert one.example
    assert one.example.keys[-1] == "<eos>"
    heads = one.example.weights
    assert all(abs(sum(row) - 1) < 0.01 for head in heads for row in head)
    assert len(heads[0]) == len(one.example.queries)
    assert len(heads[0][0]) == len(one.example.keys)
