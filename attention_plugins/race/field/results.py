"""What came of a race on a task of the field, and what may be said of it.

Every sentence follows from outcomes and says after which budget.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attention_plugins.marking import gettext_noop
from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import FieldTask
from attention_plugins.race.records import FLAT, SOLVED, Budget, Contestant, Outcome


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
    made = [Cell(who, min(tried, key=_order), tried) for who, tried in found.items()]
    return sorted(
        made, key=lambda cell: (SHAPES[cell.contestant.model].hidden, *_order(cell.best))
    )


def _order(one: Outcome) -> tuple[float, float]:
    """The best first: of those that solved the task whoever did so sooner."""
    if one.ended == SOLVED:
        return -1.0, one.steps
    return (1.0 if one.problem else -one.validation), 0.0


def sentences(found: Sequence[Cell], task: FieldTask, budget: Budget) -> list[str]:
    """What the cells say: who solved the task, and how that is beside published figures."""
    ran = [cell for cell in found if not cell.best.problem]
    tried = [one for cell in ran for one in cell.tried]
    return [*_solved(ran, task, budget), *_beside(ran, task), *_spent(ran, tried, budget)]


def _solved(ran: Sequence[Cell], task: FieldTask, budget: Budget) -> Iterator[str]:
    by_model: dict[str, list[Cell]] = defaultdict(list)
    for cell in ran:
        by_model[cell.contestant.model].append(cell)
    for model, own in by_model.items():
        if task.solved is not None:
            yield gettext_noop(
                "{model}: {solved} of the {count} contestants that ran solved it, with more than "
                "{share:g} % within {steps:,} steps at the best rate tried.",
                model=model, solved=sum(cell.best.ended == SOLVED for cell in own),
                count=len(own), share=100 * task.solved, steps=budget.steps,
            )  # fmt: skip


def _beside(ran: Sequence[Cell], task: FieldTask) -> Iterator[str]:
    for one in task.published:
        name = one.get("scoring")
        here = [100 * cell.best.validation for cell in ran if cell.contestant.name == name]
        if here:
            least = "≥ " if one.get("at_least") else ""
            yield gettext_noop(
                "Published for {mechanism}: {published} % ({source}). Here {name} has "
                "{lowest:.1f} to {highest:.1f} %.",
                mechanism=one["mechanism"], published=f"{least}{100 * one['accuracy']:g}",
                name=name, lowest=min(here), highest=max(here), source=one["source"],
            )  # fmt: skip


def _spent(ran: Sequence[Cell], tried: Sequence[Outcome], budget: Budget) -> Iterator[str]:
    if flat := sum(one.ended == FLAT for one in tried):
        yield gettext_noop(
            "{flat} of {count} trainings were stopped as flat before {steps:,} steps: with these "
            "they might have come further.",
            flat=flat, count=len(tried), steps=budget.steps,
        )  # fmt: skip
    if total := sum(one.seconds for one in tried):
        chosen = sum(cell.best.seconds for cell in ran)
        yield gettext_noop(
            "{hours:.1f} hours of one core or device, {share:.0f} % of them at rates that were "
            "not chosen.",
            hours=total / 3600, share=100 * (total - chosen) / total,
        )  # fmt: skip
