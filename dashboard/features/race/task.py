"""Reads a race in a worker: a task's standings, a matrix of all tasks, an upload; and runs one."""

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from attention_plugins.commands.race import run_facts
from attention_plugins.contract import ContractError
from attention_plugins.devices import resolve
from attention_plugins.race import trials
from attention_plugins.race.data import limits
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan, equals_of
from attention_plugins.race.standings import Standing, baseline, comparisons
from attention_plugins.race.statistics import Estimate, ranks
from attention_plugins.registry import installed
from dashboard.features.race.task_import import entrant, known, race_of, reference_of, taken_in
from dashboard.features.race.task_standings import REAL, TEXT, WHOLE, of_task
from dashboard.features.race.view import ENTERED, ENTRY, IMPORT, MATRIX, STANDINGS
from dashboard.jobs.racing import RUN
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.records.training import MOST_SECONDS

FARTHEST = 3.0  # standard deviations, beyond which all differences are drawn alike
_CELLS = pa.schema(
    [
        ("task", TEXT), ("model", TEXT), ("name", TEXT), ("quality", REAL),
        ("difference", REAL), ("effect", REAL), ("p", REAL), ("verdict", TEXT),
        ("rank", WHOLE), ("seeds", WHOLE), ("problem", TEXT), ("equals", pa.list_(TEXT)),
    ]
)  # fmt: skip

Column = dict[Contestant, list[Outcome]]
_MOST_TIMES, _MOST_SCORINGS = 16, 20


def entered(request: Request, context: Context) -> Result:
    """A race of scorings beside those of the race that ``request.data`` names, not yet run.

    At its budget all its contestants take part, with what is known of them. At a larger one, the
    option ``times`` as many epochs, or by so many rounds of ``halving``, the scorings and each
    model's reference start anew, at the rates of a new race.

    Returns:
        Table ``files``: ``plan`` and ``outcomes``; facts ``trials`` that are left to do, at most
        where they are halved, beside those ``kept``, how many ``more`` there may be where a best
        rate lies at the edge of those tried, the ``seconds`` that they take on one core, by what
        those of the other race took, and those of ``tuning`` among them, which only choose rates;
        ``halving`` as given.

    Raises:
        ValueError: an option that is missing or unknown.
    """
    shared, given = race_of(request), dict(request.options)
    tasks, names = (json.loads(str(given[name])) for name in ("tasks", "scorings"))
    times, halving = int(given["times"]), int(given["halving"])
    if not tasks or not names:
        raise ContractError(gettext_noop("need a task and a scoring"))
    if len(names) > _MOST_SCORINGS or not 1 <= times <= _MOST_TIMES:
        raise ContractError(f"need at most {_MOST_SCORINGS} scorings and {_MOST_TIMES} budgets")
    if not 0 <= halving <= trials.TUNING_SEEDS:
        raise ContractError(f"need 0 <= halving <= {trials.TUNING_SEEDS}")
    if unknown := {*tasks} - shared.plan.tasks.keys():
        raise ContractError(f"this race has no task {sorted(unknown)[0]!r}")
    known = shared.outcomes()
    halved = shared.plan.halving  # by which somebody only tried rates
    raced = {one.trial.contestant for one in known
             if one.trial.task in tasks and not (halved and one.trial.tuning)}  # fmt: skip
    anew = times > 1 or halving > 0
    plan, entrants = _plan(shared.plan, tasks, names, None if anew else raced)
    if anew:
        budgets = {task: _anew(task, one).longer(times) for task, one in plan.tasks.items()}
        tuning_seeds = trials.TUNING_SEEDS if plan.seeds else plan.tuning_seeds
        plan = replace(plan, tasks=budgets, tuning_seeds=tuning_seeds, halving=halving)
    kept = [one for one in known if not anew and one.trial.task in plan.tasks
            and one.trial.contestant in plan.contestants]  # fmt: skip
    facts = {
        **run_facts(), "command": "", "joined": shared.facts.get("commit", ""),
        ENTERED: "\n".join(entrants),
    }  # fmt: skip
    written = json.dumps({"plan": plan.to_json(), "facts": facts}, indent=1).encode()
    lines = "".join(json.dumps(one.to_json(), allow_nan=False) + "\n" for one in kept).encode()
    return Result(
        tables={"files": pa.table({"plan": pa.array([written], pa.large_binary()),
                                   "outcomes": pa.array([lines], pa.large_binary())})},
        facts={**_left(plan, kept, known, times), "halving": halving, "cacheable": False},
    )  # fmt: skip


def _anew(task: str, budget: Budget) -> Budget:
    usual = trials.budget_of(task)
    return replace(budget, rates=usual.rates, widen=usual.widen)


