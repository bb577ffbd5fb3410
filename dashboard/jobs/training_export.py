"""Exports a training's model as a checkpoint: a valid name, and a copy that appears at once."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

from dashboard.storage.files import sync, writing
from dashboard.storage.training_folder import TrainingFolder

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")


def export(folder: TrainingFolder, name: str, root: Path, taken: Collection[str]) -> str:
    """Export the model of the last finished epoch and note that; return the checkpoint's name.

    Args:
        folder: of a training that does not run.
        name: see :func:`checkpoint_name`.
        root: the folder of the exported checkpoints.
        taken: names of other checkpoints.

    Raises:
        ValueError: no model, an invalid or taken name, or a folder that cannot be written.
    """
    model = folder.model()
    if model is None:
        raise ValueError("this training has not finished an epoch, so it has no model yet")
    name = checkpoint_name(name, root, taken)
    copy_checkpoint(model, folder.path, root / name)
    folder.note_checkpoint(name)
    return name


def checkpoint_name(name: str, root: Path, taken: Collection[str]) -> str:
    """Return the name in the form of checkpoint names: lower case, ``_`` for ``-`` and spaces.

    Args:
        name: as a user wrote it.
        root: the folder of the exported checkpoints.
        taken: names of other checkpoints.

    Raises:
        ValueError: not a valid name, or one that is taken.
    """
    tidy = re.sub(r"[\s-]+", "_", name.strip().lower())
    if not _NAME.match(tidy):
        raise ValueError(
            "need a name of 1 to 40 of a-z, 0-9, spaces, _ and -, starting with a letter; "
            f"got {name[:80]!r}"
        )
    if tidy in taken or (root / tidy).exists():
        raise ValueError(f"there is a checkpoint {tidy!r} already; choose another name")
    return tidy


def copy_checkpoint(model: Path, scratch: Path, target: Path) -> None:
    """Copy a checkpoint so that the whole copy appears at once, and survives a power loss.

    Args:
        model: the folder of an epoch.
        scratch: a folder on the same disk as ``target``, where the copy is put together.
        target: the new folder.

    Raises:
        StorageError: it cannot be written.
    """
    unfinished = scratch / f".{secrets.token_hex(4)}"
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir()
        try:
            for path in model.iterdir():
                if path.suffix != ".arrow":
                    sync(Path(shutil.copyfile(path, unfinished / path.name)))
            sync(unfinished)
            unfinished.rename(target)
            sync(target.parent)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
