"""What using.md says of the shipped races is recomputed, word by word, from their outcomes."""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from attention_plugins import Sizes
from attention_plugins.home import SHIPPED
from attention_plugins.race import statistics
from attention_plugins.race.budgets import at_budgets
from attention_plugins.race.data import DECIDES, limits
from attention_plugins.race.endings import FALL, PART, ending
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Contestant, Outcome
from attention_plugins.race.standings import Standing, baseline, standings
from attention_plugins.race.statistics import differences
from attention_plugins.race.store import OUTCOMES, SHIPPED_RACE, Race
from attention_plugins.race.trials import _by_entry, halved, higher_is_better
from attention_plugins.registry import installed

USING = Path(__file__).parents[3] / ".github" / "docs" / "using.md"
TITLES = {
    "sine": "Sine and power", "step": "Step", "doppler": "Doppler",
    "growing_noise": "Growing noise", "outliers": "Outliers", "plane": "Plane", "copy": "Copying",
    "reverse": "Reversing", "sort": "Sorting", "recall": "Recall", "tagging": "Tagging",
    "phrasebook": "Phrasebook",
}  # fmt: skip
WORDS = {1: "one", 2: "two", 6: "Six", 9: "nine"}


@functools.cache
def opened(folder: Path) -> tuple[Race, list[Outcome]]:
    race = Race.open(folder)
    return race, race.outcomes()


def race_of(task: str) -> tuple[Race, list[Outcome]]:
    return opened(SHIPPED / "race-phrasebook" if task == "phrasebook" else SHIPPED_RACE)


@functools.cache
def rows(task: str) -> dict[str, Standing]:
    """The standings against the usual reference, by the names of all contestants."""
    return rows_of(task, race_of(task)[1])


def rows_of(task: str, outcomes: list[Outcome]) -> dict[str, Standing]:
    fits = installed().dataset(task).task == "regression"
    reference = Contestant(
        model="nadaraya_watson" if fits else "bahdanau",
        scoring="gaussian" if fits else "scaled_dot",
    )
    with pytest.MonkeyPatch.context() as patch:  # most intervals are never read
        patch.setattr(statistics, "interval", lambda *given: (math.nan, math.nan))
        found = standings(
            outcomes, task, reference=reference, higher_is_better=higher_is_better(task)
        )
    return {who.name: row for row in found for who in (row.contestant, *row.equals)}


def qualities(task: str, name: str) -> list[float]:
    """Seed by seed."""
    found = {
        one.trial.seed: one.quality
        for one in race_of(task)[1]
        if one.trial.task == task and one.trial.contestant.name == name and not one.trial.tuning
    }
    return [found[seed] for seed in sorted(found)]


def compared(task: str) -> int:
    return len({id(row) for row in rows(task).values()}) - 1


def mean(task: str, name: str, digits: int = 1) -> str:
    return f"{rows(task)[name].quality.mean:.{digits}f}"


def gain(task: str, name: str, verdict: str, digits: int = 1, sign: str = "") -> str:
    """Such as ``67.2 [65.6, 69.0]``, of one that is ``verdict``; worse ones without their sign."""
    row = rows(task)[name]
    assert row.verdict == verdict, (task, name)
    (reference,) = {one.name for one in rows(task).values() if one.verdict == "reference"}
    (found,) = differences(
        [qualities(task, name)], qualities(task, reference.partition(",")[0]),
        higher_is_better=higher_is_better(task),
    )  # fmt: skip
    turn = -1 if verdict == "worse" and not sign else 1
    centre, *ends = (turn * number for number in found[:3])
    low, high = sorted(ends)

    def text(number: float, form: str = "") -> str:
        return f"{number:{form}.{digits}f}".replace("-", "−")

    return f"{text(centre, sign)} [{text(low)}, {text(high)}]"


def p(task: str, name: str) -> str:
    return f"p = {rows(task)[name].corrected_p:.2g}"


