"""A race that the page enters somebody into, run by a worker that is stopped now and then."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from statistics import median

import pytest

from attention_plugins.race import trials
from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.race.store import Race
from dashboard.features.race import task
from dashboard.features.race.view import entry_request
from dashboard.jobs.racing import RUN, TASK
from dashboard.jobs.tasks import Cancelled
from dashboard.records.request import Request
from dashboard.storage import races

FORMULA = "=-sum((q - k)^2)"
BUDGET = Budget(examples=20, epochs=2, batch_size=20, rates=(0.03, 0.2))


def who(scoring):
    return Contestant(model="nadaraya_watson", scoring=scoring)


PLAN = Plan(
    tasks={"sine": BUDGET, "step": BUDGET}, contestants=(who("gaussian"), who("uniform")), seeds=2
)
EACH = 4  # trials of one contestant on one task: two rates, two seeds


class Context:
    """Takes so many reports; then the job is cancelled."""

    def __init__(self, most=1_000):
        self.left, self.fractions = most, []

    def report(self, fraction, note="", facts=None):
        if not self.left:
            raise Cancelled
        self.left -= 1
        self.fractions.append(fraction)

    def stopped(self):
        return not self.left


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def known(home):
    race = Race.create(home / "races" / "known", PLAN, {"commit": "1234567"})
    trials.run(race)
    return race


def entered(names=(FORMULA,), tasks=("step",), times=1, halving=0):
    asked = entry_request(races.read("known"), tasks, names, times, halving)
    return task.perform(asked, Context())


def plan_of(result):
    held = json.loads(result.tables["files"]["plan"][0].as_py())
    return Plan.from_json(held["plan"]), held["facts"]


def test_everybody_who_raced_takes_part_with_what_is_known_of_them(known):
    result = entered()
    plan, facts = plan_of(result)
    assert plan.tasks == {"step": BUDGET}
    assert plan.contestants == (*PLAN.contestants, who(FORMULA))
    assert facts["joined"] == "1234567"
    assert facts["command"] == ""
    assert facts["entered"] == FORMULA
    lines = result.tables["files"]["outcomes"][0].as_py().splitlines()
    kept = [one for one in known.outcomes() if one.trial.task == "step"]
    assert [Outcome.from_json(json.loads(line)) for line in lines] == kept
    assert len(kept) == 2 * EACH
    assert result.facts["trials"] == EACH
    took = median(one.seconds for one in kept)
    assert result.facts["seconds"] == pytest.approx(EACH * took)
    assert (result.facts["tuning"], result.facts["more"]) == (pytest.approx(2 * took), 0)
    assert result.facts["cacheable"] is False


def test_of_a_race_that_is_not_complete_only_who_has_raced_takes_part(known):
    lines = (known.folder / races.OUTCOMES).read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if '"uniform"' not in line]
    (known.folder / races.OUTCOMES).write_text("".join(kept), "utf-8")
    result = entered()
    assert plan_of(result)[0].contestants == (who("gaussian"), who(FORMULA))
    assert result.facts["trials"] == EACH


def test_who_was_left_behind_by_halving_takes_no_part_and_nobody_is_halved(known):
    lines = (known.folder / races.OUTCOMES).read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if '"uniform"' not in line or '"tuning": true' in line]
    (known.folder / races.OUTCOMES).write_text("".join(kept), "utf-8")
    Race.create(known.folder, replace(PLAN, halving=1), {})
    plan, _ = plan_of(entered())
    assert (plan.contestants, plan.halving) == ((who("gaussian"), who(FORMULA)), 0)


def test_longer_all_start_anew_beside_the_reference(known):
    result = entered(tasks=("sine", "step"), times=4)
    plan, _ = plan_of(result)
    assert {budget.epochs for budget in plan.tasks.values()} == {8}
    assert plan.contestants == (who("gaussian"), who(FORMULA))
    assert result.tables["files"]["outcomes"][0].as_py() == b""
    each = 2 + 4 * trials.TUNING_SEEDS  # at the four rates of a new race
    assert {len(budget.rates) for budget in plan.tasks.values()} == {4}
    assert result.facts["trials"] == 2 * 2 * each
    assert result.facts["more"] == 2 * 2 * trials.TUNING_SEEDS * 2  # two contestants, two tasks
    once = sum(each * median(one.seconds for one in known.outcomes() if one.trial.task == name)
               for name in PLAN.tasks)  # fmt: skip
    assert result.facts["seconds"] == pytest.approx(4 * 2 * once)
    assert result.facts["tuning"] == pytest.approx(4 * 2 * once * 8 / 10)


def test_what_halving_takes_is_at_most_what_is_foretold(known):
    """And just that where the reference is the worst: it goes on beside the better half."""
    names = (FORMULA, "laplacian", "cosine", "uniform", "dot", "epanechnikov")
    result = entered(names, halving=2)
    plan, facts = plan_of(result)
    assert (plan.halving, plan.seeds, plan.tasks["step"].epochs) == (2, 2, BUDGET.epochs)
    assert facts["entered"].split("\n") == [*names]
    assert result.tables["files"]["outcomes"][0].as_py() == b""
    plan = replace(plan, tasks={"step": replace(plan.tasks["step"], widen=0)})

    def taken(reference):
        done, tuning = [], 0
        while left := [*trials.pending(plan, done)]:
            for one in left:
                name = one.contestant.scoring
                error = reference if name == "gaussian" else names.index(name)
                done.append(Outcome(trial=one, validation=error + one.rate, quality=error))
                tuning += one.tuning
        return len(done), tuning

    all_of_it, (most, tuning), (less, _) = len(names) + 1, taken(99), taken(-1)
    assert less < most < all_of_it * (2 * 4 + 2)
    assert result.facts["trials"] == most
    took = median(one.seconds for one in known.outcomes() if one.trial.task == "step")
    assert result.facts["seconds"] == pytest.approx(most * took)
    assert result.facts["tuning"] == pytest.approx(tuning * took)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"names": ()}, "need a task and a scoring"),
        ({"tasks": ()}, "need a task and a scoring"),
        ({"tasks": ("copy",)}, "this race has no task 'copy'"),
        ({"names": ("nobody",)}, 'no scoring "nobody"'),
        ({"names": ("=q +",)}, "the formula ends too early"),
        ({"times": 99}, "16 budgets"),
        ({"halving": 3}, "need 0 <= halving <= 2"),
    ],
)
def test_what_cannot_race_is_refused(known, asked, words):
    with pytest.raises(ValueError, match=r"(?s).") as refused:
        entered(**asked)
    assert words in str(refused.value)


def test_killed_again_and_again_every_training_is_done_once(home, known):
    result = entered(tasks=("sine", "step"))
    files = {name: result.tables["files"][column][0].as_py()
             for name, column in ((races.PLAN, "plan"), (races.OUTCOMES, "outcomes"))}  # fmt: skip
    name = races.add("mine", files, "me", megabytes=10, total=10)
    asked, race, stops = Request.make(TASK, data=name, options={"show": RUN}), None, 0
    while True:
        context = Context(most=3)  # one before the first training, and two trainings
        try:
            task.perform(asked, context)
        except Cancelled:
            stops += 1
            continue
        break
    race = Race.open(home / "races" / name)
    lines = (race.folder / races.OUTCOMES).read_text("utf-8").splitlines()
    done = Counter(one.trial.id for one in race.outcomes())
    assert len(lines) == len(done) == trials.count(race.plan) == 3 * 2 * EACH
    assert {one.trial.contestant for one in race.outcomes()} == {*race.plan.contestants}
    assert stops >= 2
    assert context.fractions[-1] == 1
    assert races.done(races.read(name)) == len(lines)


def test_a_long_training_is_heard_of_and_stops_when_it_is_told_to(home, monkeypatch):
    task_of_field = replace(
        TASKS["mqar_64_4"], vocabulary=12, length=8, flat=99, reported=20, solved=None,
        budget=Budget(examples=40, epochs=30, batch_size=40, rates=(0.001,)),
        settings={"pairs": 1, "power": 0.01, "random_non_queries": False},
    )  # fmt: skip
    monkeypatch.setitem(TASKS, "mqar_tiny", task_of_field)
    plan = Plan(
        tasks={"mqar_tiny": task_of_field.budget}, seeds=0,
        contestants=[Contestant(model="zoology_64", scoring="dot")],
    )  # fmt: skip
    race = Race.create(home / "races" / "long", plan, {})
    asked, context = Request.make(TASK, data="long", options={"show": RUN}), Context(most=5)
    with pytest.raises(Cancelled):
        task.perform(asked, context)
    assert context.fractions == [0.0] * 5  # before it, and after each of four epochs
    assert not race.outcomes()  # nobody's fault
    context = Context()
    task.perform(asked, context)
    assert [one.problem for one in race.outcomes()] == [""]
    assert (context.fractions[-1], len(context.fractions)) == (1.0, 32)
    assert not (race.folder / "claims").exists()


def test_it_begins_no_training_once_its_time_is_up(home, known):
    lines = (known.folder / races.OUTCOMES).read_text("utf-8").splitlines(keepends=True)
    (known.folder / races.OUTCOMES).write_text("".join(lines[:4]), "utf-8")
    asked = Request.make(TASK, data="known", options={"show": RUN, "limit.seconds": -1.0})
    task.perform(asked, Context())
    assert races.done(races.read("known")) == 5
