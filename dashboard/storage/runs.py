"""Stored runs, kept from a page or imported; a stored run never changes.

Each run is a small record ``runs/<id>.json``, and the bundle that the record names by its sha256.
Ids are 128 random bits, so they cannot be guessed.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from dashboard.storage import bundle as bundles
from dashboard.storage.archive import LARGEST_ARCHIVE, MB
from dashboard.storage.blobs import DIGEST, Blobs
from dashboard.storage.bundle import Bundle
from dashboard.storage.errors import BundleError, StorageError
from dashboard.storage.files import locked, make_folder, replace, writing
from dashboard.storage.home import home
from dashboard.storage.strict_json import parse_object

ID = re.compile(r"[0-9a-f]{32}\Z")
Origin = Literal["kept", "imported"]
_LONGEST_SOURCE = 120
_YEAR_10000 = 253_402_300_800  # seconds since 1970
_SECONDS_TO_LOCK = 60.0


@dataclass(frozen=True, kw_only=True)
class Run:
    """The record of a run.

    Args:
        id: 32 hexadecimal digits.
        title: one line.
        task: of the run's request.
        origin: whether it was kept from a page of this server, or imported.
        source: the page it was kept from, or the name of the imported file.
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

    @classmethod
    def from_json(cls, data: bytes) -> Run:
        """Read a record.

        Raises:
            ValueError: not a record, or fields of other types.
        """
        fields = parse_object(data, "the record")
        if fields.keys() != cls.__dataclass_fields__.keys():
            raise ValueError("need exactly the fields of a record")
        when = fields.pop("when")
        if not all(isinstance(value, str) for value in fields.values()):
            raise ValueError("need texts")
        if type(when) not in (int, float) or not (0 <= when < _YEAR_10000):
            raise ValueError("need a time in seconds since 1970")
        if not ID.match(fields["id"]) or not DIGEST.match(fields["digest"]):
            raise ValueError("need an id and a sha256 in hexadecimal digits")
        if fields["origin"] not in get_args(Origin):
            raise ValueError(f"need an origin of {', '.join(get_args(Origin))}")
        return cls(**fields, when=when)


class Runs:
    """All stored runs. Any number of processes may share one folder.

    Args:
        root: the data folder; else :func:`~dashboard.storage.home.home`.
        total: bytes of all bundles; beyond them no run is added.
    """

    def __init__(self, root: Path | None = None, *, total: int = 2048 * MB) -> None:
        self._folder = (root or home()) / "runs"
        # Twice the total, so that the store of blobs never removes one to make room.
        self._blobs = Blobs(self._folder, largest=LARGEST_ARCHIVE, total=2 * total)
        self._total = total

    def keep(self, run: Bundle, source: str = "") -> Run:
        """Add a run that this server computed.

        Args:
            run: the run and its charts.
            source: the page that showed it.

        Raises:
            BundleError: a run larger than a bundle may be.
            StorageError: no room, or a folder that cannot be written.
        """
        return self.add(
            bundles.write(run),
            title=run.title,
            task=run.request.task,
            origin="kept",
            source=source,
        )

    def add(self, packed: bytes, *, title: str, task: str, origin: Origin, source: str) -> Run:
        """Add a bundle that this server wrote, under a new id.

        Raises:
            StorageError: no room, or a folder that cannot be written.
        """
        with self._locked():
            used = sum(path.stat().st_size for path in self._folder.glob("blobs/*"))
            if used + len(packed) > self._total:
                raise StorageError(
                    f"need room for {len(packed) / MB:.1f} MB, but the stored runs already "
                    f"take {used / MB:.0f} of {self._total / MB:.0f} MB; delete some first"
                )
            kept = Run(
                id=secrets.token_hex(16),
                title=title,
                task=task,
                origin=origin,
                source=source[:_LONGEST_SOURCE],
                when=time.time(),
                digest=self._blobs.put(packed),
            )
            replace(self._path(kept.id), json.dumps(asdict(kept)).encode())
        return kept

    def all(self) -> list[Run]:
        """Return the records of all runs, the newest first, without damaged ones."""
        return self.scan()[0]

    def scan(self) -> tuple[list[Run], list[str]]:
        """Return :meth:`all`, and the file names of damaged records."""
        found: dict[str, Run | None] = {}
        with suppress(OSError):
            for path in self._folder.glob("*.json"):
                with suppress(FileNotFoundError):  # deleted meanwhile
                    found[path.name] = self._record(path.stem)
        records = [kept for kept in found.values() if kept]
        damaged = sorted(name for name, kept in found.items() if kept is None)
        return sorted(records, key=lambda kept: (-kept.when, kept.id)), damaged

    def find(self, id: str) -> Run:
        """Return the record of a run.

        Raises:
            KeyError: no such run.
            StorageError: the record is damaged.
        """
        if ID.match(id):
            with suppress(FileNotFoundError):
                if kept := self._record(id):
                    return kept
                raise StorageError(f"the record of this run is damaged: {id}.json")
        raise KeyError(f"no run {id[:40]!a} is stored on this server")

    def packed(self, id: str) -> bytes:
        """Return the bundle of a run.

        Raises:
            KeyError: no such run.
            StorageError: its file is missing or was changed.
        """
        digest = self.find(id).digest
        try:
            data = self._blobs.path(digest).read_bytes()
        except (ValueError, OSError) as error:
            raise StorageError("the file of this run is missing") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StorageError("the file of this run was changed on the disk; import it again")
        return data

    def open(self, id: str) -> Bundle:
        """Return a run.

        Raises:
            KeyError: no such run.
            StorageError: its file is missing, was changed, or cannot be read.
        """
        try:
            return bundles.read(self.packed(id))
        except BundleError as error:
            raise StorageError(f"this run cannot be read: {error}") from error

    def delete(self, id: str) -> None:
        """Delete a run; nothing happens if there is none.

        Raises:
            StorageError: a damaged record, or a folder that cannot be written.
        """
        with suppress(KeyError):
            self.find(id)
            with self._locked():
                digest = self.find(id).digest
                self._path(id).unlink(missing_ok=True)
                if digest not in {kept.digest for kept in self.all()}:
                    self._blobs.remove(digest)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other process add or delete a run meanwhile."""
        with writing(self._folder):
            make_folder(self._folder)
            with locked(self._folder / ".lock", _SECONDS_TO_LOCK) as held:
                if not held:
                    raise StorageError("another process writes runs; try again in a minute")
                yield

    def _record(self, id: str) -> Run | None:
        """Read a record; None if it is damaged.

        Raises:
            FileNotFoundError: there is none.
        """
        try:
            kept = Run.from_json(self._path(id).read_bytes())
        except FileNotFoundError:
            raise
        except (OSError, ValueError):
            return None
        return kept if kept.id == id else None

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"
