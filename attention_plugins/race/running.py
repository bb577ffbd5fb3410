"""Doing a race's trials: by this process, or by several side by side."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import torch

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan
from attention_plugins.race.store import Race
from attention_plugins.race.trials import pending, perform
from attention_plugins.registry import SOFTMAX, Registry

SYMBOLS = ("copy", "reverse", "sort", "recall", "tagging")
CORPUS = "phrasebook"
REGRESSION = ("sine", "step", "doppler", "growing_noise", "outliers", "plane")
TASKS = (*REGRESSION, *SYMBOLS, CORPUS)
MODELS = {"regression": "nadaraya_watson", "translation": "bahdanau"}
REFERENCES = {"regression": "gaussian", "translation": "scaled_dot"}
SEEDS = 12  # with 11 or more, 46 comparisons can be told from chance

# Small enough for a few seconds each, and large enough that no scoring solves every task.
_BUDGETS = {
    "regression": Budget(examples=50, epochs=150, batch_size=50, rates=(0.03, 0.2)),
    "symbols": Budget(examples=1000, epochs=12, batch_size=64, rates=(0.01, 0.03)),
    "corpus": Budget(examples=3000, epochs=12, batch_size=32, rates=(0.01, 0.03)),
}


def plan(
    registry: Registry,
    *,
    tasks: Sequence[str] = TASKS,
    models: Sequence[str] = (),
    scorings: Sequence[str] = (),
    normalisers: Sequence[str] | None = None,
    every_pair: bool = False,
    seeds: int = SEEDS,
) -> Plan:
    """A plan.

    Args:
        tasks: data sets.
        models: at least one for each kind of task; empty for :data:`MODELS`.
        scorings: names, or formulas behind ``=``; empty for all that are installed.
        normalisers: names; None for all that are installed where ``scorings`` is empty, else none.
        every_pair: every scoring with every normaliser; else every scoring in its own way, and
            every normaliser with the reference of :data:`REFERENCES`.

    Raises:
        ContractError: an unknown name, or a task without a model.
    """
    kinds = {registry.dataset(task).task for task in tasks}
    chosen = tuple(models) or tuple(MODELS[kind] for kind in MODELS if kind in kinds)
    for kind in kinds:
        if kind not in {registry.model(model).task for model in chosen}:
            raise ContractError(f"no model for {kind} among {', '.join(chosen)}; add one")
    every = tuple(normalisers) if normalisers is not None else () if scorings else _all(registry)
    contestants = [
        who
        for model in chosen
        for who in _of_model(registry, model, tuple(scorings), every, every_pair)
    ]
    return Plan(
        tasks={task: budget(registry, task) for task in tasks},
        contestants=tuple(dict.fromkeys(contestants)),
        seeds=seeds,
    )


def budget(registry: Registry, task: str) -> Budget:
    """What a task is given by default."""
    spec = registry.dataset(task)
    if spec.task == "regression":
        return _BUDGETS["regression"]
    return _BUDGETS["symbols" if task in SYMBOLS else "corpus"]


def _all(registry: Registry) -> tuple[str, ...]:
    return tuple(name for name in registry.normalisers if name != SOFTMAX)


def _of_model(
    registry: Registry,
    model: str,
    scorings: tuple[str, ...],
    normalisers: tuple[str, ...],
    every_pair: bool,
) -> list[Contestant]:
    reference = REFERENCES[registry.model(model).task]
    names = scorings or tuple(registry.scorings)
    found = [Contestant(model=model, scoring=registry.scoring(name).name) for name in names]
    beside = names if every_pair else (reference,)
    return found + [
        Contestant(model=model, scoring=registry.scoring(name).name, normaliser=way)
        for name in beside
        for way in normalisers
        if not registry.scoring(name).own_normaliser and registry.normaliser(way)
    ]


Watch = Callable[[Outcome], None]


def run(
    race: Race, device: torch.device | str = "cpu", watch: Watch = lambda outcome: None
) -> None:
    """Do trials until none is left that no other process does.

    Args:
        watch: told of every outcome of this process; may raise to stop.
    """
    while _run_some(race, device, watch):
        pass


def run_beside(folder: Path, processes: int, device: str, watch: Callable[[], None]) -> None:
    """Do a race's trials in processes of their own, each on one core.

    Args:
        watch: called twice a second; may raise to stop, and then all processes end.
    """
    context = multiprocessing.get_context("spawn")
    working = [
        context.Process(target=_work, args=(folder, device), daemon=True) for _ in range(processes)
    ]
    for one in working:
        one.start()
    try:
        while any(one.is_alive() for one in working):
            working[0].join(0.5)
            watch()
    finally:
        for one in working:
            one.terminate()
            one.join()


class _Orphaned(Exception):
    """The process that started this one is gone, however it ended."""


def _work(folder: Path, device: str) -> None:
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()

    def see_parent(outcome: Outcome) -> None:
        if parent is not None and not parent.is_alive():
            raise _Orphaned

    with suppress(_Orphaned):
        run(Race.open(folder), device, see_parent)


def _run_some(race: Race, device: torch.device | str, watch: Watch) -> bool:
    """Do those trials that are open now; whether there were any."""
    found = False
    for trial in pending(race.plan, race.outcomes()):
        with race.claimed(trial) as mine:
            if not mine or race.is_done(trial):
                continue
            outcome = perform(trial, race.plan, device)
            race.add(outcome)
        watch(outcome)
        found = True
    return found
