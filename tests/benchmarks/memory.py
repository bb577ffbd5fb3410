"""How much memory a piece of work takes, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
