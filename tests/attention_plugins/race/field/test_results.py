"""What is said of a race on a task of the field, recomputed from its outcomes."""

import json
import re
from dataclasses import replace

import pytest
from support.documents import section
from support.field_races import (
    AWAY,
    DOT,
    LINEAR,
    MAD,
    PLAN,
    SHARP,
    TASK,
    TRIED,
    of_mad,
    outcomes,
)  # fmt: skip

from attention_plugins.home import SHIPPED
from attention_plugins.race import trials
from attention_plugins.race.field.results import cells, sentences
from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Contestant, Outcome, Plan
from attention_plugins.race.store import OUTCOMES, RACE

BUDGET = PLAN.tasks[TASK]
ROPE = Contestant(model="mad_128", scoring="rope")
# Of each task in mad-lab's configs/tasks: the baseline and its changes.
SETTINGS = {"mad_recall": 11, "mad_noisy": 14, "mad_fuzzy": 11, "mad_memorisation": 6,
            "mad_copying": 13, "mad_compression": 11}  # fmt: skip


def named(cell):
    who = cell.contestant
    return who.model, (who.scoring, who.normaliser)


def test_the_best_rate_counts_and_cells_come_by_size_and_accuracy():
    found = cells(outcomes(), TASK)
    assert [named(cell) for cell in found] == [
        ("zoology_64", DOT), ("zoology_64", LINEAR), ("zoology_64", SHARP),
        ("zoology_128", LINEAR),
    ]  # fmt: skip
    best = found[0].best
    assert (best.trial.rate, best.ended, best.steps, len(found[0].tried)) == (
        0.0021544, SOLVED, 588, 2,
    )  # fmt: skip
    assert not cells(outcomes(), "mqar_128_8")
    strange = replace(outcomes()[0].trial, contestant=replace(ROPE, model="zoology_65"))
    assert not cells([replace(outcomes()[0], trial=strange)], TASK)


def test_of_two_rates_that_solve_it_the_quicker_one_is_the_best():
    first, quick = (one for one in outcomes() if named_trial(one) == ("zoology_64", DOT))
    slow = replace(quick, trial=first.trial, validation=1.0, course=(*quick.course, (784.0, 1, 1)))
    assert cells([slow, quick], TASK)[0].best == quick


def named_trial(one):
    who = one.trial.contestant
    return who.model, (who.scoring, who.normaliser)


def averaged(lines, task, who, first, published):
    """How far a contestant is from a published mean, and what it has at other settings."""
    values, changes = [first], []
    for other in (name for name in TASKS if name.rpartition("_")[0] == task):
        there = [one for one in lines if one["trial"]["contestant"] == who
                 and one["trial"]["task"] == other]  # fmt: skip
        if {one["trial"]["rate"] for one in there} != {*TASKS[task].budget.rates}:
            continue
        values.append(100 * max(one["course"][-1][1] for one in there))
        size = f"{int(other.rpartition('_')[2]):,}"
        changed = "a vocabulary of" if "memorisation" in task else ""
        changed = f"{changed} {size}" if changed else f"{size} examples to learn from"
        changes.append(f"With {changed}, and nothing else changed, it has {values[-1]:.1f}%.")
    left, mean = SETTINGS[task] - len(values), sum(values) / len(values)
    away = (first if left else mean) - published
    verdict = f"That is {abs(away):.1f} points {'above' if away > 0 else 'below'} "
    verdict = (verdict if abs(away) > 5 else "That is within 5 points of ") + "the published mean."
    if left:
        return [verdict, *changes,
                f"{left} of the {SETTINGS[task]} settings were not run here."]  # fmt: skip
    return [
        *changes,
        f"The mean of these {SETTINGS[task]} settings is {mean:.1f}% here.",
        verdict,
    ]


