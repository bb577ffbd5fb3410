"""Runs that were kept or brought from elsewhere, on disk; a finished run never changes.

Each is a small record ``runs/<id>.json`` and the bundle that it names by its sha256. Ids are 128
random bits: who does not know one does not guess it.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from dashboard.runs import bundle as bundles
from dashboard.runs.archive import LARGEST_ARCHIVE, MB
from dashboard.runs.blobs import Blobs, default_root
from dashboard.runs.bundle import Bundle, BundleError
from dashboard.runs.training_folder import replace

ID = re.compile(r"[0-9a-f]{32}\Z")
Origin = Literal["kept", "imported"]
_LONGEST_SOURCE = 120
_writing = threading.Lock()


class StoreError(ValueError):
    """A run that cannot be kept, or cannot be read any more, in one sentence."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What is known of a run without opening it.

    Args:
        id: 32 hexadecimal digits.
        origin: whether it was computed here or brought from elsewhere.
        source: the page it was kept from, or the file it came in.
        when: seconds since 1970.
        digest: sha256 of its bundle.
    """

    id: str
    title: str
    task: str
    origin: Origin
    source: str
    when: float
    digest: str


class Runs:
    """All of them. Any number of processes may share one folder.

    Args:
        root: the folder of everything kept; else :func:`~dashboard.runs.blobs.default_root`.
        total: bytes of all bundles; beyond them nothing more is kept.
    """

    def __init__(self, root: Path | None = None, *, total: int = 2048 * MB) -> None:
        self._folder = (root or default_root()) / "runs"
        # What is kept goes only when somebody deletes it, so nothing is to make room here.
        self._blobs = Blobs(self._folder, largest=LARGEST_ARCHIVE, total=2 * total)
        self._total = total

    def keep(self, run: Bundle, source: str = "") -> Kept:
        """Keep what was computed here.

        Raises:
            BundleError: a run larger than a bundle may be.
            StoreError: no room, or a folder that cannot be written.
        """
        return self._add(run, "kept", source)

    def take_in(self, data: bytes, source: str = "") -> Kept:
        """Keep a bundle from elsewhere under a new id, written anew from what was read of it.

        Raises:
            BundleError: what is wrong with it.
            StoreError: as :meth:`keep`.
        """
        return self._add(bundles.read(data), "imported", source)

    def all(self) -> list[Kept]:
        """The newest first; records that cannot be read are passed over."""
        with suppress(OSError):
            found = [self._record(path.stem) for path in self._folder.glob("*.json")]
            return sorted((kept for kept in found if kept), key=lambda k: (-k.when, k.id))
        return []

    def find(self, id: str) -> Kept:
        """What is known of one.

        Raises:
            KeyError: no such run.
        """
        kept = self._record(id) if ID.match(id) else None
        if kept is None:
            raise KeyError(f"no run {id[:40]!a} is kept here")
        return kept

    def packed(self, id: str) -> bytes:
        """The bundle as a file.

        Raises:
            KeyError: no such run.
            StoreError: its file is gone or was changed.
        """
        digest = self.find(id).digest
        try:
            data = self._blobs.path(digest).read_bytes()
        except (ValueError, OSError) as error:
            raise StoreError("the file of this run is not here any more") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StoreError("the file of this run was changed on the disk; import the run again")
        return data

    def open(self, id: str) -> Bundle:
        """The run.

        Raises:
            KeyError, StoreError: as :meth:`packed`.
        """
        try:
            return bundles.read(self.packed(id))
        except BundleError as error:
            raise StoreError(f"this run cannot be read: {error}") from error

    def delete(self, id: str) -> None:
        """Forget one; nothing happens where there is none."""
        with _writing, _reported(self._folder), suppress(KeyError):
            digest = self.find(id).digest
            self._path(id).unlink(missing_ok=True)
            if digest not in {kept.digest for kept in self.all()}:
                with suppress(ValueError):
                    self._blobs.path(digest).unlink(missing_ok=True)

    def _add(self, run: Bundle, origin: Origin, source: str) -> Kept:
        data = bundles.write(run)
        with _writing, _reported(self._folder):
            used = sum(path.stat().st_size for path in self._folder.glob("blobs/*"))
            if used + len(data) > self._total:
                raise StoreError(
                    f"need room for {len(data) / MB:.1f} MB, but the runs kept here already take "
                    f"{used / MB:.0f} of {self._total / MB:.0f} MB; delete some first"
                )
            kept = Kept(
                id=secrets.token_hex(16),
                title=run.title,
                task=run.request.task,
                origin=origin,
                source=source[:_LONGEST_SOURCE],
                when=time.time(),
                digest=self._blobs.put(data),
            )
            replace(self._path(kept.id), json.dumps(asdict(kept)).encode())
        return kept

    def _record(self, id: str) -> Kept | None:
        try:
            fields = json.loads(self._path(id).read_bytes())
            return Kept(**fields) if fields["id"] == id else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"


@contextmanager
def _reported(folder: Path) -> Iterator[None]:
    """What the disk refuses becomes a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {folder}: {error.strerror or error}; free some space there, or set "
            "ATTENTION_WORKBENCH_HOME to a folder that can be written"
        ) from error
