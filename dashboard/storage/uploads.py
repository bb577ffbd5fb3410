"""What each owner has uploaded; the files themselves lie in :mod:`dashboard.storage.blobs`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dashboard.storage.errors import StorageError
from dashboard.storage.files import locked, make_folder, replace, writing
from dashboard.storage.home import home
from dashboard.storage.ids import DIGEST

FOLDER = "uploads"  # in the data folder
_LOCAL = "local"  # the user of this machine
_SECONDS_FOR_LOCK = 10.0
_MB = 2**20


@dataclass(frozen=True)
class Upload:
    """One file of an owner.

    Args:
        digest: its sha256, 64 hexadecimal digits.
        name: as its owner calls it.
        kind: what it was uploaded as.
        size: bytes.
        when: it was uploaded, in seconds since 1970.
    """

    digest: str
    name: str
    kind: str
    size: int
    when: float = field(default_factory=time.time)


class Uploads:
    """The uploads of one owner. Any number of processes may share a folder.

    Args:
        owner: whose they are; empty for the user of this machine.
        root: the data folder; else :func:`~dashboard.storage.home.home`.
    """

    def __init__(self, owner: str, root: Path | None = None) -> None:
        self._folder = (root or home()) / FOLDER
        name = hashlib.sha256(owner.encode()).hexdigest()[:32] if owner else _LOCAL
        self._path = self._folder / f"{name}.json"

    def list(self, kind: str = "") -> list[Upload]:
        """Return the owner's uploads, of one kind or all, the newest first."""
        found = [one for one in _read(self._path) if kind in ("", one.kind)]
        return sorted(found, key=lambda one: -one.when)

    def add(self, upload: Upload, megabytes: int) -> None:
        """Note an upload; one of the same content and kind is replaced.

        Args:
            upload: what was uploaded.
            megabytes: that all uploads of the owner may have.

        Raises:
            ValueError: it would be more than that.
            StorageError: the folder cannot be written.
        """
        with self._changing() as known:
            same = (upload.digest, upload.kind)
            others = [one for one in known if (one.digest, one.kind) != same]
            sizes = {one.digest: one.size for one in (*others, upload)}
            if sum(sizes.values()) > megabytes * _MB:
                used = sum({one.digest: one.size for one in others}.values()) / _MB
                raise ValueError(
                    f"need uploads of at most {megabytes:,} MB in all, got {used:.1f} MB and "
                    f"{upload.size / _MB:.1f} MB more; remove one of yours first"
                )
            known[:] = [*others, upload]

    def remove(self, digest: str) -> bool:
        """Forget an upload; whether nobody has it any more, so that its file may go.

        Raises:
            StorageError: the folder cannot be written.
        """
        with self._changing() as known:
            known[:] = [one for one in known if one.digest != digest]
        return digest not in owned(self._folder)

    @contextmanager
    def _changing(self) -> Iterator[list[Upload]]:
        with writing(self._folder):
            make_folder(self._folder)
            with locked(self._path.with_suffix(".lock"), _SECONDS_FOR_LOCK) as held:
                if not held:
                    raise StorageError(f"{self._path} is in use; try again")
                known = list(_read(self._path))
                yield known
                replace(self._path, json.dumps([asdict(one) for one in known]).encode())


def owned(folder: Path) -> set[str]:
    """The sha256 of every file that somebody has uploaded.

    Args:
        folder: :data:`FOLDER` of the data folder.
    """
    return {one.digest for path in folder.glob("*.json") for one in _read(path)}


def name_of(digest: str, kind: str, root: Path | None = None) -> str:
    """What an uploaded file is called, whoever uploaded it last; empty where nobody has it.

    Whoever knows a digest was given a link with it: no two files share one.

    Args:
        root: as of :class:`Uploads`.
    """
    paths = ((root or home()) / FOLDER).glob("*.json")
    found = [
        one for path in paths for one in _read(path) if (one.digest, one.kind) == (digest, kind)
    ]
    return max(found, key=lambda one: one.when).name if found else ""


def _read(path: Path) -> Iterator[Upload]:
    """The records of a file without damaged ones."""
    with suppress(OSError, ValueError):
        for entry in json.loads(path.read_text("utf-8")):
            if isinstance(entry, dict) and _is_upload(entry):
                yield Upload(**entry)


def _is_upload(entry: dict[str, Any]) -> bool:
    types = {"digest": str, "name": str, "kind": str, "size": int, "when": float}
    fits = entry.keys() == types.keys() and all(type(entry[n]) is t for n, t in types.items())
    return fits and bool(DIGEST.match(entry["digest"]))
