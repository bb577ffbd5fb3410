"""The data folder of this user: uploads, runs, trainings, checkpoints."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from platformdirs import user_data_path

VARIABLE = "ATTENTION_WORKBENCH_HOME"
_ID = "folder-id"


def home() -> Path:
    """Return the data folder, the same as that of :mod:`attention_plugins.home`.

    It is ``$ATTENTION_WORKBENCH_HOME``, or ``attention-workbench`` in the user's data folder: on
    Linux ``$XDG_DATA_HOME`` if that is an absolute path, or else ``~/.local/share``.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return user_data_path("attention-workbench", appauthor=False)


def folder_id(place: Path, *, make: bool = False) -> str:
    """Return the id of a data folder, by which machines that share it recognise it.

    Args:
        place: the folder.
        make: give it one if it has none; otherwise that is empty.

    Raises:
        OSError: it cannot be read or written.
    """
    path = place / _ID
    if make and not path.is_file():
        place.mkdir(parents=True, exist_ok=True)
        made = secrets.token_hex(16)
        draft = place / f"{_ID}-{made}"
        draft.write_text(made, encoding="utf-8")
        with suppress(FileExistsError):  # of two servers that make one at once the first wins
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def trainings_root(root: Path | None = None) -> Path:
    """Return the folder that has one folder for each training."""
    return (root or home()) / "trainings"


def checkpoints_root(root: Path | None = None) -> Path:
    """Return the folder of the exported checkpoints, one folder each."""
    return (root or home()) / "checkpoints"
