"""The standings of one task of a race, and what is drawn of each contestant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race import export
from attention_plugins.race.data import DECIDES, Limits, limits
from attention_plugins.race.export import Heading
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.race.standings import Standing, baseline, curves, learning, standings
from attention_plugins.race.translating import SIZES
from attention_plugins.race.trials import count, pending
from attention_plugins.registry import installed
from dashboard.features.race.task_import import Measured, entrant, known, measured, race_of
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

_TEXT, _REAL, _WHOLE = pa.string(), pa.float64(), pa.int64()
_NAMED = 20  # lines that are no outcomes
_ESTIMATES = ("quality", "difference", "near", "far")
_STANDINGS = pa.schema(
    [
        *((name, _TEXT) for name in ("key", "model", "scoring", "normaliser", "verdict")),
        *(
            (f"{name}{end}", _REAL)
            for name in _ESTIMATES
            for end in ("", "_low", "_high")
        ),
        ("p", _REAL), ("rank", _WHOLE), ("seeds", _WHOLE), ("parameters", _WHOLE),
        ("operations", _WHOLE), ("milliseconds", _REAL), ("rate", _REAL), ("edge", _TEXT),
        ("problem", _TEXT), ("equals", pa.list_(_TEXT)),
    ]
)  # fmt: skip
_CURVES = pa.schema(
    [("key", _TEXT), ("size", _REAL), ("quality", _REAL), ("low", _REAL), ("high", _REAL)]
)
_LEARNING = pa.schema([("key", _TEXT), ("epoch", _REAL), ("loss", _REAL)])
_TRIALS = pa.schema(
    [
        ("key", _TEXT), ("rate", _REAL), ("seed", _WHOLE), ("tuning", pa.bool_()),
        ("validation", _REAL), ("quality", _REAL), ("seconds", _REAL), ("problem", _TEXT),
    ]
)  # fmt: skip
_MAPS = pa.schema(
    [
        ("key", _TEXT), ("kind", _TEXT), ("layer", pa.int32()), ("heads", pa.int32()),
        ("queries", pa.list_(_TEXT)), ("keys", pa.list_(_TEXT)), ("causal", pa.bool_()),
        ("weights", pa.list_(pa.float32())),
    ]
)  # fmt: skip
_FITS = pa.schema([("key", _TEXT), ("x", _REAL), ("predicted", _REAL), ("truth", _REAL)])


def of_task(request: Request, context: Context) -> Result:
    """Compare the contestants of some models on the task that the option ``task`` names.

    The request's model, scoring and the option ``normaliser`` are the reference; the option
    ``models`` holds names with commas between them.

    Returns:
        Tables ``standings`` (a row per contestant, by rank; ``equals`` are the keys of those that
        share it), ``curves``, ``learning``, ``trials`` (each training), ``maps`` (see
        :class:`~dashboard.records.request.Result`; with ``key``) and ``fits``, all by the ``key``
        of a row; facts ``metric``, ``unit``, ``higher_is_better``, ``loss``,
        ``validation``, ``size``, ``trained``, ``task``, ``needed`` (seeds that would
        do where there are too few), ``budget`` (``steps``, ``examples``, ``rates``), ``limits``
        (``floors``, the best first: name, mean, low, high; ``ceiling``, ``top``, ``best``,
        ``share``, ``decides``, ``rule``; None while nobody has a quality), ``files`` (by kind of
        file), ``done`` and ``total`` trainings of the whole race, ``complete``: whether none is
        left, ``minutes`` that they took together, ``skipped``: lines that are no outcomes,
        ``sizes`` of each translation model.

    Raises:
        ValueError: a task or a reference that the race has not, or that is not installed.
    """
    race = race_of(request)
    options = dict(request.options)
    task, models = str(options["task"]), str(options["models"]).split(",")
    if task not in race.plan.tasks:
        raise ValueError(f"the race {request.data!r} has no task {task[:60]!r}")
    context.report(0.0, gettext_noop("Reading the outcomes"))
    every = list(race.outcomes())
    how = measured(task, race.plan.tasks[task].examples)
    own = [o for o in every if o.trial.task == task and o.trial.contestant.model in models]
    count = len({o.trial.contestant for o in own})
    context.report(0.1, gettext_noop("Comparing {contestants} contestants", contestants=count))
    rows = standings(
        own, task, reference=_reference(request), higher_is_better=how.higher_is_better,
        models=models,
    )  # fmt: skip
    budget = race.plan.tasks[task]
    found = limits(task, budget.examples, rows, baseline(own, task), how.higher_is_better)
    heading = Heading(
        task=installed().dataset(task).title, metric=how.metric, unit=how.unit,
        higher_is_better=how.higher_is_better, limits=found, budget=budget,
    )  # fmt: skip
    standing = {row.contestant for row in rows}
    own = [one for one in own if one.trial.contestant in standing]  # of equal ones the first
    return Result(
        tables={
            "standings": pa.Table.from_pylist([_standing(one) for one in rows], _STANDINGS),
            "curves": pa.Table.from_pylist([*_curves(own, task)], _CURVES),
            "learning": pa.Table.from_pylist(
                [*_learning(own, task, race.plan.tasks[task].epochs)], _LEARNING
            ),
            "trials": pa.Table.from_pylist([_trial(one) for one in own], _TRIALS),
            "maps": pa.Table.from_pylist([*_maps(own)], _MAPS),
            "fits": pa.Table.from_pylist([*_fits(own)], _FITS),
        },
        facts=_facts(how, rows, heading)
        | {
            "done": len(every),
            "total": _total(race.plan),
            "complete": _complete(race.plan, every),
            "minutes": sum(outcome.seconds for outcome in every) / 60,
            "skipped": race.skipped[:_NAMED],
            "sizes": _sizes(models),
        },
    )


def _reference(request: Request) -> Contestant:
    normaliser = str(dict(request.options).get("normaliser", ""))
    return Contestant(model=request.model, scoring=request.scoring, normaliser=normaliser)


def _total(plan: Plan) -> int | None:
    """How many trainings the whole race has; None where a model or data set is not installed."""
    with suppress(ContractError):
        return count(plan)
    return None


def _complete(plan: Plan, every: Sequence[Outcome]) -> bool:
    """Whether nothing is left to do; so too where what is left cannot be done here."""
    with suppress(ContractError):
        return next(pending(plan, every), None) is None
    return True


def _sizes(models: Sequence[str]) -> dict[str, dict[str, Any]]:
    """How large each model is in a race on sentence pairs, by its parameters' names."""
    specs = [installed().model(name) for name in models]
    return {
        spec.name: {p.name: SIZES[p.name] for p in spec.parameters if p.name in SIZES}
        for spec in specs
        if spec.task != "regression"
    }


