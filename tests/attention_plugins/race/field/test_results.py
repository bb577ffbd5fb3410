"""What is said of a race on a task of the field, recomputed from its outcomes."""

import json
from dataclasses import replace

import pytest
from support.documents import section
from support.field_races import DOT, LINEAR, PLAN, SHARP, TASK, TRIED, outcomes

from attention_plugins.home import SHIPPED
from attention_plugins.race import trials
from attention_plugins.race.field.results import cells, sentences
from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Contestant, Outcome, Plan
from attention_plugins.race.store import OUTCOMES, RACE

BUDGET = PLAN.tasks[TASK]
ROPE = Contestant(model="mad_128", scoring="rope")


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
    said, models = [], {dict(cell)["model"] for cell in best}
    marks = [steps // part for part in (8, 4, 2, 1)]
    for model in sorted(models, key=lambda name: int(name.partition("_")[2])):
        solved = [
            sum(
                any(value > 0.99 for one in by_cell[cell] for step, value, _ in one["course"]
                    if step <= mark)
                for cell in best if dict(cell)["model"] == model
            )
            for mark in marks
        ]  # fmt: skip
        count = sum(dict(cell)["model"] == model for cell in best)
        said.append(
            f"{model}, contestants that are through: {count}. At any rate tried "
            f"{', '.join(map(str, solved))} of them had solved it, with more than 99 %, after "
            f"{' · '.join(f'{mark:,}' for mark in marks)} steps."
        )
    softmax = [100 * last(one) for cell, one in best.items()
               if (dict(cell)["scoring"], dict(cell).get("normaliser", "")) == DOT]  # fmt: skip
    if softmax:
        said.append(
            "Published for softmax attention: at least 99 % (Arora et al. 2024, Zoology, figure "
            f"2: every size, lengths 64 to 512). Within {steps:,} steps scaled_dot has "
            f"{'–'.join(sorted({f'{end:.1f}' for end in (min(softmax), max(softmax))}))} % here."
        )
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
        f"{total / 3600:.1f} hours of one core or device, {100 * (1 - chosen / total):.0f} % of "
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
        "1.0 hours of one core or device, 50 % of them at rates that were not chosen."
    )


def test_a_published_mean_of_several_settings_is_called_one():
    task = TASKS["mad_memorisation"]
    trial = replace(outcomes()[0].trial, contestant=ROPE, task=task.name)
    one = replace(outcomes()[0], trial=trial, validation=0.9042)
    budget = replace(BUDGET, rates=(trial.rate,))
    assert next(iter(sentences(cells([one], task.name), task, budget))) == (
        "Published for Transformer, as a mean of this and harder settings: 78.8 % "
        f"(lin-attn-bench). Within {BUDGET.steps:,} steps rope has 90.4 % here."
    )


def test_a_task_that_nobody_ran_says_nothing_and_one_without_a_bar_solves_nothing():
    assert not [*sentences([], TASKS[TASK], BUDGET)]
    open_ended = replace(TASKS[TASK], solved=None, published=())
    found = [*sentences(cells(outcomes(), TASK), open_ended, BUDGET)]
    assert not any("solved" in sentence for sentence in found)


def shipped():
    plan = json.loads((SHIPPED / "race-mqar" / RACE).read_text("utf-8"))["plan"]
    lines = (SHIPPED / "race-mqar" / OUTCOMES).read_text("utf-8").splitlines()
    return Plan.from_json(plan), [json.loads(line) for line in lines]


def test_what_ships_says_what_its_outcomes_say():
    plan, lines = shipped()
    assert lines
    sizes = [who.model for who in plan.contestants]
    assert [sizes.count(f"zoology_{size}") for size in (64, 128, 256, 512)] == [14] * 4
    said = " ".join(section("using.md", "Tasks of the field").split())
    assert "plan of 14 contestants in four sizes" in said
    assert f"{len(lines)} of the {trials.count(plan)} trainings" in said
    for task in {one["trial"]["task"] for one in lines}:
        budget = plan.tasks[task]
        assert (budget, plan.seeds) == (TASKS[task].budget, 0)
        found = cells(map(Outcome.from_json, lines), task)
        assert [*sentences(found, TASKS[task], budget)] == recomputed(lines, task, budget)


def test_the_document_tells_how_attention_and_linear_attention_compare():
    plan, lines = shipped()
    text = section("using.md", "Tasks of the field")
    told = {row[0]: row[1:] for line in text.splitlines() if line.startswith("| ")
            for row in [[*map(str.strip, line.strip("|").split("|"))]]}  # fmt: skip
    sizes = ["64", "128", "256", "512"]
    assert told["size"] == sizes
    rows, budget = {}, plan.tasks["mqar_64_4"]
    for cell in cells(map(Outcome.from_json, lines), "mqar_64_4"):
        rows[cell.contestant.name, cell.contestant.model.partition("_")[2]] = cell
    for title, name in (("scaled dot product", "scaled_dot"),
                        ("linear attention", "linear_attention")):  # fmt: skip
        found = [rows.get((name, size)) for size in sizes]
        assert told[f"{title}, steps until solved"] == [
            f"{cell.best.steps:,}" if cell and cell.best.ended == SOLVED else "–" for cell in found
        ]
        assert told[f"{title}, accuracy by {budget.steps // 8:,} steps, %"] == [
            f"{100 * cell.by(budget.steps // 8):.1f}" if cell else "–" for cell in found
        ]


def test_what_ships_ended_as_it_says():
    plan, lines = shipped()
    for one in lines:
        if one.get("problem"):
            continue
        budget, task = plan.tasks[one["trial"]["task"]], TASKS[one["trial"]["task"]]
        course, per_epoch = one["course"], budget.steps / budget.epochs
        assert [step for step, *_ in course] == pytest.approx(
            [per_epoch * n for n in range(1, len(course) + 1)]
        )
        assert all(accuracy <= task.solved for _, accuracy, _ in course[:-1])
        assert (course[-1][1] > task.solved) == (one["ended"] == SOLVED)
        assert (len(course) == budget.epochs) >= (one["ended"] == SPENT)
        if one["ended"] == FLAT:
            before, since = course[: -task.flat], course[-task.flat :]
            assert max(row[1] for row in since) < max(row[1] for row in before) + 0.01
            assert min(row[2] for row in since) > 0.99 * min(row[2] for row in before)
        assert one["trial"]["tuning"]
        assert one["trial"]["rate"] in budget.rates


def test_no_contestant_of_the_small_race_is_left_out():
    assert len(outcomes()) == sum(map(len, TRIED.values()))
