"""Run what is left of the race, and tell how far it came; or verify one, 1 if it differs."""

import argparse
import math
import os
import platform
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from attention_plugins.commands import common
from attention_plugins.contract import ContractError
from attention_plugins.datasets import own
from attention_plugins.home import SHIPPED
from attention_plugins.race import spending, trials
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import TOLERANCE, Contestant, Outcome, Plan
from attention_plugins.race.store import RACE, SHIPPED_RACE, Race
from attention_plugins.registry import installed


def run(given: argparse.Namespace) -> int:
    """Race scorings and normalisers against each other, and say whose lead is not chance."""
    if given.seeds is not None and given.seeds < 2:
        raise ContractError("need 2 <= seeds")
    tuning_seeds = 1 if given.tuning_seeds is None else given.tuning_seeds
    if min(given.processes, given.budget, tuning_seeds) < 1:
        raise ContractError("need 1 <= processes, 1 <= budget and 1 <= tuning seeds")
    if given.join and (given.budget > 1 or given.halving):
        raise ContractError("need --join without --budget and --halving: with them all start anew")
    device = common.device(given)
    if given.verify:
        return _verify(given, str(device))
    race = _race(given)
    try:
        _go_on(race, str(device), given.processes)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
    outcomes = race.outcomes()
    facts = {
        "race": str(race.folder), "trials": len(outcomes),
        "of": trials.count(race.plan, outcomes), **spending.cost(outcomes)._asdict(),
        "problems": sorted({f"{o.trial.task}, {o.trial.contestant.name}: {o.problem}"
                            for o in outcomes if o.problem}),
    }  # fmt: skip
    said = f"{race.folder}: {len(outcomes):,} trainings"
    common.show(given, facts, [said, spending.SAID["cost"].format(**facts)])
    return 0


def _verify(given: argparse.Namespace, device: str) -> int:
    race = Race.open(given.output)
    torch.set_num_threads(1)
    checked = [*_repeated(race, given.verify, random.Random(), device)]
    others = [f"{ours.trial.id}: {_result_of(theirs)}, again {_result_of(ours)}"
              for theirs, ours in checked if not _agree(theirs, ours)]  # fmt: skip
    said = f"{len(checked) - len(others):,} of {len(checked):,} came out the same"
    facts = {"race": str(race.folder), "repeated": len(checked), "otherwise": others}
    common.show(given, facts, [f"{race.folder}: {said}", *others])
    return 1 if others else 0


def _go_on(race: Race, device: str, processes: int) -> None:
    known = race.outcomes()
    with tqdm(
        total=trials.count(race.plan, known), initial=len(known), unit="training",
        file=sys.stderr, smoothing=0,
    ) as bar:  # fmt: skip

        def look() -> None:
            found = race.outcomes()
            bar.total = trials.count(race.plan, found)
            bar.update(len(found) - bar.n)

        if processes > 1:
            trials.run_beside(race.folder, processes, device, look)
        else:
            torch.set_num_threads(1)
            trials.run(race, device, lambda outcome: bar.update(1))
        look()
    race.tidy()


def _race(given: argparse.Namespace) -> Race:
    there = (given.output / RACE).exists()
    tasks = [task for name in given.tasks or () for task in _tasks(name)]
    if given.join:
        if there:
            return Race.open(given.output)
        shared = Race.open(SHIPPED_RACE if given.join == "shipped" else Path(given.join))
        return shared.joined(given.output, _joining(given, shared.plan), run_facts())
    named = (given.tasks, given.models, given.scorings, given.normalisers, given.every_pair)
    named = (*named, given.seeds, given.tuning_seeds, given.budget > 1, given.halving)
    if there and not any(named):
        return Race.open(given.output)
    plan = trials.plan(
        tasks=tasks or trials.TASKS, models=given.models or (), scorings=given.scorings or (),
        normalisers=given.normalisers, every_pair=given.every_pair,
    )  # fmt: skip
    plan = replace(
        plan, seeds=given.seeds or plan.seeds,
        tuning_seeds=given.tuning_seeds or plan.tuning_seeds, halving=given.halving,
        tasks={task: one.longer(given.budget) for task, one in plan.tasks.items()},
    )  # fmt: skip
    if not 0 <= given.halving <= plan.tuning_seeds:
        raise ContractError(f"need 0 <= halving <= {plan.tuning_seeds}, the tuning seeds")
    if there and Race.open(given.output).plan != plan:
        raise ContractError(
            f"{given.output} holds another race; name another folder, or go on with that one by "
            "naming nothing but --output"
        )
    return Race.create(given.output, plan, run_facts())


def _tasks(name: str) -> list[str]:
    """A task's name, or those of a family; a file becomes a data set that all pages have."""
    if not name.endswith(own.SUFFIX):
        family = [task for task in FIELD if task.startswith(f"{name}_") and not FIELD[task].of]
        return family if name not in FIELD and family else [name]
    added = own.add(Path(name))
    installed.cache_clear()
    return [added]


def _joining(given: argparse.Namespace, plan: Plan) -> list[Contestant]:
    if not given.scorings:
        raise ContractError("--join needs --scorings: who races against those that are there")
    models = given.models or dict.fromkeys(one.model for one in plan.contestants)
    ways = ("", *(given.normalisers or ()))
    registry = installed()
    return [
        Contestant(model=model, scoring=scoring, normaliser=way)
        for model in [name for name in models if trials.kind_of_model(name)]
        for scoring in [registry.scoring(name).name for name in given.scorings]
        for way in ways
    ]


def run_facts() -> Mapping[str, str]:
    """What made the results: no path of this machine, but what it is."""
    gpus = [torch.cuda.get_device_name(each) for each in range(torch.cuda.device_count())]
    return {
        "command": shlex.join(["python", "-m", "attention_plugins", *sys.argv[1:]]),
        "machine": ", ".join(
            (platform.machine(), f"{os.cpu_count()} cores", platform.system(), *gpus)
        ),
        "commit": _commit(),
        "torch": torch.__version__.partition("+")[0],
        "python": platform.python_version(),
    }


def _commit() -> str:
    """The checkout's commit; empty where this was installed from a wheel."""
    command = ["git", "-C", str(SHIPPED.parent), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _repeated(
    race: Race, count: int, draw: random.Random, device: torch.device | str = "cpu"
) -> Iterator[tuple[Outcome, Outcome]]:
    """So many trials that are drawn: what the race's file says of each, and what came now."""
    known = race.outcomes()
    for theirs in draw.sample(known, min(count, len(known))):
        yield theirs, trials.perform(theirs.trial, race.plan, device)


def _result_of(outcome: Outcome) -> str:
    """What a trial came to: its quality, of a tuning what rates are chosen by, or its problem."""
    value = outcome.validation if outcome.trial.tuning else outcome.quality
    return outcome.problem or f"{value:g}"


def _agree(theirs: Outcome, ours: Outcome) -> bool:
    """Whether two outcomes of a trial are equal, but for what rounding may do on a device."""
    pairs = ((theirs.validation, ours.validation), (theirs.quality, ours.quality))
    same = (math.isclose(a, b, rel_tol=TOLERANCE) or (math.isnan(a) and math.isnan(b))
            for a, b in pairs)  # fmt: skip
    return theirs.problem == ours.problem and all(same)