def _facts(how: Measured, rows: Sequence[Standing], heading: Heading) -> dict[str, Any]:
    return {
        **how._asdict(),
        "task": heading.task,
        "needed": next((one.seeds_needed for one in rows if one.verdict == "too few seeds"), None),
        "budget": _budget(heading.budget),
        "limits": _limits(heading.limits),
        "files": {
            "csv": export.as_csv(rows, heading),
            "tex": export.as_latex(rows, heading),
            "md": export.as_markdown(rows, heading),
        },
    }


def _budget(found: Budget | None) -> dict[str, int]:
    if found is None:
        return {}
    return {"steps": found.steps, "examples": found.examples, "rates": len(found.rates)}


def _limits(found: Limits | None) -> dict[str, Any] | None:
    if found is None:
        return None
    floors = [[name, *(known(end) for end in value[:3])] for name, value in found.floors]
    return {
        "floors": floors, "ceiling": found.ceiling, "top": found.top, "best": found.best,
        "share": found.share, "decides": found.decides, "rule": DECIDES,
    }  # fmt: skip


def _standing(one: Standing) -> dict[str, Any]:
    who = one.contestant
    row = {
        "key": entrant(who).key, "model": who.model, "scoring": who.scoring,
        "normaliser": who.normaliser, "verdict": one.verdict, "p": known(one.corrected_p),
        "rank": one.rank, "seeds": one.seeds, "parameters": one.parameters or None,
        "operations": one.operations or None, "milliseconds": known(one.milliseconds),
        "rate": known(one.rate), "edge": one.edge, "problem": one.problem,
        "equals": [entrant(other).key for other in one.equals],
    }  # fmt: skip
    found = {"quality": one.quality, "difference": one.difference, **one.parts}
    for name in _ESTIMATES:
        row |= _ends(name, found.get(name))
    return row


def _ends(name: str, found: Any) -> dict[str, float | None]:
    """A mean with its interval as three columns."""
    if found is None:
        return {}
    return {
        name: known(found.mean), f"{name}_low": known(found.low), f"{name}_high": known(found.high)
    }  # fmt: skip


def _curves(own: Sequence[Outcome], task: str) -> Iterator[dict[str, Any]]:
    for who, points in curves(own, task):
        for size, found in points:
            yield {
                "key": entrant(who).key, "size": size, "quality": known(found.mean),
                "low": known(found.low), "high": known(found.high),
            }  # fmt: skip


def _learning(own: Sequence[Outcome], task: str, epochs: int) -> Iterator[dict[str, Any]]:
    """A point per loss; of a long training only some are kept, the first one among them."""
    for who, losses in learning(own, task):
        every = len(losses) == epochs
        step = 1.0 if every else epochs / max(1, len(losses) - 1)
        for i, loss in enumerate(losses):
            yield {"key": entrant(who).key, "epoch": i * step + every, "loss": known(loss)}


def _trial(one: Outcome) -> dict[str, Any]:
    trial = one.trial
    return {
        "key": entrant(trial.contestant).key, "rate": trial.rate, "seed": trial.seed,
        "tuning": trial.tuning, "validation": known(one.validation),
        "quality": known(one.quality), "seconds": known(one.seconds), "problem": one.problem,
    }  # fmt: skip


def _maps(own: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
    for one in own:
        example = one.example
        if example and example.weights:
            yield {
                "key": entrant(one.trial.contestant).key, "kind": "cross", "layer": 0,
                "heads": len(example.weights), "queries": list(example.queries),
                "keys": list(example.keys), "causal": False,
                "weights": [w for head in example.weights for row in head for w in row],
            }  # fmt: skip


def _fits(own: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
    for one in own:
        example = one.example
        if example and example.x:
            key = entrant(one.trial.contestant).key
            for x, predicted, truth in zip(
                example.x, example.predicted, example.truth, strict=True
            ):
                yield {"key": key, "x": x, "predicted": predicted, "truth": truth}