def limit_row(task: str) -> str:
    race, outcomes = race_of(task)
    own = [*{id(row): row for row in rows(task).values()}.values()]
    found = limits(
        task, race.plan.tasks[task].examples, own, baseline(outcomes, task), higher_is_better(task)
    )
    assert found
    floor, unit = found.floors[0], installed().dataset(task)
    assert found.decides is (task not in ("recall", "phrasebook"))
    assert DECIDES == 0.1
    digits = 3 if unit.task == "regression" else 1
    said = "yes" if found.decides else "no"
    return (
        f"| {TITLES[task]} | {floor.value.mean:.{digits}f}, {floor.name} "
        f"| {found.best:.{digits}f} | {found.ceiling:g} "
        f"| {100 * found.share:.1f}% | {said} |".replace("| -", "| −")
    )


def hours(task: str) -> tuple[int, int]:
    _, outcomes = race_of(task)
    return len(outcomes), round(sum(one.seconds for one in outcomes) / 60)


def ended(tasks: list[str], best: float) -> str:
    """How the trainings ended that are compared."""
    assert (PART, FALL) == (4, 0.99)
    kinds = [ending(one, best) for one in race_of(tasks[0])[1]
             if one.trial.task in tasks and not one.trial.tuning and not one.problem]  # fmt: skip
    solved, flat, spent = map(kinds.count, (SOLVED, FLAT, SPENT))
    where = "problems" if best == 0.0 else "symbols"
    return (
        f"Of {len(kinds):,} on {where} {solved:,} solved their task and {flat:,} "
        f"{'was' if flat == 1 else 'were'} flat; {spent:,} were out of budget."
    )


