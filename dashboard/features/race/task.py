"""Reads a race in a worker: the standings of a task, a matrix of all tasks, or an upload."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.data import limits
from attention_plugins.race.records import Budget, Contestant, Outcome, equals_of
from attention_plugins.race.standings import Standing, baseline, comparisons, overall
from attention_plugins.race.statistics import Estimate, ranks
from attention_plugins.race.trials import higher_is_better
from dashboard.features.race.task_import import entrant, known, race_of, taken_in
from dashboard.features.race.task_standings import of_task
from dashboard.features.race.view import IMPORT, MATRIX, STANDINGS
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

FARTHEST = 3.0  # standard deviations, beyond which all differences are drawn alike
_TEXT, _REAL, _WHOLE = pa.string(), pa.float64(), pa.int64()
_CELLS = pa.schema(
    [
        ("task", _TEXT), ("model", _TEXT), ("name", _TEXT), ("quality", _REAL),
        ("difference", _REAL), ("effect", _REAL), ("p", _REAL), ("verdict", _TEXT),
        ("rank", _WHOLE), ("seeds", _WHOLE), ("problem", _TEXT), ("equals", pa.list_(_TEXT)),
    ]
)  # fmt: skip
_OVERALL = pa.schema(
    [("model", _TEXT), ("name", _TEXT), ("rank", _REAL), ("place", _WHOLE), ("tasks", _WHOLE)]
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
        and ``rates`` of a task, ``undecided``: tasks that decide nothing.

    Raises:
        ValueError: no such race.
    """
    race = race_of(request)
    columns: dict[tuple[str, str], Column] = defaultdict(lambda: defaultdict(list))
    outcomes = race.outcomes()
    for outcome in outcomes:
        trial = outcome.trial
        columns[trial.task, trial.contestant.model][trial.contestant].append(outcome)
    cells: list[dict[str, Any]] = []
    by_model: dict[str, dict[str, list[Standing]]] = defaultdict(dict)
    left_out, undecided, budgets = list[str](), list[str](), list[Budget]()
    for number, task in enumerate(race.plan.tasks):
        context.report(
            number / len(race.plan.tasks), gettext_noop("Comparing on {task}", task=task)
        )
        try:
            higher = higher_is_better(task)
        except ContractError:
            left_out.append(task)
            continue
        budgets.append(race.plan.tasks[task])
        for model in dict.fromkeys(one.model for one in race.plan.contestants):
            if column := columns.get((task, model)):
                found = _compared(column, _reference(request, model), higher, race.plan.seeds)
                cells += ({"task": task, "model": model, **cell} for cell in found)
                by_model[model][task] = _ranked(column, found)
        own = [row for by_task in by_model.values() for row in by_task.get(task, ())]
        copied = baseline(outcomes, task)
        limit = limits(task, race.plan.tasks[task].examples, own, copied, higher)
        if limit and not limit.decides:
            undecided.append(task)
    return Result(
        tables={
            "cells": pa.Table.from_pylist(cells, _CELLS),
            "overall": pa.Table.from_pylist([*_overall(by_model)], _OVERALL),
        },
        facts={
            "left_out": left_out,
            "undecided": undecided,
            "farthest": FARTHEST,
            "budget": _budget(budgets),
        },
    )


def _budget(found: Sequence[Budget]) -> dict[str, tuple[int, int]]:
    steps, rates = [one.steps for one in found], [len(one.rates) for one in found]
    return {
        name: (min(own), max(own)) for name, own in (("steps", steps), ("rates", rates)) if own
    }


def _reference(request: Request, model: str) -> Contestant:
    normaliser = str(dict(request.options).get("normaliser", ""))
    return Contestant(model=model, scoring=request.scoring, normaliser=normaliser)


