"""Reads a race in a worker: the standings of a task, a matrix of all tasks, or an upload."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.data import limits
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import Budget, Contestant, Outcome, equals_of
from attention_plugins.race.standings import Standing, baseline, comparisons, overall
from attention_plugins.race.statistics import Estimate, ranks
from attention_plugins.race.trials import higher_is_better
from dashboard.features.race.task_import import entrant, known, race_of, reference_of, taken_in
from dashboard.features.race.task_run import entered, run
from dashboard.features.race.task_standings import REAL, TEXT, WHOLE, of_task
from dashboard.features.race.view import ENTRY, IMPORT, MATRIX, STANDINGS
from dashboard.jobs.racing import RUN
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

FARTHEST = 3.0  # standard deviations, beyond which all differences are drawn alike
_CELLS = pa.schema(
    [
        ("task", TEXT), ("model", TEXT), ("name", TEXT), ("quality", REAL),
        ("difference", REAL), ("effect", REAL), ("p", REAL), ("verdict", TEXT),
        ("rank", WHOLE), ("seeds", WHOLE), ("problem", TEXT), ("equals", pa.list_(TEXT)),
    ]
)  # fmt: skip
_OVERALL = pa.schema(
    [("model", TEXT), ("name", TEXT), ("rank", REAL), ("place", WHOLE), ("tasks", WHOLE)]
)

Column = dict[Contestant, list[Outcome]]


def matrix(request: Request, context: Context) -> Result:
    """Compare all contestants of a race with the one of a scoring and a normaliser.

    The request's scoring and the option ``normaliser`` are the reference, in each model.

    Returns:
        Tables ``cells`` (a row for each task and contestant: ``effect`` is the paired difference,
        positive where better, in standard deviations over seeds, those of both pooled; at most
        :data:`FARTHEST`) and ``overall`` (the mean rank over all tasks of a model); facts
        ``left_out``: tasks that are not installed, ``budget``: the fewest and the most ``steps``
        and ``rates`` of a task, ``undecided``: steps after which a task decides nothing.
    """
    race = race_of(request)
    columns: dict[tuple[str, str], Column] = defaultdict(lambda: defaultdict(list))
    outcomes = race.outcomes()
    for outcome in outcomes:
        trial = outcome.trial
        columns[trial.task, trial.contestant.model][trial.contestant].append(outcome)
    cells: list[dict[str, Any]] = []
    by_model: dict[str, dict[str, list[Standing]]] = defaultdict(dict)
    left_out, undecided, budgets = list[str](), dict[str, int](), list[Budget]()
    for number, task in enumerate(race.plan.tasks):
        context.report(
            number / len(race.plan.tasks), gettext_noop("Comparing on {task}", task=task)
        )
        if task in FIELD:
            continue
        try:
            higher = higher_is_better(task)
        except ContractError:
            left_out.append(task)
            continue
        budgets.append(race.plan.tasks[task])
        for model in dict.fromkeys(one.model for one in race.plan.contestants):
            if column := columns.get((task, model)):
                found = _compared(column, reference_of(request, model), higher, race.plan.seeds)
                cells += ({"task": task, "model": model, **cell} for cell in found)
                by_model[model][task] = _ranked(column, found)
        own = [row for by_task in by_model.values() for row in by_task.get(task, ())]
        copied = baseline(outcomes, task)
        limit = limits(task, race.plan.tasks[task].examples, own, copied, higher)
        if limit and not limit.decides:
            undecided[task] = race.plan.tasks[task].steps
    sizes = {
        "steps": [one.steps for one in budgets], "rates": [len(one.rates) for one in budgets],
    }  # fmt: skip
    return Result(
        tables={
            "cells": pa.Table.from_pylist(cells, _CELLS),
            "overall": pa.Table.from_pylist(
                [
                    {
                        "model": model, "name": entrant(one.contestant).name,
                        "rank": one.mean_rank, "place": one.place, "tasks": len(one.ranks),
                    }
                    for model, by_task in by_model.items()
                    for one in overall(by_task)
                ],
                _OVERALL,
            ),
        },
        facts={
            "left_out": left_out, "undecided": undecided, "farthest": FARTHEST,
            "budget": {name: (min(own), max(own)) for name, own in sizes.items() if own},
        },
    )  # fmt: skip


def _compared(
    column: Column, reference: Contestant, higher: bool, seeds: int
) -> list[dict[str, Any]]:
    # By seed; of equal trials the first.
    reported = {
        who: {one.trial.seed: one for one in reversed(found) if not one.trial.tuning}
        for who, found in column.items()
    }
    values = {
        who: np.array([own[n].quality if n in own else math.nan for n in range(seeds)])
        for who, own in reported.items()
    }
    alike = equals_of(reported, reference)
    own = {who: values[who] for who in alike if np.isfinite(values[who]).any()}
    found = ranks([row.tolist() for row in own.values()], higher) if own else []
    rank = dict(zip(own, found, strict=True))
    compared = {}
    if reference in own:
        rows = {who: row.tolist() for who, row in own.items()}
        compared = comparisons(rows, reference, higher_is_better=higher, intervals=False)
    cells = []
    for who, row in values.items():
        first = next(one for one, others in alike.items() if who == one or who in others)
        held = row[np.isfinite(row)]
        cell = {
            "name": entrant(who).name, "rank": rank.get(first), "seeds": len(held),
            "quality": float(held.mean()) if len(held) else None,
            "verdict": _state(first, reference, column[who]),
            "problem": next((one.problem for one in column[who] if one.problem), ""),
            "equals": [entrant(one).name for one in (first, *alike[first]) if one != who],
        }  # fmt: skip
        if (one := compared.get(first)) and one.difference.pairs:
            cell |= {
                "difference": known(one.difference.mean), "p": known(one.corrected_p),
                "effect": _effect(row, values[reference], higher), "verdict": one.verdict,
            }  # fmt: skip
        cells.append(cell)
    return cells


def _state(who: Contestant, reference: Contestant, found: Sequence[Outcome]) -> str:
    if any(math.isfinite(one.quality) for one in found):
        return "reference" if who == reference else "no reference"
    return "could not run" if any(one.problem for one in found) else "not yet run"


def _effect(ours: np.ndarray, theirs: np.ndarray, higher: bool) -> float:
    """The mean difference in pooled standard deviations over those seeds that both have."""
    gain = (ours - theirs) * (1 if higher else -1)
    both = np.isfinite(gain)
    if both.sum() < 2:
        return 0.0
    mean = float(gain[both].mean())
    spread = math.sqrt((ours[both].var(ddof=1) + theirs[both].var(ddof=1)) / 2)
    if spread == 0:
        return math.copysign(FARTHEST, mean) if mean else 0.0
    return float(np.clip(mean / spread, -FARTHEST, FARTHEST))


def _ranked(column: Column, cells: Sequence[Mapping[str, Any]]) -> list[Standing]:
    return [
        Standing(
            contestant=who, difference=None, corrected_p=math.nan, verdict="reference",
            seeds_needed=None, rank=cell["rank"], seeds=cell["seeds"],
            quality=Estimate(
                math.nan if cell["quality"] is None else cell["quality"],
                math.nan, math.nan, cell["seeds"],
            ),
        )
        for who, cell in zip(column, cells, strict=True)
    ]  # fmt: skip


_SHOWN = {STANDINGS: of_task, MATRIX: matrix, IMPORT: taken_in, ENTRY: entered, RUN: run}


def perform(request: Request, context: Context) -> Result:
    """Read the race that ``request.data`` names, for what the option ``show`` says.

    ValueError for no such race, an option that is missing, or a data set that is not installed.
    """
    shown = str(dict(request.options).get("show", ""))
    if shown not in _SHOWN:
        raise ValueError(f"need show to be one of {', '.join(_SHOWN)}, got {shown[:60]!r}")
    return _SHOWN[shown](request, context)
