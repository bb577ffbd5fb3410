"""The folder of one training, shared by the page that starts it and the worker that runs it.

It holds ``request.json``; an append-only ``history.jsonl``; ``snapshot.safetensors``, from which
the training continues; and ``epochs/<number>/probe.arrow`` for each epoch. The newest epoch's
folder also holds the model as a checkpoint.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pyarrow as pa
from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from dashboard.records.request import Request
from dashboard.records.training import Epoch, State
from dashboard.storage import files
from dashboard.storage.errors import StorageError
from dashboard.storage.files import make_folder, replace, sync, writing
from dashboard.storage.home import trainings_root
from dashboard.storage.reading import read_bounded

SNAPSHOT = "snapshot.safetensors"
_REQUEST, _HISTORY, _LOCK, _PROBE = "request.json", "history.jsonl", "lock", "probe.arrow"
_LARGEST_REQUEST, _LARGEST_HISTORY, _LARGEST_PROBE = 2**20, 64 * 2**20, 128 * 2**20  # bytes
_HELD = "queued"
_ID = re.compile(r"[0-9a-f]{32}\Z")
_MODEL = ("model.safetensors", "card.json")
# What a line of the history may hold besides an epoch.
_TYPES = {"state": str, "note": str, "began": dict, "facts": dict, "checkpoint": str}


_EPOCH = TypeAdapter(Epoch)
_YEAR_10000 = 253_402_300_800  # seconds since 1970


@dataclass(frozen=True)
class History:
    """The recorded history of a training; of each kind the last record counts."""

    epochs: tuple[Epoch, ...] = ()
    state: State = "queued"
    note: str = ""
    facts: Mapping[str, Any] | None = None
    checkpoint: str = ""


class Ordered(NamedTuple):
    """What a training computes, when it was created in seconds since 1970, and its owner."""

    request: Request
    created: float
    owner: str


class TrainingFolder:
    """The files of one training.

    Args:
        id: 32 hexadecimal digits.
        root: the data folder; else :func:`~dashboard.storage.home.home`.

    Raises:
        KeyError: not 32 hexadecimal digits.
    """

    def __init__(self, id: str, root: Path | None = None) -> None:
        if not _ID.match(id):
            raise KeyError(f"no training {id[:80]!r}")
        self.id = id
        self.path = trainings_root(root) / id

    @classmethod
    def create(
        cls, request: Request, root: Path | None = None, *, owner: str = ""
    ) -> TrainingFolder:
        """Make the folder of a new training, with a random id.

        Raises:
            StorageError: the folder cannot be written.
        """
        made = cls(secrets.token_hex(16), root)
        facts = {
            "request": json.loads(request.to_json()), "created": time.time(), "owner": owner,
        }  # fmt: skip
        with writing(made.path):
            make_folder(made.path / "epochs")
            replace(made.path / _REQUEST, json.dumps(facts, ensure_ascii=False).encode())
        return made

    def order(self) -> Ordered:
        """Return what the training computes, for whom, and when it was created.

        Raises:
            KeyError: no such training, or a damaged file.
        """
        try:
            facts = json.loads(read_bounded(self.path / _REQUEST, _LARGEST_REQUEST))
            request = Request.from_json(json.dumps(facts["request"]))
            return Ordered(request, _time(facts["created"]), str(facts.get("owner", "")))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise KeyError(f"no training {self.id!r}: {error}") from error

    # History

    def note_epoch(self, epoch: Epoch) -> None:
        """Record an epoch; it replaces an earlier one with its number."""
        self._append({"epoch": asdict(epoch)})

    def note_state(
        self, state: State, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """Record the state of the training."""
        self._append({"state": state, "note": note, "facts": dict(facts or {})})

    def note_facts(self, facts: Mapping[str, Any]) -> None:
        """Record what is known of the training from its first step."""
        self._append({"began": dict(facts)})

    def note_checkpoint(self, name: str) -> None:
        """Record the name under which the model was exported."""
        self._append({"checkpoint": name})

    def _append(self, entry: Mapping[str, Any]) -> None:
        # The leading line break separates it from a line that a full disk cut short.
        line = f"\n{json.dumps(entry, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        path = self.path / _HISTORY
        first = not path.exists()
        with writing(self.path), path.open("ab", buffering=0) as file:
            if file.write(line) < len(line):
                raise OSError(None, "the disk is full")
            os.fsync(file.fileno())
            if first:
                sync(self.path)

    def changed(self) -> tuple[int, int]:
        """Return a stamp that differs after each change of the history."""
        try:
            found = (self.path / _HISTORY).stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def history(self) -> History:
        """Return the history so far, without damaged lines."""
        epochs: dict[int, Epoch] = {}
        last: dict[str, Any] = {}
        for entry in self._entries():
            with suppress(TypeError, ValueError):
                if "epoch" in entry:
                    epoch = _EPOCH.validate_json(json.dumps(entry["epoch"]), strict=True)
                    epochs[epoch.epoch] = epoch
                if _is_known(entry):
                    last.update(entry)
        return History(
            epochs=tuple(epochs[number] for number in sorted(epochs)),
            state=last.get("state", "queued"),
            note=last.get("note", ""),
            facts={**last.get("began", {}), **last.get("facts", {})},
            checkpoint=last.get("checkpoint", ""),
        )

    def _entries(self) -> Iterator[dict[str, Any]]:
        with suppress(OSError):
            history = read_bounded(self.path / _HISTORY, _LARGEST_HISTORY)
            for line in history.splitlines():
                with suppress(ValueError, RecursionError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        yield entry

    # Epochs

    @contextmanager
    def new_epoch(self, epoch: int) -> Iterator[Path]:
        """Yield an empty folder to fill; at the end it becomes the epoch's folder at once.

        It is on the disk then, and so is each line of the history once it is written.
        The models of other epochs are removed then.
        """
        with writing(self.path):
            place, folder = self._epoch(epoch), self.path / "epochs" / f".{secrets.token_hex(4)}"
            folder.mkdir()
            try:
                yield folder
                for written in (*folder.iterdir(), folder):
                    sync(written)
                shutil.rmtree(place, ignore_errors=True)
                folder.rename(place)
                sync(place.parent)
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
        """Return the maps of the probe sentence after an epoch.

        Raises:
            KeyError: there are none.
        """
        try:
            packed = read_bounded(self._epoch(epoch) / _PROBE, _LARGEST_PROBE)
            return pa.ipc.open_stream(packed).read_all()
        except (OSError, pa.ArrowException) as error:
            raise KeyError(f"no probe of training {self.id!r} after epoch {epoch}") from error

    def _epoch(self, epoch: int) -> Path:
        return self.path / "epochs" / f"{epoch:05}"

    # The snapshot

    def write_snapshot(self, payload: bytes) -> None:
        """Replace the snapshot at once.

        Raises:
            StorageError: the folder cannot be written; the last snapshot stays.
        """
        with writing(self.path):
            replace(self.path / SNAPSHOT, payload)

    def snapshot(self) -> Path | None:
        """Return the file from which the training continues, or None."""
        path = self.path / SNAPSHOT
        return path if path.is_file() else None

    def forget_snapshot(self) -> None:
        """Delete the snapshot."""
        with suppress(OSError):
            (self.path / SNAPSHOT).unlink()

    # The lock: one worker at a time

    @contextmanager
    def locked(self, timeout: float = 0.0) -> Iterator[bool]:
        """Hold the training's lock; it ends with this process at the latest.

        Args:
            timeout: seconds to wait for another holder; then False is yielded.

        Raises:
            StorageError: the folder cannot be written.
        """
        with writing(self.path), files.locked(self.path / _LOCK, timeout) as held:
            yield held

    def hold(self) -> FileLock | None:
        """Take the training into this server's queue, at the latest until this process ends.

        Returns:
            What must be released once it has ended; None if another server holds it.

        Raises:
            StorageError: the folder cannot be written.
        """
        lock = FileLock(self.path / _HELD, thread_local=False)
        with writing(self.path):
            self.path.stat()  # or the lock would make the folder
            try:
                lock.acquire(timeout=0)
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


def _is_known(entry: Mapping[str, Any]) -> bool:
    """Whether what a line says besides an epoch is of the right types."""
    right = (isinstance(entry.get(name, kind()), kind) for name, kind in _TYPES.items())
    return all(right) and entry.get("state", "queued") in get_args(State)


def _time(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value < _YEAR_10000:
        raise ValueError("need a time in seconds since 1970")
    return float(value)
