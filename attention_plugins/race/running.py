"""Doing a race's trials: by this process, or by several side by side."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch

from attention_plugins.race.records import Outcome
from attention_plugins.race.store import Race
from attention_plugins.race.trials import pending, perform

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
