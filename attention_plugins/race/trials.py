"""Which trials a race still needs, and one of them done."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import fmean

import torch

from attention_plugins.race.records import Contestant, Outcome, Plan, Trial
from attention_plugins.race.regressing import regress
from attention_plugins.race.translating import translate
from attention_plugins.registry import installed

_TUNING_SEEDS = 1_000_000  # and above; below are the race's


def pending(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[Trial]:
    """The trials that can be done now, in the order in which they are best done.

    Rates are chosen before anything is compared, and then all contestants run seed after seed,
    so that what is there at any time can be compared. Who has a problem at every rate is not
    tried again.
    """
    by_entry: dict[tuple[str, Contestant], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_entry[outcome.trial.task, outcome.trial.contestant].append(outcome)
    chosen: dict[tuple[str, Contestant], tuple[float, set[int]]] = {}
    for entry in entries(plan):
        found = by_entry[entry]
        tuning = [one for one in found if one.trial.tuning]
        done = {(one.trial.rate, one.trial.seed) for one in tuning}
        missing = [one for one in _tuning_trials(plan, *entry) if (one.rate, one.seed) not in done]
        yield from missing
        if not missing and (rate := best_rate(entry[0], tuning)) is not None:
            chosen[entry] = rate, {one.trial.seed for one in found if not one.trial.tuning}
    for seed in range(plan.seeds):
        for (task, who), (rate, done_seeds) in chosen.items():
            if seed not in done_seeds:
                yield Trial(task=task, contestant=who, rate=rate, seed=seed)


def entries(plan: Plan) -> list[tuple[str, Contestant]]:
    """Every task with every contestant whose model is for it."""
    registry = installed()
    return [
        (task, who)
        for task in plan.tasks
        for who in plan.contestants
        if registry.model(who.model).task == registry.dataset(task).task
    ]


def count(plan: Plan) -> int:
    """How many trials a race has, if nobody has a problem."""
    return sum(
        plan.seeds + plan.tuning_seeds * len(plan.tasks[task].rates) for task, _ in entries(plan)
    )


def best_rate(task: str, tuning: Iterable[Outcome]) -> float | None:
    """The rate whose validation is best on average; the lower of equals, None if none ran."""
    by_rate: dict[float, list[float]] = defaultdict(list)
    for outcome in tuning:
        by_rate[outcome.trial.rate].append(outcome.validation)
    sign = 1 if higher_is_better(task) else -1
    means = {rate: sign * fmean(values) for rate, values in by_rate.items()}
    known = {rate: mean for rate, mean in means.items() if not math.isnan(mean)}
    return min(known, key=lambda rate: (-known[rate], rate)) if known else None


def higher_is_better(task: str) -> bool:
    """Whether a task's quality is a score rather than an error."""
    registry = installed()
    spec = registry.dataset(task)
    return spec.task != "regression" and registry.metric(spec.metric).higher_is_better


def perform(trial: Trial, plan: Plan, device: torch.device | str = "cpu") -> Outcome:
    """Do one trial; what goes wrong in a plugin is its outcome's problem."""
    work = regress if installed().dataset(trial.task).task == "regression" else translate
    began = time.perf_counter()
    try:
        found = work(trial, plan.tasks[trial.task], device)
    except Exception as error:  # A plugin may raise anything; it costs its own trial.
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        found = Outcome(trial=trial, problem=told[:300])
    return replace(found, seconds=round(time.perf_counter() - began, 3))


def _tuning_trials(plan: Plan, task: str, who: Contestant) -> Iterator[Trial]:
    for seed in range(plan.tuning_seeds):
        for rate in plan.tasks[task].rates:
            yield Trial(
                task=task, contestant=who, rate=rate, seed=_TUNING_SEEDS + seed, tuning=True
            )
