"""Where checkpoints lie: the shipped ones, and what this user downloads, trains and keeps."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "ATTENTION_WORKBENCH_HOME"
_PACKAGED = Path(__file__).parent / "trained"  # in a wheel
SHIPPED = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[1] / "trained"


def home() -> Path:
    """``$ATTENTION_WORKBENCH_HOME``, or ``attention-workbench`` in the user's data folder.

    On Linux the data folder is ``$XDG_DATA_HOME`` where that is an absolute path, else
    ``~/.local/share``; on other systems it is where they keep such data.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("attention-workbench", appauthor=False)


def is_shipped(folder: Path) -> bool:
    """Whether a checkpoint's folder came with the workbench."""
    return folder.resolve().is_relative_to(SHIPPED.resolve())
