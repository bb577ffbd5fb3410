"""Runs a race in a worker: enters contestants into a new one, and does what is left to do."""

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from statistics import median

import pyarrow as pa

from attention_plugins.commands.race import run_facts
from attention_plugins.contract import ContractError
from attention_plugins.devices import resolve
from attention_plugins.race import trials
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.registry import installed
from dashboard.features.race.task_import import race_of
from dashboard.features.race.view import ENTERED
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.records.training import MOST_SECONDS

_MOST_TIMES, _MOST_SCORINGS = 16, 20


def entered(request: Request, context: Context) -> Result:
    """A race of scorings beside those of the race that ``request.data`` names, not yet run.

    At its budget all its contestants take part, with what is known of them. At a larger one, the
    option ``times`` as many epochs, or by so many rounds of ``halving``, the scorings and each
    model's reference start anew, at the rates of a new race.

    Returns:
        Table ``files``: ``plan`` and ``outcomes``; facts ``trials`` that are left to do, at most
        where they are halved, how many ``more`` there may be where a best rate lies at the edge
        of those tried, the ``seconds`` that they take on one core, by what those of the other
        race took, and those of ``tuning`` among them, which only choose rates; ``halving`` as
        given.

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
    found: dict[str, float] = {"trials": 0, "more": 0, "seconds": 0.0, "tuning": 0.0}
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
