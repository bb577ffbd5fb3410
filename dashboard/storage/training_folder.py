"""The folder of one training, shared by the page that starts it and the worker that runs it.

It holds ``request.json``; an append-only ``history.jsonl``; ``snapshot.safetensors``, from which
the training continues; and ``epochs/<number>/probe.arrow`` for each epoch. The newest epoch's
folder also holds the model as a checkpoint.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from filelock import FileLock, Timeout

from dashboard.records.request import Request
from dashboard.storage import files
from dashboard.storage.files import StorageError
from dashboard.storage.training_history import TrainingHistory

_LOCK, _HELD = "lock", "queued"
_SECONDS_BETWEEN_TRIES = 0.01


class TrainingLocks:
    """Of one training's folder; each ends with the process that holds it at the latest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self, timeout: float = 0.0) -> Iterator[bool]:
        """Hold the training's lock; see :func:`.files.locked`."""
        with files.writing(self.path), files.locked(self.path / _LOCK, timeout) as held:
            yield held

    def hold(self, patience: float = 0.0) -> FileLock | None:
        """Take the training into this server's queue.

        Returns what must be released once it has ended; None if another server holds it, or looks
        whether one does, and has not let it go after so many seconds.
        """
        lock = FileLock(self.path / _HELD, thread_local=False)
        with files.writing(self.path):
            self.path.stat()  # or the lock would make the folder
            try:
                lock.acquire(timeout=patience, poll_interval=_SECONDS_BETWEEN_TRIES)
            except Timeout:
                return None
        return lock

    def held(self) -> bool:
        """Whether a server has the training in its queue."""
        try:
            lock = self.hold()
        except StorageError:
            return False
        if lock is None:
            return True
        lock.release(force=True)
        return False

    def busy(self) -> bool:
        """Whether a worker, perhaps of another server, holds the lock."""
        try:
            with self.locked() as held:
                return not held
        except StorageError:
            return False


SNAPSHOT = "snapshot.safetensors"
_REQUEST, _PROBE = "request.json", "probe.arrow"
_LARGEST_REQUEST, _LARGEST_PROBE = 2**20, 128 * 2**20  # bytes
_ID = re.compile(r"[0-9a-f]{32}\Z")
_MODEL = ("model.safetensors", "card.json")
_YEAR_10000 = 253_402_300_800  # seconds since 1970


class Ordered(NamedTuple):
    """What a training computes, when it was created in seconds since 1970, and its owner."""

    request: Request
    created: float
    owner: str


class TrainingFolder(TrainingHistory, TrainingLocks):
    """The files of one training. Writing raises ``StorageError`` where it is not possible.

    KeyError: an id that is not 32 hexadecimal digits.
    """

    def __init__(self, id: str, root: Path | None = None) -> None:
        if not _ID.match(id):
            raise KeyError(f"no training {id[:80]!r}")
        super().__init__(files.trainings_root(root) / id)
        self.id = id

    @classmethod
    def create(
        cls, request: Request, root: Path | None = None, *, owner: str = ""
    ) -> TrainingFolder:
        """Make the folder of a new training, with a random id."""
        made = cls(secrets.token_hex(16), root)
        facts = {"request": json.loads(request.to_json()), "created": time.time(), "owner": owner}
        with files.writing(made.path):
            files.make_folder(made.path / "epochs")
            files.replace(made.path / _REQUEST, json.dumps(facts, ensure_ascii=False).encode())
        return made

    def order(self) -> Ordered:
        """Return what the training computes, for whom, and when it was created.

        KeyError: no such training, or a damaged file.
        """
        try:
            facts = json.loads(files.read_bounded(self.path / _REQUEST, _LARGEST_REQUEST))
            request = Request.from_json(json.dumps(facts["request"]))
            return Ordered(request, _time(facts["created"]), str(facts.get("owner", "")))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise KeyError(f"no training {self.id!r}: {error}") from error

    # Epochs

    @contextmanager
    def new_epoch(self, epoch: int) -> Iterator[Path]:
        """Yield an empty folder to fill; at the end it becomes the epoch's folder at once.

        It is on the disk then, and so is each line of the history once it is written.
        The models of other epochs are removed then.
        """
        with files.writing(self.path):
            place, folder = self._epoch(epoch), self.path / "epochs" / f".{secrets.token_hex(4)}"
            folder.mkdir()
            try:
                yield folder
                for written in (*folder.iterdir(), folder):
                    files.sync(written)
                shutil.rmtree(place, ignore_errors=True)
                folder.rename(place)
                files.sync(place.parent)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            for older in self.path.glob("epochs/[0-9]*"):
                for name in _MODEL if older != place else ():
                    (older / name).unlink(missing_ok=True)

    def model(self) -> Path | None:
        """Return the newest epoch's folder, a checkpoint; None before the first."""
        found = [card.parent for card in self.path.glob(f"epochs/[0-9]*/{_MODEL[-1]}")]
        return max(found, default=None)

    def write_probe(self, folder: Path, maps: pa.Table) -> None:
        """Write the maps of the probe sentence into an epoch's new folder."""
        path = str(folder / _PROBE)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, maps.schema) as writer:
            writer.write_table(maps)

    def probe(self, epoch: int) -> pa.Table:
        """Return the maps of the probe sentence after an epoch. KeyError: there are none."""
        try:
            packed = files.read_bounded(self._epoch(epoch) / _PROBE, _LARGEST_PROBE)
            return pa.ipc.open_stream(packed).read_all()
        except (OSError, pa.ArrowException) as error:
            raise KeyError(f"no probe of training {self.id!r} after epoch {epoch}") from error

    def _epoch(self, epoch: int) -> Path:
        return self.path / "epochs" / f"{epoch:05}"

    # The snapshot

    def write_snapshot(self, payload: bytes) -> None:
        """Replace the snapshot at once."""
        with files.writing(self.path):
            files.replace(self.path / SNAPSHOT, payload)

    def snapshot(self) -> Path | None:
        """Return the file from which the training continues, or None."""
        path = self.path / SNAPSHOT
        return path if path.is_file() else None

    def forget_snapshot(self) -> None:
        """Delete the snapshot."""
        with suppress(OSError):
            (self.path / SNAPSHOT).unlink()


def _time(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value < _YEAR_10000:
        raise ValueError("need a time in seconds since 1970")
    return float(value)
