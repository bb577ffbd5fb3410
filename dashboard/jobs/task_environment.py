"""What the results of a worker were made with."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path
from typing import Any

import torch

from attention_plugins.contract import CONTRACT_VERSION

_ROOT = Path(__file__).parents[2]
_PATIENCE = 10.0  # seconds


def environment() -> dict[str, Any]:
    """Return the versions of the contract and of torch, torch's threads, and the source's commit.

    The commit is empty where the source is no git checkout.
    """
    return {
        "contract": ".".join(map(str, CONTRACT_VERSION)),
        "torch": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "commit": _commit(),
    }


@functools.cache
def _commit() -> str:
    if not (_ROOT / ".git").exists():
        return ""
    command = ["git", "--no-optional-locks", "-C", str(_ROOT), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()