def written() -> str:
    """What the document has to say, with every number computed and every verdict seen to."""
    race, outcomes = race_of("copy")
    symbols, line = race.plan.tasks["copy"], race.plan.tasks["sine"]
    problems = [task for task in race.plan.tasks if race.plan.tasks[task] == line]
    tasks = [task for task in race.plan.tasks if race.plan.tasks[task] == symbols]
    assert len(problems) + len(tasks) == len(race.plan.tasks)
    assert {len(b.rates) for b in race.plan.tasks.values()} == {2}
    assert race.plan.tuning_seeds == 1
    contestants = {
        len([who for who in race.plan.contestants if who.model == model])
        for model in ("bahdanau", "nadaraya_watson")
    }
    (count,) = contestants
    (left,) = {compared(task) + 1 for task in tasks}
    (on_line,) = {compared(task) + 1 for task in problems if task != "plane"}
    on_plane = compared("plane") + 1
    for task in race.plan.tasks:
        alike = {"additive, mlp"}
        if task in tasks:
            alike |= {"uniform, boxcar"}
        elif task != "plane":
            alike |= {"scaled_dot, dot, rope", "gaussian, learned_metric"}
        assert {row.name for row in rows(task).values() if row.equals} == alike
    trainings, minutes = hours("copy")
    copied = [one.quality for one in outcomes if one.trial.task == "copy"
              and one.trial.contestant.scoring == "t5_bias" and not one.trial.tuning]  # fmt: skip
    right, whole = round(sum(copied) * 2), 200 * len(copied)
    recall = sorted(row.quality.mean for row in rows("recall").values())
    assert {row.verdict for row in rows("recall").values()} == {
        "reference", "no difference found"
    }  # fmt: skip
    books, book_minutes = hours("phrasebook")
    phrasebook, _ = race_of("phrasebook")
    book = phrasebook.plan.tasks["phrasebook"]
    bleu = sorted(row.quality.mean for row in rows("phrasebook").values())
    verdicts = {name: row.verdict for name, row in rows("phrasebook").items()}
    assert [n for n, v in verdicts.items() if v not in ("reference", "no difference found")] == [
        "dot"
    ]
    assert max(rows("phrasebook").values(), key=lambda row: row.quality.mean).name == (
        "additive, mlp"
    )
    several = "\n".join(
        f"- {said}" for task in TITLES if (said := at_several_budgets(SHIPPED, task))
    )
    table = "\n".join(map(limit_row, (*race.plan.tasks, "phrasebook")))
    return f"""
A race ships in `trained/race`: {count} contestants for each kind of task, {race.plan.seeds} seeds,
{trainings:,} trainings of together {minutes} minutes on a busy machine. `race.json` has the
command
and the commits. {WORDS[len(problems)]} regression problems are learned by the Nadaraya–Watson
estimator from {line.examples} points in {line.steps} steps; copying, reversing, sorting, tagging
and recalling symbols by Bahdanau's model from {symbols.examples:,} sequences in {symbols.steps}
steps. Everybody learns at the better of 2 rates, so every choice is an edge of the grid, unless
both came out alike. What follows is true of this budget; more steps may change who leads, and by
how much.

A training is flat here where in the last quarter of its steps the loss fell by less than 1%.
{ended(problems, 0.0)} {ended(tasks, 100.0)}

Contestants whose outcomes are equal in every seed are the same function on that task. They share
a row and count once in every correction: additive and MLP everywhere, average pooling and a boxcar
on symbols, and on a line the scaled dot product, the dot product and rotary positions,
or the Gaussian
kernel and the learned metric. So {left} of {count} are left on symbols, {on_line} on a line, and
{on_plane} on the plane.

A task tells scorings apart only between its floor and its ceiling. The floor is the best of what
needs no attention: copying the input or the nearest learned example, the commonest or a random
token at each place, the mean of the points, uniform attention. Where the best contestant covers at
most {100 * DECIDES:g}% of the way, the task decides nothing at that budget, and the page says so.
After {line.steps} steps on problems, {symbols.steps} on symbols and {book.steps:,} on Phrasebook:

| task | floor | best | ceiling | of the way | decides |
|---|---|---|---|---|---|
{table}

Exact matches and right tokens are in percent, Phrasebook's numbers are BLEU, and regression's are
squared errors to the truth. The differences below are paired by seed, with 95% bootstrap
intervals, to the scaled dot product on symbols and to the Gaussian kernel on problems. Each p is
of a paired permutation test, corrected by Holm over the comparisons with that reference
on the task:
{left - 1} on symbols, {on_line - 1} on a line, {on_plane - 1} on the plane.

- *Copying, after {symbols.steps} steps.* With T5's bias {right:,} of {whole:,} sequences are
  right, {gain("copy", "t5_bias", "better")} points more than with the scaled dot product
  ({mean("copy", "scaled_dot")}%, {p("copy", "t5_bias")}). Relative positions are neither needed
  nor enough. Without them location-sensitive scoring reaches
{mean("copy", "location_sensitive")}%,
  forward attention {mean("copy", "forward_attention", 2)}%, and additive scoring gains
  {gain("copy", "additive", "better")}. With them rotary positions gain
  {gain("copy", "rope", "better")}, and for ALiBi, whose slope is fixed, no difference is found:
  {gain("copy", "alibi", "no difference found", sign="+")}.
- *Reversing, after {symbols.steps} steps.* Location-sensitive scoring, which reads the weights of
  earlier steps, gains {gain("reverse", "location_sensitive", "better")} points. The learned
  metric and the bilinear form read none, and gain
  {gain("reverse", "learned_metric", "better")} and
  {gain("reverse", "bilinear", "better")}; T5's bias only {gain("reverse", "t5_bias", "better")},
  and additive scoring {gain("reverse", "additive", "better")}.
- *Division by the root of d* slows the reversing model down. After {symbols.steps} steps the dot
  product without it gains {gain("reverse", "dot", "better")} points on
  {mean("reverse", "scaled_dot")}, and one with a learned temperature
  {gain("reverse", "scaled_dot + temperature", "better")}. In copying no difference is found then:
  {gain("copy", "dot", "no difference found", sign="+")}; in sorting the dot product is worse by
  {gain("sort", "dot", "worse")}.
- *Tagging* a symbol by its left neighbour, after {symbols.steps} steps: T5's bias gains
  {gain("tagging", "t5_bias", "better")}
  points on {mean("tagging", "scaled_dot")}, Shaw's vectors
{gain("tagging", "shaw", "better")}, and
  forward attention, which has no relative positions,
{gain("tagging", "forward_attention", "better")}.
  Rotary positions gain {gain("tagging", "rope", "no difference found")}, which is not beyond
chance
  ({p("tagging", "rope")}).
- *Recall* decides nothing after {symbols.steps} steps: all reach between {recall[0]:.1f} and
  {recall[-1]:.1f}%, average pooling {mean("recall", "uniform")}%.
- *The sine, after {line.steps} steps.* No difference is found between the Gaussian and the
  Laplacian kernel
  ({gain("sine", "laplacian", "no difference found", 3)} of a squared error of
  {mean("sine", "gaussian", 3)}); the scaled dot product is worse by
  {gain("sine", "scaled_dot", "worse", 2)}.
- *The Doppler function, after {line.steps} steps.* The Matérn kernel is better than the
  Gaussian by
  {gain("doppler", "matern", "better", 3)}, {p("doppler", "matern")}.

A second race, `trained/race-phrasebook`, has {WORDS[len(phrasebook.plan.contestants)]} scorings of
the textbook learn {book.examples:,} pairs of Phrasebook in {book.steps:,} steps:
{phrasebook.plan.seeds} seeds, {books} trainings of together {book_minutes} minutes. It decides
nothing after these either: BLEU is between {bleu[0]:.1f} and {bleu[-1]:.1f}, uniform attention has
{mean("phrasebook", "uniform")} and the scaled dot product {mean("phrasebook", "scaled_dot")},
while
copying the answer to the nearest learned pair has {nearest():.1f}. Only one scoring differs
from the
scaled dot product beyond chance, the dot product without the root of d:
{gain("phrasebook", "dot", "worse", sign="+")}, {p("phrasebook", "dot")}. Additive scoring
leads, which
may be chance ({p("phrasebook", "additive")}).

{by_halving()}

Of a task that races that ship have at several budgets they say together:

{several}
"""