def _compared(
    column: Column, reference: Contestant, higher: bool, seeds: int
) -> list[dict[str, Any]]:
    """A cell for each contestant of one model on one task."""
    values = {who: _by_seed(found, seeds) for who, found in column.items()}
    alike = equals_of({who: _reported(found) for who, found in column.items()}, reference)
    own = {who: values[who] for who in alike if np.isfinite(values[who]).any()}
    found = ranks([row.tolist() for row in own.values()], higher) if own else []
    rank = dict(zip(own, found, strict=True))
    compared = (
        comparisons(
            {who: row.tolist() for who, row in own.items()},
            reference,
            higher_is_better=higher,
            intervals=False,
        )
        if reference in own
        else {}
    )
    cells = []
    for who, row in values.items():
        first = next(one for one, others in alike.items() if who == one or who in others)
        cell = {
            "name": entrant(who).name, "quality": known(_mean(row)), "rank": rank.get(first),
            "seeds": int(np.isfinite(row).sum()),
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


def _reported(found: Iterable[Outcome]) -> dict[int, Outcome]:
    """By seed; of equal trials the first."""
    return {one.trial.seed: one for one in reversed([*found]) if not one.trial.tuning}


def _by_seed(found: Iterable[Outcome], seeds: int) -> np.ndarray:
    row = np.full(seeds, math.nan)
    for one in found:
        if not one.trial.tuning and one.trial.seed < seeds:
            row[one.trial.seed] = one.quality
    return row


def _mean(row: np.ndarray) -> float:
    held = row[np.isfinite(row)]
    return float(held.mean()) if len(held) else math.nan


def _state(who: Contestant, reference: Contestant, found: Sequence[Outcome]) -> str:
    """What is said of a contestant that is not compared."""
    if any(math.isfinite(one.quality) for one in found):
        return "reference" if who == reference else "no reference"
    return "could not run" if any(one.problem for one in found) else "not yet run"


def _effect(ours: np.ndarray, theirs: np.ndarray, higher: bool) -> float:
    """The mean difference in pooled standard deviations over those seeds that both have."""
    gain = (ours - theirs) * (1 if higher else -1)
    both, mean = np.isfinite(gain), _mean(gain)
    if both.sum() < 2:
        return 0.0
    spread = math.sqrt((ours[both].var(ddof=1) + theirs[both].var(ddof=1)) / 2)
    if spread == 0:
        return math.copysign(FARTHEST, mean) if mean else 0.0
    return float(np.clip(mean / spread, -FARTHEST, FARTHEST))


def _ranked(column: Column, cells: Sequence[Mapping[str, Any]]) -> list[Standing]:
    """What :func:`overall` and :func:`limits` read of a standing."""
    found = []
    for who, cell in zip(column, cells, strict=True):
        mean = math.nan if cell["quality"] is None else cell["quality"]
        quality = Estimate(mean, math.nan, math.nan, cell["seeds"])
        found.append(
            Standing(
                contestant=who, quality=quality, difference=None, corrected_p=math.nan,
                verdict="reference", seeds_needed=None, rank=cell["rank"], seeds=cell["seeds"],
            )
        )  # fmt: skip
    return found


def _overall(by_model: Mapping[str, Mapping[str, Sequence[Standing]]]) -> Iterator[dict[str, Any]]:
    for model, by_task in by_model.items():
        for one in overall(by_task):
            yield {
                "model": model, "name": entrant(one.contestant).name, "rank": one.mean_rank,
                "place": one.place, "tasks": len(one.ranks),
            }  # fmt: skip


_SHOWN = {STANDINGS: of_task, MATRIX: matrix, IMPORT: taken_in}


def perform(request: Request, context: Context) -> Result:
    """Read the race that ``request.data`` names, for what the option ``show`` says.

    Returns:
        See :func:`of_task`, :func:`matrix` and :func:`taken_in`.

    Raises:
        ValueError: no such race, an option that is missing, or a data set that is not installed.
    """
    shown = str(dict(request.options).get("show", ""))
    if shown not in _SHOWN:
        raise ValueError(f"need show to be one of {', '.join(_SHOWN)}, got {shown[:60]!r}")
    return _SHOWN[shown](request, context)
