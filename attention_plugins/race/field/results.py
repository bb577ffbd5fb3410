"""What came of a race on a task of the field, and what may be said of it.

Every sentence follows from outcomes and says after which budget.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from attention_plugins.beside import beside
from attention_plugins.marking import gettext_noop
from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import TASKS, FieldTask
from attention_plugins.race.records import FLAT, SOLVED, Budget, Contestant, Outcome

PARTS = (8, 4, 2, 1)  # of a budget, after which accuracies are told
NEAR = 5  # points, within which a figure counts as reached
_SAID = beside(__file__, "words.toml")["said"]


class Cell(NamedTuple):
    """A contestant's trainings on a task: the best one, and all that were done."""

    contestant: Contestant
    best: Outcome
    tried: Sequence[Outcome]

    def by(self, steps: float) -> float:
        """The best accuracy that any training had up to a step; NaN before the first test."""
        found = [value for one in self.tried for step, value, _ in one.course if step <= steps]
        return max(found, default=math.nan)

    def through(self, rates: Sequence[float]) -> bool:
        """Whether no rate is left to try that might be better."""
        return self.best.ended == SOLVED or {*rates} <= {one.trial.rate for one in self.tried}


def cells(outcomes: Iterable[Outcome], task: str) -> list[Cell]:
    """By size of the model, then by accuracy; of those that solved it whoever did so sooner.

    Contestants whose model is none of the field are left out.
    """
    found: dict[Contestant, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        trial = one.trial
        if trial.task == task and trial.tuning and trial.contestant.model in SHAPES:
            found[trial.contestant].append(one)
    made = [Cell(who, min(tried, key=_order), tried) for who, tried in found.items()]
    sizes = {who: SHAPES[who.model].hidden for who in found}
    return sorted(made, key=lambda cell: (sizes[cell.contestant], *_order(cell.best)))


def _order(one: Outcome) -> tuple[float, float]:
    if one.ended == SOLVED:
        return -1.0, one.steps
    return (1.0 if one.problem else -one.validation), 0.0


def published(found: Sequence[Cell], task: FieldTask) -> Iterator[tuple[Mapping[str, Any], Cell]]:
    """Each published figure with each cell of the scoring that it is of."""
    for one in task.published:
        for cell in found:
            if cell.contestant.name == one.get("scoring") and not cell.best.problem:
                yield one, cell


def sentences(
    found: Sequence[Cell], task: FieldTask, budget: Budget, others: Sequence[Cell] = ()
) -> Iterator[str]:
    """What the cells say: who solved the task, and how that is beside published figures.

    ``others`` are cells of the other settings of a task whose published figures are means.
    """
    begun = [cell for cell in found if not cell.best.problem]
    ran = [cell for cell in begun if cell.through(budget.rates)]
    tried = [one for cell in found for one in cell.tried]
    for model in dict.fromkeys(cell.contestant.model for cell in ran if task.solved):
        own = [cell for cell in ran if cell.contestant.model == model]
        marks = [budget.steps // part for part in PARTS]
        counts = [sum(cell.by(mark) > (task.solved or 0) for cell in own) for mark in marks]
        yield gettext_noop(
            _SAID["solved"], model=model, count=len(own), share=100 * (task.solved or 0),
            solved=", ".join(map(str, counts)), steps=" · ".join(f"{mark:,}" for mark in marks),
        )  # fmt: skip
    for one in task.published:
        own = [cell for each, cell in published(ran, task) if each is one]
        here = [100 * cell.best.validation for cell in own]
        if not here:
            continue
        yield gettext_noop(
            _SAID[one["form"]], mechanism=one["mechanism"], name=one["scoring"],
            steps=budget.steps, published=100 * one["accuracy"], source=one["source"],
            settings=task.averaged,
            here="–".join(dict.fromkeys(f"{end:.1f}" for end in (min(here), max(here)))),
        )  # fmt: skip
        if one["form"] == "averaged":
            best = max(own, key=lambda cell: cell.best.validation)
            yield from _averaged(best, task, 100 * one["accuracy"], others)
    if left := len(begun) - len(ran):
        yield gettext_noop(_SAID["left"], left=left, count=len(begun))
    if flat := sum(one.ended == FLAT for one in tried):
        yield gettext_noop(_SAID["flat"], flat=flat, count=len(tried), steps=budget.steps)
    if total := sum(one.seconds for one in tried):
        share = 100 * (total - sum(cell.best.seconds for cell in begun)) / total
        yield gettext_noop(_SAID["cost"], hours=total / 3600, share=share)


def _averaged(best: Cell, task: FieldTask, mean: float, others: Iterable[Cell]) -> Iterator[str]:
    """How far a contestant is from a published mean, and what it has at its other settings."""
    values = [100 * best.best.validation]
    said = []
    for cell in others:
        other = TASKS[cell.best.trial.task]
        if cell.contestant == best.contestant and cell.through(other.budget.rates):
            values.append(100 * cell.best.validation)
            changed = "vocabulary" if other.vocabulary != task.vocabulary else "examples"
            count = other.vocabulary if changed == "vocabulary" else other.budget.examples
            said.append(gettext_noop(_SAID[changed], count=count, here=values[-1]))
    left = task.averaged - len(values)
    points = (values[0] if left else fmean(values)) - mean
    near = "above" if points > NEAR else "below" if points < -NEAR else "near"
    away = gettext_noop(_SAID[near], points=abs(points), near=NEAR)
    if left:
        yield from (away, *said)
        yield gettext_noop(_SAID["missing"], left=left, settings=task.averaged)
    else:
        yield from said
        yield gettext_noop(_SAID["mean"], mean=fmean(values), settings=task.averaged)
        yield away
