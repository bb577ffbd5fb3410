"""A task of the field in a race: every contestant's best training, and how each went."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from attention_plugins.race.field.results import PARTS, Cell, cells, sentences
from attention_plugins.race.field.tasks import FLOORS, TASKS
from attention_plugins.race.records import Budget, Outcome
from dashboard.features.race.task_import import entrant, known
from dashboard.records.request import Result


def of_field(
    name: str, budget: Budget, models: Sequence[str], own: Sequence[Outcome], facts: dict[str, Any]
) -> Result:
    """The cells of a task for some models.

    Returns:
        Tables ``cells`` (accuracies in %; ``minutes`` of all rates ``tried``) and ``courses``, of
        the best training, by ``key``; facts: ``task``, ``limits`` (the best floor, how it is had,
        and the ceiling, in %), ``budget``, ``solved`` (above how many %), ``flat`` (epochs),
        ``sentences``, and those given.
    """
    task = TASKS[name]
    found = [cell for cell in cells(own, name) if cell.contestant.model in models]
    how, floor = max(task.floors.items(), key=lambda one: one[1])
    courses = [
        {"key": entrant(cell.contestant).key, "x": step, "y": 100 * accuracy, "loss": loss}
        for cell in found
        for step, accuracy, loss in cell.best.course
    ]
    return Result(
        tables={
            "cells": pa.Table.from_pylist([_row(cell, budget) for cell in found]),
            "courses": pa.Table.from_pylist(courses),
        },
        facts={
            **facts, "field": name, "task": task.title,
            "limits": {"floor": 100 * floor, "how": FLOORS[how], "ceiling": 100 * task.ceiling},
            "budget": {"steps": budget.steps, "examples": budget.examples,
                       "rates": len(budget.rates)},
            "solved": 100 * task.solved if task.solved else None, "flat": task.flat,
            "sentences": [*sentences(found, task, budget)],
        },
    )  # fmt: skip


def _row(cell: Cell, budget: Budget) -> dict[str, Any]:
    who, best = entrant(cell.contestant), cell.best
    on_the_way = {
        f"part_{part}": known(100 * cell.by(budget.steps // part)) for part in PARTS[:-1]
    }
    return {
        "key": who.key, "model": who.model, "name": who.name, "ended": best.ended or best.problem,
        "accuracy": None if best.problem else known(100 * best.validation),
        "rate": best.trial.rate, "steps": best.steps, "tried": len(cell.tried),
        **on_the_way, "minutes": sum(one.seconds for one in cell.tried) / 60,
    }  # fmt: skip
