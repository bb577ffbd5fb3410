"""A task of the field in a race: every contestant's best training, and how each went."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from attention_plugins.race.field.results import Cell, cells, sentences
from attention_plugins.race.field.tasks import FLOORS, TASKS
from attention_plugins.race.records import Budget, Outcome
from dashboard.features.race.task_import import entrant, known
from dashboard.records.request import Result

_CELLS = pa.schema(
    [
        *((name, pa.string()) for name in ("key", "model", "name", "ended", "problem")),
        *((name, pa.float64()) for name in ("accuracy", "rate", "minutes")),
        *((name, pa.int64()) for name in ("steps", "tried")),
    ]
)  # fmt: skip
_COURSES = pa.schema(
    [("key", pa.string()), *((name, pa.float64()) for name in ("step", "accuracy", "loss"))]
)


def of_field(
    name: str, budget: Budget, models: Sequence[str], own: Sequence[Outcome], facts: dict[str, Any]
) -> Result:
    """The cells of a task for some models.

    Returns:
        Tables ``cells`` (accuracies in %; ``minutes`` of all rates ``tried``) and ``courses``, of
        the best training, by ``key``; facts: ``task``, ``budget``, ``floors``, the best first
        (name and accuracy), ``ceiling``, ``published``, ``sentences``, and those given.
    """
    task = TASKS[name]
    found = [cell for cell in cells(own, name) if cell.contestant.model in models]
    return Result(
        tables={
            "cells": pa.Table.from_pylist([_row(cell) for cell in found], _CELLS),
            "courses": pa.Table.from_pylist(
                [
                    {"key": entrant(cell.contestant).key, "step": step, "accuracy": 100 * accuracy,
                     "loss": loss}
                    for cell in found
                    for step, accuracy, loss in cell.best.course
                ],
                _COURSES,
            ),
        },
        facts={
            **facts, "field": name, "task": task.title, "ceiling": 100 * task.ceiling,
            "budget": {"steps": budget.steps, "examples": budget.examples, "rates": budget.rates},
            "solved": None if task.solved is None else 100 * task.solved, "flat": task.flat,
            "floors": sorted(
                ([FLOORS[how], 100 * value] for how, value in task.floors.items()),
                key=lambda floor: -floor[1],
            ),
            "published": [{**one, "accuracy": 100 * one["accuracy"]} for one in task.published],
            "sentences": [*sentences(found, task, budget)],
        },
    )  # fmt: skip


def _row(cell: Cell) -> dict[str, Any]:
    who, best = entrant(cell.contestant), cell.best
    accuracy = None if best.problem else known(100 * best.validation)
    return {
        "key": who.key, "model": who.model, "name": who.name, "ended": best.ended,
        "problem": best.problem, "accuracy": accuracy, "rate": best.trial.rate,
        "steps": best.steps, "tried": len(cell.tried),
        "minutes": sum(one.seconds for one in cell.tried) / 60,
    }  # fmt: skip
