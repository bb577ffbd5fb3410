"""Two ways of doing the same, timed in turn on one thread, and the memory that each takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]


def interleaved(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 5
) -> dict[str, Any]:
    """Seconds of both, which take turns so that a busy machine slows both.

    Returns:
        ``name``; ``ours`` and ``theirs``, each ``{"median": s, "minimum": s}``; ``ratio``, theirs
        over ours by medians, above 1 where ours is faster; ``best_ratio``, by minima; and
        ``memory``, None unless the caller measures it.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ours(), theirs()
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for way, times in zip((ours, theirs), seconds, strict=True):
                began = time.perf_counter()
                way()
                times.append(time.perf_counter() - began)
    finally:
        torch.set_num_threads(threads)
    found = [{"median": statistics.median(s), "minimum": min(s)} for s in seconds]
    return {
        "name": name, "ours": found[0], "theirs": found[1],
        "ratio": found[1]["median"] / found[0]["median"],
        "best_ratio": found[1]["minimum"] / found[0]["minimum"], "memory": None,
    }  # fmt: skip


def peak_growth(module: str, call: str) -> float:
    """MB by which the peak of a fresh process grows when it calls ``module.call``.

    Args:
        call: an expression that makes what is then called, such as ``"additive()[0]"``.
    """
    code = (
        "import torch; torch.set_num_threads(1)\n"
        f"from {module} import *\n"
        f"way = {call}\n"
        # Not getrusage: its peak begins with that of the process that started this one.
        "status = lambda: dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "peak = lambda: int(status()['VmHWM'].split()[0])\n"
        "before = peak(); way(); print((peak() - before) / 1024)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return float(ran.stdout)