def by_halving() -> str:
    """What successive halving after the only tuning seed would have found, of what it did not."""
    race, outcomes = race_of("copy")
    fate = halved(replace(race.plan, halving=1), _by_entry(outcomes, tuning=True))
    kept = [o for o in outcomes if o.trial.tuning or fate[o.trial.task, o.trial.contestant][1]]
    spent, total = (sum(one.seconds for one in some) for some in (kept, outcomes))
    reported = [one for one in kept if not one.trial.tuning]
    leading, found, others, same = 0, 0, 0, 0
    for task in race.plan.tasks:
        half, whole = rows_of(task, reported), [*rows(task).items()]
        better = [{name for name, row in some if row.verdict == "better"}
                  for some in (half.items(), whole)]  # fmt: skip
        leading += len(better[1])
        found += len(better[0] & better[1])
        others += len(better[0] - better[1])
        sign = 1 if higher_is_better(task) else -1
        best = [max(some, key=lambda one: sign * one[1].quality.mean)[1].name
                for some in (half.items(), whole)]  # fmt: skip
        same += best[0] in best[1] or best[1] in best[0]
    return f"""
With `--halving 1` this first race would have taken {100 * spent / total:.0f}% of its time: that
follows from its outcomes, since its tuning trainings say who would have gone on. The best mean
would have been the same one on {same} of {len(race.plan.tasks)} tasks. Of {leading} leads over
the reference beyond chance {found} would have been found, and {others} others, as fewer
comparisons are corrected for."""


def nearest() -> float:
    found = baseline(race_of("phrasebook")[1], "phrasebook")
    assert found
    return found.mean


def section() -> str:
    """Of the document what stands between the first race and how one is exported."""
    text = USING.read_text()
    begin, end = (
        text.index("A race ships in `trained/race`"),
        text.index("The page *Race* exports a"),
    )
    return text[begin:end]


def words(text: str) -> list[str]:
    return text.split()


def test_every_word_and_number_of_the_document_is_what_the_outcomes_say():
    assert words(section()) == words(written())


def test_the_rest_of_the_section_says_no_number_of_the_races():
    text = USING.read_text()
    own = text[text.index("\n## Race\n") : text.index("\n## Tasks of the field\n")]
    rest = own.replace(section(), "")
    assert not re.findall(r"\d+", re.sub(r"```.*?```", "", rest, flags=re.DOTALL))


