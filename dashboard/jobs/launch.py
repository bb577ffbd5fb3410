"""The command line and the environment of a worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from dashboard.jobs import limits

_ROOT = Path(__file__).resolve().parents[2]


def command(tasks: str, memory: int, warm: bool, nice: int = 0) -> list[str]:
    """Return the command line that starts a worker.

    Args:
        tasks: the module whose ``perform`` it calls.
        memory: megabytes it may allocate, 0 for no limit.
        warm: import torch before the first job.
        nice: its niceness, 0 to 19.
    """
    words = [sys.executable, "-m", "dashboard.jobs.worker", "--tasks", tasks]
    words += ["--parent", str(os.getpid()), "--memory", str(memory)]
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