def recomputed(lines, task, budget):
    """The sentences anew, from plain JSON: numbers only, in their order."""
    steps, own, by_cell = budget.steps, [one for one in lines if one["trial"]["task"] == task], {}
    for one in (one for one in own if not one.get("problem")):
        by_cell.setdefault(tuple(sorted(one["trial"]["contestant"].items())), []).append(one)

    def last(one):
        return one["course"][-1][1]

    def rank(one):
        return (one["ended"] == "solved", -len(one["course"]) if one["ended"] == "solved" else
                last(one))  # fmt: skip

    every = {cell: max(tried, key=rank) for cell, tried in by_cell.items()}
    best = {cell: one for cell, one in every.items() if one["ended"] == "solved" or
            {one["trial"]["rate"] for one in by_cell[cell]} == {*budget.rates}}  # fmt: skip
    said, models = [], {dict(cell)["model"] for cell in best if TASKS[task].solved}
    marks, bar = [steps // part for part in (8, 4, 2, 1)], TASKS[task].solved
    for model in sorted(models, key=lambda name: (int(name.split("_")[1]), name)):
        solved = [
            sum(
                any(value > bar for one in by_cell[cell] for step, value, _ in one["course"]
                    if step <= mark)
                for cell in best if dict(cell)["model"] == model
            )
            for mark in marks
        ]  # fmt: skip
        count = sum(dict(cell)["model"] == model for cell in best)
        said.append(
            f"{model}, contestants that are through: {count}. At any rate tried "
            f"{', '.join(map(str, solved))} of them had solved it, with more than "
            f"{100 * bar:g}%, after "
            f"{' · '.join(f'{mark:,}' for mark in marks)} steps."
        )
    for figure in TASKS[task].published:
        here = [
            100 * last(one)
            for cell, one in best.items()
            if dict(cell)
            == {"model": dict(cell)["model"], "normaliser": "", "scoring": figure.get("scoring")}
        ]
        if not here:
            continue
        ends = "–".join(sorted({f"{end:.1f}" for end in (min(here), max(here))}))
        published, source = 100 * figure["accuracy"], figure["source"]
        tail = f"Within {steps:,} steps {figure['scoring']} has {ends}% here."
        if figure["form"] == "at_least":
            said.append(
                f"Published for {figure['mechanism']}: at least {published:g}% ({source}). {tail}"
            )
            continue
        said.append(
            f"Published for {figure['mechanism']}, as a mean of {SETTINGS[task]} settings, of "
            f"which this is one: {published:g}% ({source}). {tail}"
        )
        who = max(
            (cell for cell in best if dict(cell)["scoring"] == figure["scoring"]
             and not dict(cell)["normaliser"]), key=lambda cell: last(best[cell]),
        )  # fmt: skip
        said += averaged(lines, task, dict(who), max(here), published)
    if left := len(every) - len(best):
        said.append(
            f"{left} of {len(every)} contestants have rates left to try: nothing is concluded of "
            "them yet."
        )
    if flat := sum(one.get("ended") == "flat" for one in own):
        said.append(
            f"{flat} of {len(own)} trainings were stopped as flat before {steps:,} steps: with "
            "these they might have come further."
        )
    total, chosen = (sum(one["seconds"] for one in some) for some in (own, every.values()))
    said.append(
        f"{total / 3600:.2f} hours of one core or device, {100 * (1 - chosen / total):.0f}% of "
        "them at rates that were not chosen."
    )
    return said


def test_every_sentence_follows_from_the_outcomes():
    found = [*sentences(cells(outcomes(), TASK), TASKS[TASK], BUDGET)]
    assert found == recomputed([one.to_json() for one in outcomes()], TASK, BUDGET)
    assert found[0].startswith(
        "zoology_64, contestants that are through: 2. At any rate tried 0, 1, 1, 1 of"
    )
    assert found[-1] == (
        "1.00 hours of one core or device, 50% of them at rates that were not chosen."
    )


@pytest.mark.parametrize(("name", "away"), AWAY.items())
def test_how_far_a_published_mean_is_follows_from_the_outcomes(name, away):
    task, found = TASKS[f"mad_{name}"], of_mad()
    said = [*sentences(cells(found, task.name), task, task.budget)]
    assert said == recomputed([one.to_json() for one in found], task.name, task.budget)
    words = {9.5: "9.5 points above", 9.9: "9.9 points above", 21.0: "21.0 points above",
             -8.0: "8.0 points below", 0.1: "within 5 points", 4.9: "within 5 points"}  # fmt: skip
    (verdict,) = [one for one in said if one.startswith("That is")]
    assert verdict.startswith(f"That is {words[away]}")
    assert any("1 of 2 contestants have rates left to try" in one for one in said)
    assert (
        f"{SETTINGS[task.name] - 1} of the {SETTINGS[task.name]} settings were not run here."
        in said
    )


def test_with_all_its_settings_a_mean_is_compared_with_the_published_one():
    """What another contestant has, or has at one of its rates alone, is in no mean."""
    task, found = TASKS["mad_memorisation"], []
    sizes = {"": 1.0, "_512": 0.9, "_1024": 0.8, "_2048": 0.7, "_4096": 0.6, "_8192": 0.5}
    for who in MAD.contestants:
        for end, value in sizes.items():
            for rate in task.budget.rates[: 1 if who.scoring == "dot" else 3]:
                trial = replace(
                    outcomes()[0].trial, contestant=who, task=task.name + end, rate=rate
                )
                course = ((2.0, value, 1.0),)
                found.append(replace(outcomes()[0], trial=trial, validation=value, course=course,
                                     ended=SPENT))  # fmt: skip

    def told(kept):
        others = [cell for end in sizes if end for cell in cells(kept, task.name + end)]
        said = [*sentences(cells(kept, task.name), task, task.budget, others)]
        assert said == recomputed([one.to_json() for one in kept], task.name, task.budget)
        return said

    said = told(found)
    assert "The mean of these 6 settings is 75.0% here." in said
    assert "That is within 5 points of the published mean." in said
    assert "With a vocabulary of 8,192, and nothing else changed, it has 50.0%." in said
    fewer = told([one for one in found if not one.trial.task.endswith("8192")])
    assert "That is 21.2 points above the published mean." in fewer
    assert "1 of the 6 settings were not run here." in fewer


def test_a_published_mean_of_several_settings_is_called_one():
    task = TASKS["mad_memorisation"]
    trial = replace(outcomes()[0].trial, contestant=ROPE, task=task.name)
    one = replace(outcomes()[0], trial=trial, validation=0.9042)
    budget = replace(BUDGET, rates=(trial.rate,))
    assert [*sentences(cells([one], task.name), task, budget)][1] == (
        "Published for Transformer, as a mean of 6 settings, of which this is one: 78.8% "
        f"(lin-attn-bench). Within {BUDGET.steps:,} steps rope has 90.4% here."
    )


def test_a_task_that_nobody_ran_says_nothing_and_one_without_a_bar_solves_nothing():
    assert not [*sentences([], TASKS[TASK], BUDGET)]
    open_ended = replace(TASKS[TASK], solved=None, published=())
    found = [*sentences(cells(outcomes(), TASK), open_ended, BUDGET)]
    assert not any("solved" in sentence for sentence in found)


RACES = [path.parent for path in sorted(SHIPPED.glob(f"race*/{RACE}"))
         if {*json.loads(path.read_text("utf-8"))["plan"]["tasks"]} <= TASKS.keys()]  # fmt: skip


def shipped(folder):
    plan = json.loads((folder / RACE).read_text("utf-8"))["plan"]
    lines = (folder / OUTCOMES).read_text("utf-8").splitlines()
    return Plan.from_json(plan), [json.loads(line) for line in lines]


@pytest.mark.parametrize("folder", RACES, ids=lambda path: path.name)
def test_what_ships_says_what_its_outcomes_say(folder):
    plan, lines = shipped(folder)
    assert lines
    said = " ".join(section("using.md", "Tasks of the field").split())
    (told,) = re.findall(
        rf"`trained/{folder.name}` has (.+?) of a plan of (\d+) contestants?", said
    )
    assert told[0] == f"{len(lines):,} of the {trials.count(plan):,} trainings"
    assert int(told[1]) == len({who.name for who in plan.contestants})
    for task in {one["trial"]["task"] for one in lines}:
        budget = plan.tasks[task]
        assert (budget, plan.seeds) == (TASKS[task].budget, 0)
        every = [*map(Outcome.from_json, lines)]
        others = [cell for one in TASKS if TASKS[one].of == task for cell in cells(every, one)]
        said = [*sentences(cells(every, task), TASKS[task], budget, others)]
        assert said == recomputed(lines, task, budget)


@pytest.mark.parametrize("folder", RACES, ids=lambda path: path.name)
def test_what_ships_ended_as_it_says(folder):
    plan, lines = shipped(folder)
    for one in lines:
        if one.get("problem"):
            continue
        budget, task = plan.tasks[one["trial"]["task"]], TASKS[one["trial"]["task"]]
        course, per_epoch = one["course"], budget.steps / budget.epochs
        assert [step for step, *_ in course] == pytest.approx(
            [per_epoch * n for n in range(1, len(course) + 1)]
        )
        bar = 1.0 if task.solved is None else task.solved
        assert all(accuracy <= bar for _, accuracy, _ in course[:-1])
        assert (course[-1][1] > bar) == (one["ended"] == SOLVED)
        assert (len(course) == budget.epochs) >= (one["ended"] == SPENT)
        if one["ended"] == FLAT:
            before, since = course[: -task.flat], course[-task.flat :]
            assert max(row[1] for row in since) < max(row[1] for row in before) + 0.01
            assert min(row[2] for row in since) > 0.99 * min(row[2] for row in before)
        assert one["trial"]["tuning"]
        assert one["trial"]["rate"] in budget.rates


def test_the_document_gives_the_accuracies_on_tasks_of_mad():
    """And which of the settings that ran lie on which side of the published mean."""
    _, lines = shipped(SHIPPED / "race-mad")
    best = {}
    for one in lines:
        name = one["trial"]["task"]
        best[name] = max(best.get(name, 0.0), 100 * one["course"][-1][1])
    rows = section("using.md", "Tasks of the field").split("| all settings |\n")[1].splitlines()
    sides = {}
    for row in rows[1:7]:
        title, *cells_of = (cell.strip() for cell in row.strip("|").split("|"))
        (task,) = (one for one in TASKS.values() if one.title == f"MAD: {title}")
        others = [best[one] for one in TASKS if TASKS[one].of == task.name]
        whole = sum([best[task.name], *others]) / task.averaged
        mean, few = 100 * task.published[0]["accuracy"], best.get(f"{task.name}_800")
        assert cells_of == [
            f"{mean:.1f}", f"{best[task.name]:.1f}", "–" if few is None else f"{few:.1f}",
            f"{whole:.1f}" if len(others) == task.averaged - 1 else "–",
        ]  # fmt: skip
        sides[title] = (whole if few is None else best[task.name]) - mean, (few or whole) - mean
    assert abs(sides["memorisation"][0]) < 1
    assert abs(sides["selective copying"][0]) < 1
    assert all(sides[one][0] > 0 > sides[one][1] for one in ("compression", "noisy recall"))
    assert min(sides["in-context recall"]) > 0 > max(sides["fuzzy recall"])


def test_no_contestant_of_the_small_race_is_left_out():
    assert len(outcomes()) == sum(map(len, TRIED.values()))
