"""Every contestant on every task against one reference, and the mean rank over tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Contestant, Outcome
from attention_plugins.race.standings import Standing, overall
from attention_plugins.race.statistics import (
    LEVEL,
    Estimate,
    corrected,
    ranks,
    sign_flip_ps,
    smallest_p,
)
from attention_plugins.race.trials import higher_is_better
from dashboard.features.race.task_race import entrant, known, race_of
from dashboard.jobs.context import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.result import Result

FARTHEST = 3.0  # standard deviations, beyond which all differences are drawn alike
_TEXT, _REAL, _WHOLE = pa.string(), pa.float64(), pa.int64()
_CELLS = pa.schema(
    [
        ("task", _TEXT), ("model", _TEXT), ("name", _TEXT), ("quality", _REAL),
        ("difference", _REAL), ("effect", _REAL), ("p", _REAL), ("verdict", _TEXT),
        ("rank", _WHOLE), ("seeds", _WHOLE), ("problem", _TEXT),
    ]
)  # fmt: skip
_OVERALL = pa.schema(
    [("model", _TEXT), ("name", _TEXT), ("rank", _REAL), ("place", _WHOLE), ("tasks", _WHOLE)]
)
_NOTHING = Estimate(math.nan, math.nan, math.nan, 0)

Column = dict[Contestant, list[Outcome]]


def matrix(request: Request, context: Context) -> Result:
    """Compare all contestants of a race with the one of a scoring and a normaliser.

    The request's scoring and the option ``normaliser`` are the reference, in each model.

    Returns:
        Tables ``cells`` (a row for each task and contestant: ``effect`` is the paired difference,
        positive where better, in standard deviations over seeds, those of both pooled; at most
        :data:`FARTHEST`) and ``overall`` (the mean rank over all tasks of a model); facts
        ``left_out``: tasks that are not installed.

    Raises:
        ValueError: no such race.
    """
    race = race_of(request)
    columns: dict[tuple[str, str], Column] = defaultdict(lambda: defaultdict(list))
    for outcome in race.outcomes():
        trial = outcome.trial
        columns[trial.task, trial.contestant.model][trial.contestant].append(outcome)
    cells: list[dict[str, Any]] = []
    by_model: dict[str, dict[str, list[Standing]]] = defaultdict(dict)
    left_out = []
    for number, task in enumerate(race.plan.tasks):
        context.report(
            number / len(race.plan.tasks), gettext_noop("Comparing on {task}", task=task)
        )
        try:
            higher = higher_is_better(task)
        except ContractError:
            left_out.append(task)
            continue
        for model in dict.fromkeys(one.model for one in race.plan.contestants):
            if column := columns.get((task, model)):
                found = _compared(column, _reference(request, model), higher, race.plan.seeds)
                cells += ({"task": task, "model": model, **cell} for cell in found)
                by_model[model][task] = _ranked(column, found)
    return Result(
        tables={
            "cells": pa.Table.from_pylist(cells, _CELLS),
            "overall": pa.Table.from_pylist([*_overall(by_model)], _OVERALL),
        },
        facts={"left_out": left_out, "farthest": FARTHEST},
    )


def _reference(request: Request, model: str) -> Contestant:
    normaliser = str(dict(request.options).get("normaliser", ""))
    return Contestant(model=model, scoring=request.scoring, normaliser=normaliser)


def _compared(
    column: Column, reference: Contestant, higher: bool, seeds: int
) -> list[dict[str, Any]]:
    """A cell for each contestant of one model on one task."""
    values = {who: _by_seed(found, seeds) for who, found in column.items()}
    ran = [who for who, row in values.items() if np.isfinite(row).any()]
    rank = (
        dict(zip(ran, ranks([values[who].tolist() for who in ran], higher), strict=True))
        if ran
        else {}
    )
    sign = 1 if higher else -1
    theirs = values.get(reference, np.full(seeds, math.nan))
    others = [who for who in ran if who != reference and reference in ran]
    gains = np.array([sign * (values[who] - theirs) for who in others]).reshape(-1, seeds)
    pairs = np.isfinite(gains).sum(axis=1)
    ps = sign_flip_ps(np.nan_to_num(gains)) if len(gains) else np.array([])
    found = corrected(np.where(pairs > 0, ps, math.nan).tolist())
    compared = {
        who: (gain, p, count)
        for who, gain, p, count in zip(others, gains, found, pairs, strict=True)
    }
    cells = []
    for who, row in values.items():
        cell = {
            "name": entrant(who).name, "quality": known(_mean(row)), "rank": rank.get(who),
            "seeds": int(np.isfinite(row).sum()), "verdict": _state(who, reference, column[who]),
            "problem": next((one.problem for one in column[who] if one.problem), ""),
        }  # fmt: skip
        if who in compared and compared[who][2]:
            gain, p, count = compared[who]
            cell |= {
                "difference": known(_mean(gain)), "effect": _effect(row, theirs, gain),
                "p": known(p), "verdict": _verdict(gain, p, len(others) * smallest_p(count)),
            }  # fmt: skip
        cells.append(cell)
    return cells


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


def _verdict(gain: np.ndarray, p: float, smallest: float) -> str:
    if p <= LEVEL:
        return "better" if _mean(gain) > 0 else "worse"
    return "too few seeds" if smallest > LEVEL else "no difference found"


def _effect(ours: np.ndarray, theirs: np.ndarray, gain: np.ndarray) -> float:
    """The mean difference in pooled standard deviations over those seeds that both have."""
    both, mean = np.isfinite(gain), _mean(gain)
    if both.sum() < 2:
        return 0.0
    spread = math.sqrt((ours[both].var(ddof=1) + theirs[both].var(ddof=1)) / 2)
    if spread == 0:
        return math.copysign(FARTHEST, mean) if mean else 0.0
    return float(np.clip(mean / spread, -FARTHEST, FARTHEST))


def _ranked(column: Column, cells: Sequence[Mapping[str, Any]]) -> list[Standing]:
    """What :func:`overall` reads of a standing."""
    return [
        Standing(
            contestant=who, quality=_NOTHING, difference=None, corrected_p=math.nan,
            verdict="reference", seeds_needed=None, rank=cell["rank"],
        )
        for who, cell in zip(column, cells, strict=True)
    ]  # fmt: skip


def _overall(by_model: Mapping[str, Mapping[str, Sequence[Standing]]]) -> Iterator[dict[str, Any]]:
    for model, by_task in by_model.items():
        for one in overall(by_task):
            yield {
                "model": model, "name": entrant(one.contestant).name, "rank": one.mean_rank,
                "place": one.place, "tasks": len(one.ranks),
            }  # fmt: skip
