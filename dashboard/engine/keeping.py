"""A training's model becomes a checkpoint: under a name of its own, and whole."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

from dashboard.runs.files import writing

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")


def free_name(name: str, root: Path, taken: Collection[str]) -> str:
    """The name as checkpoints bear it: in small letters, with ``_`` for ``-``.

    Args:
        name: as a user wrote it.
        root: the folder of kept checkpoints.
        taken: other names that it must not have.

    Raises:
        ValueError: no name, or one that is taken.
    """
    tidy = name.strip().lower().replace("-", "_")
    if not _NAME.match(tidy):
        raise ValueError(
            "need a name of 1 to 40 of a-z, 0-9, _ and -, starting with a letter; "
            f"got {name[:80]!r}"
        )
    if tidy in taken or (root / tidy).exists():
        raise ValueError(f"there is a checkpoint {tidy!r} already; choose another name")
    return tidy


def copy(model: Path, workplace: Path, target: Path) -> None:
    """Copy a checkpoint so that it appears at once, whole.

    Args:
        model: the folder of an epoch.
        workplace: a folder on the disk of ``target``, where it is put together.
        target: the new folder.

    Raises:
        StorageError: it cannot be written.
    """
    unfinished = workplace / f".{secrets.token_hex(4)}"
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir()
        try:
            for path in model.iterdir():
                if path.suffix != ".arrow":
                    shutil.copyfile(path, unfinished / path.name)
            unfinished.rename(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
