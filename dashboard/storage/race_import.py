"""Takes races of other dashboards in, each into a folder of its own, and lets them go again."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from dashboard.storage.errors import StorageError
from dashboard.storage.files import make_folder, replace, sync, writing
from dashboard.storage.home import home
from dashboard.storage.races import (
    FOLDER,
    IMPORTED,
    NAME,
    OUTCOMES,
    PLAN,
    SHIPPED_FOLDERS,
    folder_of,
    owner_of,
)

MOST_OF_ONE_OWNER = 100
_DRAFT = ".draft-"
_LONGEST = 48  # characters of a name that is made here, with room for a number
_MOST_OF_ONE_NAME = 100
_MB = 2**20


def add(name: str, plan: bytes, outcomes: bytes, owner: str, *, megabytes: int, total: int) -> str:
    """Take a race in; its name here, which differs where there is one of that name.

    Args:
        name: as it is to be called.
        plan, outcomes: its files, as a worker has checked and written them.
        owner: whose it is.
        megabytes: that all races which this owner took in may have.
        total: the same of all owners.

    Raises:
        ValueError: no room.
        StorageError: the data folder cannot be written.
    """
    root, size = home() / FOLDER, len(plan) + len(outcomes)
    _see_room(root, owner, size, megabytes * _MB, total * _MB)
    draft = root / f"{_DRAFT}{secrets.token_hex(8)}"
    with writing(root):
        try:
            make_folder(draft)
            replace(draft / OUTCOMES, outcomes)
            note = {"owner": owner, "when": time.time()}
            replace(draft / IMPORTED, json.dumps(note).encode())
            replace(draft / PLAN, plan)
            for free in _free_names(name):
                with suppress(OSError):
                    (root / free).mkdir()  # nobody else takes the name now
                    draft.rename(root / free)  # over an empty folder
                    sync(root)
                    return free
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    raise StorageError(f"cannot name a race {name!r} in {root}; give the file another name")


def remove(name: str) -> None:
    """Delete a race that was taken in.

    Raises:
        ValueError: it was made here, or there is none: only its maker deletes its folder.
        StorageError: it cannot be deleted.
    """
    folder = folder_of(name)
    if name in SHIPPED_FOLDERS or not (folder / IMPORTED).is_file():
        raise ValueError(f"the race {name!r} was not imported; delete its folder by hand")
    with writing(folder):
        shutil.rmtree(folder)


def slug(name: str) -> str:
    """A name of a race made of any text, such as that of a file."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:_LONGEST]
    return plain if NAME.match(plain) and plain not in SHIPPED_FOLDERS else "race"


def _free_names(name: str) -> Iterator[str]:
    base = slug(name)
    yield base
    yield from (f"{base}-{number}" for number in range(2, _MOST_OF_ONE_NAME))


def _see_room(root: Path, owner: str, size: int, most: int, total: int) -> None:
    sizes: list[tuple[str | None, int]] = []
    if root.is_dir():
        for path in root.iterdir():
            with suppress(OSError, ValueError):
                sizes.append((owner_of(path), _size((path / PLAN, path / OUTCOMES))))
    if sum(whose == owner for whose, _ in sizes) >= MOST_OF_ONE_OWNER:
        raise ValueError(f"need at most {MOST_OF_ONE_OWNER} imported races; remove one first")
    own = sum(taken for whose, taken in sizes if whose == owner)
    every = sum(taken for whose, taken in sizes if whose is not None)
    if own + size > most:
        raise ValueError(
            f"need at most {most // _MB:,} MB of your imported races together, got "
            f"{own / _MB:.1f} MB and {size / _MB:.1f} MB more; remove one first"
        )
    if every + size > total:
        raise ValueError(
            f"need at most {total // _MB:,} MB of all imported races together, got "
            f"{every / _MB:.1f} MB and {size / _MB:.1f} MB more; remove one first"
        )


def _size(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())