def _plan(
    shared: Plan, tasks: list[str], names: list[str], raced: Collection[Contestant] | None
) -> tuple[Plan, list[str]]:
    """The plan beside those who raced, or beside each model's reference; and whom it enters."""
    registry = installed()
    kinds = {trials.kind_of(task) for task in tasks}
    models = [each for each in dict.fromkeys(one.model for one in shared.contestants)
              if trials.kind_of_model(each) in kinds]  # fmt: skip
    rivals = [Contestant(model=each, scoring=trials.REFERENCES[trials.kind_of_model(each)])
              for each in models]  # fmt: skip
    if raced is not None:
        rivals = [one for one in shared.contestants if one in raced]
    entered = [registry.scoring(name).name for name in names]
    own = [Contestant(model=each, scoring=name) for each in models for name in entered]
    plan = replace(
        shared, tasks={task: shared.tasks[task] for task in tasks}, halving=0,
        contestants=tuple(dict.fromkeys((*rivals, *own))),
    )  # fmt: skip
    return plan, entered


def _left(plan: Plan, kept: list[Outcome], known: list[Outcome], times: int) -> dict[str, float]:
    """The facts of what is left to do; each trial takes the median of its task's known ones."""
    took: dict[str, list[float]] = defaultdict(list)
    for one in known:
        took[one.trial.task].append(one.seconds)
    done = Counter((one.trial.task, one.trial.contestant) for one in kept)
    found = {"kept": len(kept), "trials": 0, "more": 0, "seconds": 0.0, "tuning": 0.0}
    for (task, who), count in trials.wanted(plan, kept).items():
        left, each = count - done[task, who], times * median(took[task] or [0.0])
        found["trials"] += left
        found["seconds"] += each * left
        found["tuning"] += each * max(0, left - plan.seeds) * (task not in FIELD)
        found["more"] += plan.tuning_seeds * plan.tasks[task].widen * (left > plan.seeds)
    for task, tuning, reported in _spared(plan):
        each = times * median(took[task] or [0.0])
        found["trials"] -= tuning + reported
        found["seconds"] -= each * (tuning + reported)
        found["tuning"] -= each * tuning
    return found


def _spared(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """By task, how many trainings halving spares for sure: those that tune, those reported."""
    for (task, _), count in Counter((t, who.model) for t, who in trials.entries(plan)).items():
        going, rates = count, len(plan.tasks[task].rates)
        for number in range(1, 1 + (0 if task in FIELD else plan.halving)):
            out = max(0, going // 2 - 1)  # of the lesser half the reference may be one
            going -= out
            yield task, out * rates * (plan.tuning_seeds - number), out * plan.seeds


class _TimeUp(Exception):
    """The race has run as long as this server allows at a time."""


def run(request: Request, context: Context) -> Result:
    """Do what is left of the race that ``request.data`` names and no other process does.

    No training begins after the seconds that the request allows. ValueError: no such race.
    """
    race, seconds = race_of(request), dict(request.options).get(MOST_SECONDS, math.inf)
    known = race.outcomes()
    total, done = max(1, trials.count(race.plan, known)), len(known)
    end = time.monotonic() + float(seconds)

    def beat() -> None:  # a long training is no dead worker
        said = gettext_noop("{done:,} of {total:,}", done=done, total=max(done, total))
        context.report(min(1.0, done / total), said)

    def watch(_: Outcome) -> None:
        nonlocal done
        done += 1
        if time.monotonic() > end:
            raise _TimeUp
        beat()

    beat()
    with suppress(_TimeUp):
        trials.run(race, resolve(request.device), watch, beat)
    if not [*trials.pending(race.plan, race.outcomes())]:
        race.tidy()
    return Result(facts={"cacheable": False})


def matrix(request: Request, context: Context) -> Result:
    """Compare all contestants of a race with the one of a scoring and a normaliser.

    The request's scoring and the option ``normaliser`` are the reference, in each model.

    Returns:
        Table ``cells`` (a row for each task and contestant: ``effect`` is the paired difference,
        positive where better, in standard deviations over seeds, those of both pooled; at most
        :data:`FARTHEST`); facts
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
    left_out, undecided, budgets = list[str](), dict[str, int](), list[Budget]()
    for number, task in enumerate(race.plan.tasks):
        said = gettext_noop("Comparing on {task}", task=task)
        context.report(number / len(race.plan.tasks), said)
        if task in FIELD:
            continue
        try:
            higher = trials.higher_is_better(task)
        except ContractError:
            left_out.append(task)
            continue
        budgets.append(race.plan.tasks[task])
        own: list[Standing] = []
        for model in dict.fromkeys(one.model for one in race.plan.contestants):
            if column := columns.get((task, model)):
                found = _compared(column, reference_of(request, model), higher, race.plan.seeds)
                cells += ({"task": task, "model": model, **cell} for cell in found)
                own += _ranked(column, found)
        copied = baseline(outcomes, task)
        limit = limits(task, race.plan.tasks[task].examples, own, copied, higher)
        if limit and not limit.decides:
            undecided[task] = race.plan.tasks[task].steps
    sizes = {"steps": [one.steps for one in budgets], "rates": [len(one.rates) for one in budgets]}
    return Result(
        tables={"cells": pa.Table.from_pylist(cells, _CELLS)},
        facts={
            "recorded": True, "left_out": left_out, "undecided": undecided, "farthest": FARTHEST,
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
