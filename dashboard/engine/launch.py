"""How a worker is started: its command line, its variables, the settings they come from."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from dashboard.engine import faults, machine

_SECONDS_TO_LOAD = 30.0
_ROOT = Path(__file__).resolve().parents[2]


def workers(given: int | None) -> int:
    """How many workers: as given, else ``ATTENTION_WORKERS``, else 2 to 4 by the cores.

    Raises:
        ValueError: fewer than one, or no whole number.
    """
    return _setting("ATTENTION_WORKERS", given, max(2, min(4, machine.cores())), least=1)


def trainers() -> int:
    """How many workers for trainings: ``ATTENTION_TRAINERS``, else 2, or 1 on up to 2 cores.

    Raises:
        ValueError: fewer than one, or no whole number.
    """
    return _setting("ATTENTION_TRAINERS", None, 1 if machine.cores() <= 2 else 2, least=1)


def silence(given: float | None, otherwise: float) -> float:
    """Seconds that a job may compute unheard: as given, else ``ATTENTION_SILENCE_LIMIT``.

    Raises:
        ValueError: no number of seconds above 0.
    """
    return _seconds(faults.SILENCE, given, otherwise)


def loading(given: float | None) -> float:
    """Seconds in which a plugin must be loaded: else ``ATTENTION_PLUGIN_LIMIT``, else 30.

    Raises:
        ValueError: no number of seconds above 0.
    """
    return _seconds(faults.LOADING, given, _SECONDS_TO_LOAD)


def command(tasks: str, memory: int | None, warm: bool, nice: int = 0) -> list[str]:
    """What runs a worker.

    Args:
        tasks: the module whose ``perform`` it calls.
        memory: megabytes it may allocate, 0 for no limit; else ``ATTENTION_WORKER_MEMORY``, else
            70 % of the machine's.
        warm: import torch before the first job.
        nice: how much less than others it wants to be served, 0 to 19.

    Raises:
        ValueError: a negative limit, or no whole number.
    """
    limit = _setting("ATTENTION_WORKER_MEMORY", memory, machine.default_memory(), least=0)
    words = [sys.executable, "-m", "dashboard.engine.worker", "--tasks", tasks]
    words += ["--parent", str(os.getpid()), "--memory", str(limit)]
    if nice:
        words += ["--nice", str(nice)]
    return words if warm else [*words, "--cold"]


def environment(workers: int, extra: Mapping[str, str]) -> dict[str, str]:
    """This process's variables for one of so many workers: cores shared, waiting threads asleep.

    The project comes first on the path, since a page may run where it is not installed.
    """
    found = {
        "OMP_NUM_THREADS": str(max(1, machine.cores() // workers)),
        "OMP_WAIT_POLICY": "passive",
        **os.environ,
        **extra,
    }
    path = [str(_ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return {**found, "PYTHONPATH": os.pathsep.join(path)}


def _setting(variable: str, given: int | None, otherwise: int, *, least: int) -> int:
    text = os.environ.get(variable, "") if given is None else str(given)
    try:
        value = int(text) if text else otherwise
    except ValueError:
        value = least - 1
    if value < least:
        raise ValueError(f"need a whole number of at least {least}, got {text} ({variable})")
    return value


def _seconds(variable: str, given: float | None, otherwise: float) -> float:
    text = os.environ.get(variable, "") if given is None else str(given)
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = math.nan
    if not value > 0:
        raise ValueError(f"need a number of seconds above 0, got {text} ({variable})")
    return value
