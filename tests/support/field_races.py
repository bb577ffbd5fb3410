"""A small race on a task of the field that was never run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import (
    FLAT,
    SOLVED,
    SPENT,
    Contestant,
    Outcome,
    Plan,
    Trial,
)  # fmt: skip
from attention_plugins.race.store import Race

TASK, MODELS = "mqar_64_4", ("zoology_64", "zoology_128")
DOT, LINEAR, SHARP = ("scaled_dot", ""), ("linear_attention", ""), ("scaled_dot", "sparsemax")
# By model and contestant: rate, accuracies of the epochs, why it ended; every training took 600 s.
TRIED = {
    ("zoology_64", DOT): [(0.01, [0.1] * 17, FLAT), (0.0021544, [0.2, 0.6, 0.995], SOLVED)],
    ("zoology_64", LINEAR): [(0.0021544, [0.1, 0.24, 0.31], SPENT), (0.01, [0.1] * 3, SPENT)],
    ("zoology_64", SHARP): [(0.0021544, [], "")],  # could not run
    ("zoology_128", LINEAR): [(0.0021544, [0.2, 0.81], SPENT)],  # another rate is left
}
PROBLEM = "the loss became nan in epoch 1 at 0.0021544"
PLAN = Plan(
    tasks={TASK: replace(TASKS[TASK].budget, epochs=17, rates=(0.0021544, 0.01))},
    contestants=[Contestant(model=model, scoring=scoring, normaliser=normaliser)
                 for model in MODELS for scoring, normaliser in (DOT, LINEAR, SHARP)],
    seeds=0,
)  # fmt: skip


def outcomes() -> list[Outcome]:
    """What came of the trials."""
    found = []
    for (model, (scoring, normaliser)), tried in TRIED.items():
        who = Contestant(model=model, scoring=scoring, normaliser=normaliser)
        for rate, accuracies, ended in tried:
            trial = Trial(task=TASK, contestant=who, rate=rate, seed=1_000_000, tuning=True)
            course = tuple((196.0 * n, a, 9.0 / n) for n, a in enumerate(accuracies, 1))
            one = Outcome(trial=trial, course=course, ended=ended, seconds=600.0)
            found.append(
                replace(one, validation=accuracies[-1]) if accuracies
                else replace(one, problem=PROBLEM)
            )  # fmt: skip
    return found


def laid_down(folder: Path, plan: Plan = PLAN, found: Sequence[Outcome] = ()) -> Race:
    """The race in a folder, as the command leaves it."""
    race = Race.create(folder, plan, {"command": "python -m attention_plugins race --tasks mqar"})
    for one in found or outcomes():
        race.add(one)
    return race


# In points from the published mean: rope's accuracy at its best rate on each task of MAD.
AWAY = {"recall": 9.5, "noisy": 9.9, "fuzzy": 21.0, "memorisation": -8.0, "copying": 0.1,
        "compression": 4.9}  # fmt: skip
MAD = Plan(
    tasks={f"mad_{name}": TASKS[f"mad_{name}"].budget for name in AWAY},
    contestants=[Contestant(model="mad_128", scoring=name) for name in ("rope", "dot")], seeds=0,
)  # fmt: skip


def of_mad() -> list[Outcome]:
    """Of rope what came at each of three rates; of another contestant at one of them alone."""
    found = []
    for name, away in AWAY.items():
        task, (rope, dot) = TASKS[f"mad_{name}"], MAD.contestants
        best = task.published[0]["accuracy"] + away / 100
        steps = task.budget.steps / task.budget.epochs
        for number, rate in enumerate(task.budget.rates):
            for who in (rope, dot)[: 2 - (number > 0)]:
                trial = Trial(task=task.name, contestant=who, rate=rate, seed=10**6, tuning=True)
                reached = [round(best - 0.1 * number - gap, 5) for gap in (0.3, 0.2, 0)]
                course = tuple((steps * n, one, 1.0 / n) for n, one in enumerate(reached, 1))
                found.append(Outcome(trial=trial, course=course, ended=SPENT, seconds=60.0,
                                     validation=reached[-1]))  # fmt: skip
    return found
