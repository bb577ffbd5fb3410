"""What came of a race on a task of the field, and what may be said of it.

Every sentence follows from outcomes and says after which budget.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attention_plugins.marking import gettext_noop
from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import FieldTask
from attention_plugins.race.records import SOLVED, SPENT, Contestant, Outcome


class Cell(NamedTuple):
    """A contestant's trainings on a task: the best one, and all that were done."""

    contestant: Contestant
    best: Outcome
    tried: Sequence[Outcome]


def cells(outcomes: Iterable[Outcome], task: str) -> list[Cell]:
    """By size of the model, then by accuracy, then by the steps that it took."""
    found: dict[Contestant, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        if one.trial.task == task and one.trial.tuning:
            found[one.trial.contestant].append(one)
    made = [Cell(who, max(tried, key=_merit), tried) for who, tried in found.items()]
    return sorted(made, key=lambda cell: (SHAPES[cell.contestant.model].hidden, *_last(cell.best)))


def _merit(one: Outcome) -> tuple[float, float]:
    accuracy = -1.0 if one.problem else one.validation
    return (accuracy, 0.0) if one.ended != SOLVED else (1.0, -one.steps)


def _last(one: Outcome) -> tuple[float, ...]:
    return tuple(-value for value in _merit(one))


def sentences(found: Sequence[Cell], task: FieldTask) -> list[str]:
    """What the cells say: who solved the task, and how that is beside published figures."""
    ran = [cell for cell in found if not cell.best.problem]
    by_model: dict[str, list[Cell]] = defaultdict(list)
    for cell in ran:
        by_model[cell.contestant.model].append(cell)
    said = []
    for model, own in by_model.items():
        solved = sum(cell.best.ended == SOLVED for cell in own)
        if task.solved is not None:
            said.append(gettext_noop(
                "{model}: {solved} of {count} contestants solved it, that is above {share:g} %, "
                "within {steps:,} steps at the best rate tried.",
                model=model, solved=solved, count=len(own), share=100 * task.solved,
                steps=task.budget.steps,
            ))  # fmt: skip
    for one in task.published:
        here = [100 * cell.best.validation for cell in ran
                if cell.contestant.name == one.get("scoring")]  # fmt: skip
        if here:
            form = (
                gettext_noop("Published for {mechanism}: at least {published:g} %; here "
                             "{lowest:.1f} to {highest:.1f} % ({source}).")
                if one.get("at_least") else
                gettext_noop("Published for {mechanism}: {published:g} %; here {lowest:.1f} to "
                             "{highest:.1f} % ({source}).")
            )  # fmt: skip
            said.append(gettext_noop(
                form, mechanism=one["mechanism"], published=100 * one["accuracy"],
                lowest=min(here), highest=max(here), source=one["source"],
            ))  # fmt: skip
    tried = [one for cell in ran for one in cell.tried]
    if early := sum(one.ended not in (SOLVED, SPENT, "") for one in tried):
        said.append(gettext_noop(
            "{early} of {count} trainings were stopped as flat before their {steps:,} steps; with "
            "them they may have come further.",
            early=early, count=len(tried), steps=task.budget.steps,
        ))  # fmt: skip
    if total := sum(one.seconds for one in tried):
        chosen = sum(cell.best.seconds for cell in ran)
        said.append(gettext_noop(
            "{hours:.1f} hours of one core, {share:.0f} % of them at rates that were not chosen.",
            hours=total / 3600, share=100 * (total - chosen) / total,
        ))  # fmt: skip
    return said
