"""The command line and the environment of a worker, and the settings that they come from."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from dashboard.jobs import errors, limits

_PLUGIN_SECONDS = 30.0
_ROOT = Path(__file__).resolve().parents[2]


def workers(given: int | None) -> int:
    """Return the number of workers: ``given``, or ``ATTENTION_WORKERS``, or 2 to 4 by the cores.

    Raises:
        ValueError: fewer than one, or not a whole number.
    """
    return _whole_number("ATTENTION_WORKERS", given, max(2, min(4, limits.cores())), least=1)


def trainers() -> int:
    """Return the number of training workers: ``ATTENTION_TRAINERS``, or 2, or 1 on 1 or 2 cores.

    Raises:
        ValueError: fewer than one, or not a whole number.
    """
    default = 1 if limits.cores() <= 2 else 2
    return _whole_number("ATTENTION_TRAINERS", None, default, least=1)


def silence(given: float | None, default: float) -> float:
    """Return the seconds that a job may run without a report.

    They are ``given``, or ``ATTENTION_SILENCE_LIMIT``, or ``default``.

    Raises:
        ValueError: not a number of seconds above 0.
    """
    return _seconds(errors.SILENCE_VARIABLE, given, default)


def plugin_limit(given: float | None) -> float:
    """Return the seconds in which a plugin must be loaded.

    They are ``given``, or ``ATTENTION_PLUGIN_LIMIT``, or 30.

    Raises:
        ValueError: not a number of seconds above 0.
    """
    return _seconds(errors.PLUGIN_VARIABLE, given, _PLUGIN_SECONDS)


def command(tasks: str, memory: int | None, warm: bool, nice: int = 0) -> list[str]:
    """Return the command line that starts a worker.

    Args:
        tasks: the module whose ``perform`` it calls.
        memory: megabytes it may allocate, 0 for no limit; else ``ATTENTION_WORKER_MEMORY``, else
            70 % of the machine's.
        warm: import torch before the first job.
        nice: its niceness, 0 to 19.

    Raises:
        ValueError: a negative limit, or not a whole number.
    """
    limit = _whole_number("ATTENTION_WORKER_MEMORY", memory, limits.default_memory(), least=0)
    words = [sys.executable, "-m", "dashboard.jobs.worker", "--tasks", tasks]
    words += ["--parent", str(os.getpid()), "--memory", str(limit)]
    if nice:
        words += ["--nice", str(nice)]
    return words if warm else [*words, "--cold"]


def environment(workers: int, extra: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables, adapted for one of ``workers`` workers.

    The workers share the cores, and their waiting threads sleep. The project comes first on the
    path, since a page may run without the project being installed.
    """
    found = {
        "OMP_NUM_THREADS": str(max(1, limits.cores() // workers)),
        "OMP_WAIT_POLICY": "passive",
        **os.environ,
        **extra,
    }
    path = [str(_ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return {**found, "PYTHONPATH": os.pathsep.join(path)}


def _whole_number(variable: str, given: int | None, default: int, *, least: int) -> int:
    text = os.environ.get(variable, "") if given is None else str(given)
    try:
        value = int(text) if text else default
    except ValueError:
        value = least - 1
    if value < least:
        raise ValueError(f"need a whole number of at least {least}, got {text} ({variable})")
    return value


def _seconds(variable: str, given: float | None, default: float) -> float:
    text = os.environ.get(variable, "") if given is None else str(given)
    try:
        value = float(text) if text else default
    except ValueError:
        value = math.nan
    if not value > 0:
        raise ValueError(f"need a number of seconds above 0, got {text} ({variable})")
    return value
