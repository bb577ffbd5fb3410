"""Where this user's downloads, trainings and kept checkpoints lie."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "ATTENTION_WORKBENCH_HOME"


def home() -> Path:
    """``$ATTENTION_WORKBENCH_HOME``, or ``attention-workbench`` in the user's data folder.

    The data folder is ``$XDG_DATA_HOME`` where that is an absolute path, else ``~/.local/share``.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    folder = data if data.is_absolute() else Path.home() / ".local" / "share"
    return folder / "attention-workbench"
