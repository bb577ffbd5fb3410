"""A task of the field in a race: every contestant's best training, and how each went."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import pyarrow as pa

from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.results import PARTS, Cell, cells, published, sentences
from attention_plugins.race.field.tasks import FLOORS, TASKS
from attention_plugins.race.records import SOLVED, Budget, Outcome, Plan
from dashboard.features.race.task_import import entrant, known
from dashboard.records.request import Result


def of_field(
    name: str, plan: Plan, models: Sequence[str], own: Sequence[Outcome], facts: dict[str, Any]
) -> Result:
    """The cells of a task for some models.

    Returns:
        Tables ``cells`` (accuracies in %; ``minutes`` of all rates ``tried``), ``courses``, over
        all trainings at the best rate, by ``key``, and ``published``: the figures for any task of
        the race beside what came here; facts: ``task``, ``limits`` (the best floor, how it is had,
        and the ceiling, in %), ``budget``, ``solved`` (above how many %), ``flat`` (epochs),
        ``sentences``, and those given.
    """
    task, budget = TASKS[name], plan.tasks[name]
    found = [cell for cell in cells(own, name) if cell.contestant.model in models]
    how, floor = max(task.floors.items(), key=lambda one: one[1])
    courses = [point for cell in found for point in _course(cell, own)]
    others = [cell for each in plan.tasks if each in TASKS and TASKS[each].of == name
              for cell in cells(own, each)]  # fmt: skip
    beside = [
        {
            **one, "task": TASKS[each].title, "model": cell.contestant.model,
            "published": 100 * one["accuracy"], "name": entrant(cell.contestant).name,
            "accuracy": 100 * cell.best.validation,
            "difference": 100 * (cell.best.validation - one["accuracy"]),
        }
        for each in plan.tasks if each in TASKS
        for one, cell in published(cells(own, each), TASKS[each])
        if cell.through(plan.tasks[each].rates)
    ]  # fmt: skip
    return Result(
        tables={
            "cells": pa.Table.from_pylist([_row(cell, budget) for cell in found]),
            "courses": pa.Table.from_pylist(courses), "published": pa.Table.from_pylist(beside),
        },
        facts={
            **facts, "field": name, "task": task.title,
            "limits": {"floor": 100 * floor, "how": FLOORS[how], "ceiling": 100 * task.ceiling},
            "budget": {"steps": budget.steps, "examples": budget.examples,
                       "rates": len(budget.rates)},
            "solved": 100 * task.solved if task.solved else None, "flat": task.flat,
            "sentences": [*sentences(found, task, budget, others)],
        },
    )  # fmt: skip


def _course(cell: Cell, own: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """Mean, least and most accuracy of the trainings at the best rate after each epoch, in %.

    One that ended before another keeps its last accuracy.
    """
    best = cell.best.trial
    same = [one.course for one in own if one.course and one.trial.contestant == best.contestant
            and (one.trial.task, one.trial.rate) == (best.task, best.rate)]  # fmt: skip
    for epoch, (step, *_) in enumerate(max(same, key=len, default=())):
        values = [100 * course[min(epoch, len(course) - 1)][1] for course in same]
        yield {
            "key": entrant(best.contestant).key, "x": step, "y": fmean(values),
            "low": min(values), "high": max(values), "seeds": len(same),
        }  # fmt: skip


def _row(cell: Cell, budget: Budget) -> dict[str, Any]:
    who, best = entrant(cell.contestant), cell.best
    on_the_way = {f"part_{n}": known(100 * cell.by(budget.steps // n)) for n in PARTS[:-1]}
    return {
        "key": who.key, "model": who.model, "size": SHAPES[who.model].hidden, "name": who.name,
        "ended": best.ended or best.problem, "solved": best.ended == SOLVED,
        "accuracy": None if best.problem else known(100 * best.validation),
        "rate": best.trial.rate, "steps": best.steps, "tried": len(cell.tried),
        **on_the_way, "minutes": sum(one.seconds for one in cell.tried) / 60,
    }  # fmt: skip
