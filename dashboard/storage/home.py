"""The data folder of this user: uploads, runs, trainings, checkpoints."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

VARIABLE = "ATTENTION_WORKBENCH_HOME"


def home() -> Path:
    """Return the data folder, the same as that of :mod:`attention_plugins.home`.

    It is ``$ATTENTION_WORKBENCH_HOME``, or ``attention-workbench`` in the user's data folder: on
    Linux ``$XDG_DATA_HOME`` if that is an absolute path, or else ``~/.local/share``.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return user_data_path("attention-workbench", appauthor=False)


def trainings_root(root: Path | None = None) -> Path:
    """Return the folder that has one folder for each training."""
    return (root or home()) / "trainings"


def checkpoints_root(root: Path | None = None) -> Path:
    """Return the folder of the exported checkpoints, one folder each."""
    return (root or home()) / "checkpoints"
