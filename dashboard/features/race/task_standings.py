"""The standings of one task of a race, and what is drawn of each contestant."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError, ModelSpec, NormaliserSpec, ScoringSpec
from attention_plugins.race import export
from attention_plugins.race.budgets import AtBudgets, at_budgets
from attention_plugins.race.data import DECIDES, Limits, limits
from attention_plugins.race.endings import ending, sentence
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.race.spending import cost
from attention_plugins.race.standings import Standing, baseline, curves, learning, standings
from attention_plugins.race.statistics import Difference, Estimate
from attention_plugins.race.store import Race
from attention_plugins.race.translating import SIZES
from attention_plugins.race.trials import count, pending
from attention_plugins.registry import installed
from dashboard.features.race.task_field import of_field
from dashboard.features.race.task_import import entrant, known, measured, race_of, reference_of
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.storage.races import folder_of

TEXT, REAL, WHOLE = pa.string(), pa.float64(), pa.int64()
_NAMED = 20  # lines that are no outcomes
_ESTIMATES = ("quality", "difference", "near", "far")
# The columns of every table.
_TABLES = {
    "standings": (
        *((name, TEXT) for name in ("key", "model", "scoring", "normaliser", "verdict")),
        *((f"{name}{end}", REAL) for name in _ESTIMATES for end in ("", "_low", "_high")),
        ("p", REAL), ("rank", WHOLE), ("seeds", WHOLE), ("parameters", WHOLE),
        ("operations", WHOLE), ("milliseconds", REAL), ("rate", REAL), ("edge", TEXT),
        ("problem", TEXT), ("equals", pa.list_(TEXT)), ("decides", WHOLE),
    ),
    "curves": (("key", TEXT), ("size", REAL), ("quality", REAL), ("low", REAL), ("high", REAL)),
    "learning": (("key", TEXT), ("epoch", REAL), ("loss", REAL)),
    "trials": (
        ("key", TEXT), ("rate", REAL), ("seed", WHOLE), ("tuning", pa.bool_()),
        ("validation", REAL), ("quality", REAL), ("seconds", REAL), ("problem", TEXT),
        ("ended", TEXT),
    ),
    "maps": (
        ("key", TEXT), ("kind", TEXT), ("layer", pa.int32()), ("heads", pa.int32()),
        ("queries", pa.list_(TEXT)), ("keys", pa.list_(TEXT)), ("causal", pa.bool_()),
        ("weights", pa.list_(pa.float32())),
    ),
    "fits": (("key", TEXT), ("x", REAL), ("predicted", REAL), ("truth", REAL)),
}  # fmt: skip


def _beside_of(
    request: Request, budget: Budget, own: Sequence[Outcome], higher_is_better: bool
) -> AtBudgets | None:
    """The task at the budgets of the races that the option ``beside`` names; None without one."""
    options = dict(request.options)
    task, models = str(options["task"]), str(options["models"]).split(",")
    found = [(budget, own)]
    for name in filter(None, str(options.get("beside", "")).split(",")):
        with suppress(ContractError, KeyError):  # what is wrong there costs that race
            race = Race.open(folder_of(name))
            found.append((race.plan.tasks[task], race.outcomes()))
    with suppress(ContractError):  # a contestant at two rates
        return at_budgets(
            found, task, reference=reference_of(request, request.model),
            higher_is_better=higher_is_better, models=models,
        )  # fmt: skip
    return None


def _joined_of(request: Request, race: Race) -> tuple[list[Outcome], dict[str, str]]:
    """What others did on the task in the races that the option ``joined`` names.

    Equal budgets and seeds are equal data and initial weights, so their outcomes are compared as
    those of this race. Who is in several races counts in the first; of which race each is, by key.
    """
    options, known = dict(request.options), {*race.plan.contestants}
    found, whose = list[Outcome](), dict[str, str]()
    for name in filter(None, str(options.get("joined", "")).split(",")):
        with suppress(ContractError):  # what is wrong there costs that race
            outcomes = Race.open(folder_of(name)).outcomes()
            new = [one for one in outcomes if one.trial.task == options["task"]
                   and one.trial.contestant not in known]  # fmt: skip
            known |= {one.trial.contestant for one in new}
            whose |= {entrant(one.trial.contestant).key: name for one in new}
            found += new
    return found, whose


def _rows_of(found: AtBudgets | None) -> list[dict[str, Any]]:
    """A row for each contestant and budget, in the order of their ``steps``."""
    if found is None:
        return []
    ends = ("quality", "quality_low", "quality_high")
    return [
        {
            "key": entrant(who).key, "steps": steps, "rank": one.rank, "verdict": one.verdict,
            **dict(zip(ends, map(known, one.quality[:3]), strict=True)),
            "grown": found.grown[who].verdict if who in found.grown else None,
        }
        for who, placings in found.rows.items()
        for steps, one in zip(found.steps, placings, strict=True)
    ]  # fmt: skip


def of_task(request: Request, context: Context) -> Result:
    """Compare the contestants of some models on the task that the option ``task`` names.

    The request's model, scoring and the option ``normaliser`` are the reference; the option
    ``models`` holds names with commas between them.

    Returns:
        Tables ``standings`` (a row per contestant, by rank; ``equals`` are the keys of those that
        share it), ``curves``, ``learning``, ``trials`` (each training), ``maps`` (see
        :class:`~dashboard.records.request.Result`) and ``fits``, all by the ``key`` of a row;
        facts: those of :class:`.Measured`, ``at_budgets``: what holds at several budgets, in
        sentences, ``turned``: pairs whose leader changes,
        ``budgets``, see :func:`.rows_of`, ``task``, ``needed`` (seeds
        that would do where there are too few), ``budget``, ``limits`` (``floors``, the best
        first: name, mean, low, high; None while nobody has a quality), ``files`` (by kind of
        file), ``done`` and ``total`` trainings of the whole race, ``complete``: whether none is
        left, those of :class:`.Cost`, ``skipped``: lines that are no outcomes, ``recorded``,
        ``whose``: by key the race of what is of another one, ``sizes`` of each translation model.
    """
    race = race_of(request)
    options = dict(request.options)
    task, models = str(options["task"]), str(options["models"]).split(",")
    if task not in race.plan.tasks:
        raise ValueError(f"the race {request.data!r} has no task {task[:60]!r}")
    context.report(0.0, gettext_noop("Reading the outcomes"))
    every, (joined, whose) = list(race.outcomes()), _joined_of(request, race)
    budget = race.plan.tasks[task]
    made = {
        **_progress(race.plan, every), **cost(every)._asdict(), "skipped": race.skipped[:_NAMED],
        "whose": whose, "recorded": True,
    }  # fmt: skip
    if task in FIELD:
        return of_field(task, race.plan, models, [*every, *joined], made)
    how = measured(task, budget.examples)
    own = [o for o in (*every, *joined)
           if o.trial.task == task and o.trial.contestant.model in models]  # fmt: skip
    count = len({o.trial.contestant for o in own})
    context.report(0.1, gettext_noop("Comparing {contestants} contestants", contestants=count))
    rows = standings(
        own, task, reference=reference_of(request, request.model),
        higher_is_better=how.higher_is_better, models=models,
    )  # fmt: skip
    found = limits(task, budget.examples, rows, baseline(own, task), how.higher_is_better)
    best = found.ceiling if found else math.nan
    beside = _beside_of(request, budget, own, how.higher_is_better)
    at_budgets = [*beside.sentences()] if beside else []
    named, called = [_titled(row) for row in rows], {r.contestant: _titled(r).name for r in rows}
    others = ", ".join(f"{called[who]} ({whose[key]})" for who in called
                       if (key := entrant(who).key) in whose)  # fmt: skip
    heading = export.Heading(
        task=installed().dataset(task).title, metric=how.metric, unit=how.unit,
        higher_is_better=how.higher_is_better, limits=found, budget=budget,
        at_budgets=" ".join([*at_budgets, *([f"Of other races: {others}."] if others else [])]),
    )  # fmt: skip
    standing = {row.contestant for row in rows}
    own = [one for one in own if one.trial.contestant in standing]  # of equal ones the first
    drawn = {
        "standings": map(_standing, rows),
        "curves": (
            {"key": entrant(who).key, "size": size, **_ends(quality, "quality", "{}")}
            for who, points in curves(own, task)
            for size, quality in points
        ),
        "learning": _learning(own, task, budget.epochs),
        "trials": (
            {
                "key": entrant(one.trial.contestant).key, "rate": one.trial.rate,
                "seed": one.trial.seed, "tuning": one.trial.tuning,
                "validation": known(one.validation), "quality": known(one.quality),
                "seconds": known(one.seconds), "problem": one.problem, "ended": ending(one, best),
            }
            for one in own
        ),
        "maps": _maps(own),
        "fits": (
            {"key": entrant(one.trial.contestant).key, "x": x, "predicted": y, "truth": t}
            for one in own
            if (fit := one.example) and fit.x
            for x, y, t in zip(fit.x, fit.predicted, fit.truth, strict=True)
        ),
    }  # fmt: skip
    return Result(
        tables={name: pa.Table.from_pylist([*drawn[name]], pa.schema(columns))
                for name, columns in _TABLES.items()},
        facts={
            **how._asdict(),
            **made,
            "task": heading.task,
            "needed": next(
                (o.seeds_needed for o in rows if o.verdict == "too few seeds" and o.seeds), None
            ),
            "budget": {
                "steps": budget.steps, "examples": budget.examples, "rates": len(budget.rates),
                "widen": budget.widen, "halving": race.plan.halving,
            },
            "limits": _limits(found) if found else None,
            "endings": sentence(own, best, budget.steps),
            "at_budgets": at_budgets, "budgets": _rows_of(beside),
            "turned": [[entrant(one).key for one in pair] for pair in beside.turned]
            if beside else [],
            "files": {
                "tex": export.as_latex(named, heading), "md": export.as_markdown(named, heading),
            },
            "sizes": _sizes(models),
        },
    )  # fmt: skip


def _titled(row: Standing) -> Standing:
    """The row with titles for names, in English, as the files are."""
    kinds = {"model": ModelSpec, "scoring": ScoringSpec, "normaliser": NormaliserSpec}

    def of(who: Contestant) -> Contestant:
        return replace(who, **{
            name: one.title.partition(" (")[0] for name, kind in kinds.items()
            if (one := installed().of(kind).get(getattr(who, name)))
        })  # fmt: skip

    return replace(row, contestant=of(row.contestant), equals=tuple(map(of, row.equals)))


def _progress(plan: Plan, every: Sequence[Outcome]) -> dict[str, Any]:
    """How much of a race is done; of what is not installed here nothing is left to do."""
    found: dict[str, Any] = {"done": len(every), "total": None, "complete": True}
    with suppress(ContractError):
        found["total"] = count(plan, every)
    with suppress(ContractError):
        found["complete"] = next(pending(plan, every), None) is None
    return found


def _sizes(models: Sequence[str]) -> dict[str, dict[str, Any]]:
    specs = [installed().model(name) for name in models]
    return {spec.name: {p.name: SIZES[p.name] for p in spec.parameters if p.name in SIZES}
            for spec in specs if spec.task != "regression"}  # fmt: skip


def _limits(found: Limits) -> dict[str, Any]:
    floors = [[name, *(known(end) for end in value[:3])] for name, value in found.floors]
    return {
        "floors": floors, "ceiling": found.ceiling, "top": found.top, "best": found.best,
        "share": found.share, "decides": found.decides, "rule": DECIDES,
    }  # fmt: skip


def _standing(one: Standing) -> dict[str, Any]:
    who = one.contestant
    row: dict[str, Any] = {
        "key": entrant(who).key, "model": who.model, "scoring": who.scoring,
        "normaliser": who.normaliser, "verdict": one.verdict, "p": known(one.corrected_p),
        "rank": one.rank, "seeds": one.seeds, "parameters": one.parameters or None,
        "operations": one.operations or None, "milliseconds": known(one.milliseconds),
        "rate": known(one.rate), "edge": one.edge, "problem": one.problem,
        "equals": [entrant(other).key for other in one.equals], "decides": one.decides,
    }  # fmt: skip
    found = {"quality": one.quality, "difference": one.difference, **one.parts}
    for name in _ESTIMATES:
        if estimate := found.get(name):
            row |= _ends(estimate, name, f"{name}_{{}}")
    return row


def _ends(found: Estimate | Difference, mean: str, end: str) -> dict[str, float | None]:
    ends = {mean: found.mean, end.format("low"): found.low, end.format("high"): found.high}
    return {name: known(value) for name, value in ends.items()}


def _learning(own: Sequence[Outcome], task: str, epochs: int) -> Iterator[dict[str, Any]]:
    """A point per loss; of a long training only some are kept, the first one among them."""
    for who, losses in learning(own, task):
        every = len(losses) == epochs
        step = 1.0 if every else epochs / max(1, len(losses) - 1)
        for i, loss in enumerate(losses):
            yield {"key": entrant(who).key, "epoch": i * step + every, "loss": known(loss)}


def _maps(own: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
    for one in own:
        if (example := one.example) and example.weights:
            yield {
                "key": entrant(one.trial.contestant).key, "kind": "cross", "layer": 0,
                "heads": len(example.weights), "queries": list(example.queries),
                "keys": list(example.keys), "causal": False,
                "weights": [w for head in example.weights for row in head for w in row],
            }  # fmt: skip