def test_what_has_positions_or_memory_is_what_the_document_says():
    def needs(name: str) -> set[str]:
        return {*installed().scoring_factory(name)(Sizes(4, 4, 4)).needs}

    for name in ("t5_bias", "rope", "alibi", "shaw"):
        assert "positions" in needs(name), name
    for name in ("location_sensitive", "forward_attention", "additive"):
        assert "positions" not in needs(name), name
    assert "memory" in needs("location_sensitive")
    for name in ("learned_metric", "bilinear", "t5_bias"):
        assert "memory" not in needs(name), name


@pytest.mark.parametrize("task", ["sine", "plane"])
def test_floors_of_the_data_are_what_average_pooling_reached(task):
    """The same data are drawn here as in the race."""
    found = limits(task, 50, [*rows(task).values()], None, False)
    assert found
    values = {one.name: one.value.mean for one in found.floors}
    assert values["the mean of the training points"] == pytest.approx(
        values["uniform attention"], rel=1e-4
    )


def test_the_lesson_that_leads_to_copying_leads_to_a_difference():
    """Its link says that T5's bias gains there, after so many steps."""
    assert rows("copy")["t5_bias"].verdict == "better"
    lessons = SHIPPED.parent / "dashboard" / "features" / "lessons" / "lessons.toml"
    (said,) = re.findall(r'^"race\?task=copy" = "(.*)"$', lessons.read_text("utf-8"), re.MULTILINE)
    assert said.endswith(f"gains in a race of {race_of('copy')[0].plan.tasks['copy'].steps} steps")


def test_every_finding_says_after_how_many_steps():
    plan = race_of("copy")[0].plan
    steps = {f"{budget.steps} {ending}" for budget in plan.tasks.values()
             for ending in ("steps", "/")}  # fmt: skip
    findings = re.findall(r"^- (?:.+\n)+?(?=^-|\n)", section(), re.MULTILINE)
    assert len(findings) >= 7
    for finding in findings:
        assert any(f"after {each}" in " ".join(finding.lower().split()) for each in steps), finding
    documents = (USING.parents[2] / "README.md", *USING.parent.glob("*.md"))
    others = [path.read_text("utf-8").replace(section(), "") for path in documents]
    assert not any(re.search(r"\b(lead(s|er)?|gains?|learns? fast\w*|fastest)\b[^.]*\brace", text)
                   for text in others)  # fmt: skip


def at_several_budgets(folder: Path, task: str) -> str:
    """What holds at all budgets of a task among the races of a folder, found by their plans."""
    found = [opened(path.parent) for path in sorted(folder.glob("race*/race.json"))]
    budgets = [(race.plan.tasks[task], outcomes) for race, outcomes in found
               if task in race.plan.tasks]  # fmt: skip
    reference = next(row.contestant for row in rows(task).values() if row.verdict == "reference")
    one = at_budgets(budgets, task, reference=reference, higher_is_better=higher_is_better(task))
    return f"*{TITLES[task]}.* {' '.join(one.sentences())}" if one else ""


def test_a_race_at_another_budget_would_have_to_be_told(tmp_path):
    """As the one that ships says it of its own outcomes, whatever its folder is called."""
    race, outcomes = race_of("copy")
    few = race.plan.contestants[46:52]
    own = [o for o in outcomes if o.trial.task == "copy" and o.trial.contestant in few]
    plan = replace(race.plan, contestants=few, tasks={"copy": race.plan.tasks["copy"]})
    for name, times in (("race", 1), ("race-of-others", 2)):
        longer = {task: one.longer(times) for task, one in plan.tasks.items()}
        made = Race.create(tmp_path / name, replace(plan, tasks=longer), {})
        lines = [json.dumps(replace(o, example=None).to_json()) for o in own]
        (made.folder / OUTCOMES).write_text("\n".join(lines))
    said = at_several_budgets(tmp_path, "copy")
    assert "After 192 / 384 steps, with the 12 seeds and the 5 contestants" in said
    assert "0 change their leader beyond chance" in said
    assert said not in " ".join(USING.read_text().split())


def test_steps_are_whole_batches():
    budget = race_of("phrasebook")[0].plan.tasks["phrasebook"]
    assert budget.steps == 12 * math.ceil(3000 / 32)
