"""A training on disk, shared by the page that asks for it and the worker that does it.

``request.json``, an append-only ``history.jsonl``, ``snapshot.safetensors`` to go on from, and
for each epoch ``epochs/<number>/probe.arrow``; the newest epoch's folder also holds the model as
a checkpoint.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dashboard.runs.blobs import default_root
from dashboard.runs.files import StorageError, replace, try_lock, writing
from dashboard.runs.request import Request
from dashboard.runs.trainings import Epoch, State

SNAPSHOT = "snapshot.safetensors"
_REQUEST, _HISTORY, _LOCK, _PROBE = "request.json", "history.jsonl", "lock", "probe.arrow"
_ID = re.compile(r"[0-9a-f]{32}\Z")
_MODEL = ("model.safetensors", "card.json")


@dataclass(frozen=True)
class History:
    """What the history says: the last of each kind counts."""

    epochs: tuple[Epoch, ...] = ()
    state: State = "queued"
    note: str = ""
    facts: Mapping[str, Any] | None = None
    checkpoint: str = ""


class TrainingFolder:
    """The files of one training.

    Args:
        id: 32 hexadecimal digits.
        root: the folder of everything kept; else :func:`~dashboard.runs.blobs.default_root`.

    Raises:
        KeyError: something else than 32 hexadecimal digits.
    """

    def __init__(self, id: str, root: Path | None = None) -> None:
        if not _ID.match(id):
            raise KeyError(f"no training {id[:80]!r}")
        self.id = id
        self.path = trainings_root(root) / id

    @classmethod
    def create(cls, request: Request, root: Path | None = None) -> TrainingFolder:
        """A new one with a random id.

        Raises:
            StorageError: the folder cannot be written.
        """
        made = cls(secrets.token_hex(16), root)
        facts = {"request": json.loads(request.to_json()), "created": time.time()}
        with writing(made.path):
            made.path.mkdir(parents=True, mode=0o700)
            (made.path / "epochs").mkdir()
            replace(made.path / _REQUEST, json.dumps(facts, ensure_ascii=False).encode())
        return made

    def request(self) -> tuple[Request, float]:
        """What was asked for, and when, in seconds since 1970.

        Raises:
            KeyError: there is no such training.
        """
        try:
            facts = json.loads((self.path / _REQUEST).read_text("utf-8"))
            return Request.from_json(json.dumps(facts["request"])), float(facts["created"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise KeyError(f"no training {self.id!r}: {error}") from error

    # History

    def note_epoch(self, epoch: Epoch) -> None:
        """Add an epoch; one of its number is replaced."""
        self._append({"epoch": asdict(epoch)})

    def note_state(
        self, state: State, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """Add what became of the training."""
        self._append({"state": state, "note": note, "facts": dict(facts or {})})

    def note_facts(self, facts: Mapping[str, Any]) -> None:
        """Add what is known of the training once it has begun."""
        self._append({"began": dict(facts)})

    def note_checkpoint(self, name: str) -> None:
        """Add what the model was kept as."""
        self._append({"checkpoint": name})

    def _append(self, entry: Mapping[str, Any]) -> None:
        # The line break before it: what a full disk cut short must not spoil the next line.
        line = f"\n{json.dumps(entry, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        with writing(self.path), (self.path / _HISTORY).open("ab", buffering=0) as file:
            if file.write(line) < len(line):
                raise OSError(None, "the disk is full")

    def changed(self) -> tuple[int, int]:
        """A stamp that is another one after each change of the history."""
        try:
            found = (self.path / _HISTORY).stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def history(self) -> History:
        """What happened so far; lines that cannot be read are passed over."""
        epochs: dict[int, Epoch] = {}
        last: dict[str, Any] = {}
        for entry in self._entries():
            with suppress(TypeError, KeyError):
                if "epoch" in entry:
                    epochs[entry["epoch"]["epoch"]] = Epoch(**entry["epoch"])
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
            for line in (self.path / _HISTORY).read_bytes().splitlines():
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        yield entry

    # What an epoch leaves

    @contextmanager
    def new_epoch(self, epoch: int) -> Iterator[Path]:
        """An empty folder to fill; at the end it takes its place at once, whole.

        The model of the epoch before is removed then.
        """
        with writing(self.path):
            place, folder = self._epoch(epoch), self.path / "epochs" / f".{secrets.token_hex(4)}"
            folder.mkdir()
            try:
                yield folder
                shutil.rmtree(place, ignore_errors=True)
                folder.rename(place)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            for older in self.path.glob("epochs/[0-9]*"):
                for name in _MODEL if older != place else ():
                    (older / name).unlink(missing_ok=True)

    def model(self) -> Path | None:
        """The newest epoch's folder, a checkpoint; None before the first."""
        found = [card.parent for card in self.path.glob(f"epochs/[0-9]*/{_MODEL[-1]}")]
        return max(found, default=None)

    def write_probe(self, folder: Path, maps: pa.Table) -> None:
        """Put the probe's maps into an epoch's new folder."""
        path = str(folder / _PROBE)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, maps.schema) as writer:
            writer.write_table(maps)

    def probe(self, epoch: int) -> pa.Table:
        """The probe's maps after an epoch.

        Raises:
            KeyError: there are none.
        """
        try:
            with pa.OSFile(str(self._epoch(epoch) / _PROBE)) as source:
                return pa.ipc.open_stream(source).read_all()
        except (OSError, pa.ArrowException) as error:
            raise KeyError(f"no probe of training {self.id!r} after epoch {epoch}") from error

    def _epoch(self, epoch: int) -> Path:
        return self.path / "epochs" / f"{epoch:05}"

    # Where to go on from

    def write_snapshot(self, payload: bytes) -> None:
        """Take the place of the last one, at once and whole.

        Raises:
            StorageError: the folder cannot be written; the last snapshot stays.
        """
        with writing(self.path):
            replace(self.path / SNAPSHOT, payload)

    def snapshot(self) -> Path | None:
        """The file to go on from, if there is one."""
        path = self.path / SNAPSHOT
        return path if path.is_file() else None

    def forget_snapshot(self) -> None:
        """Free its place on the disk."""
        with suppress(OSError):
            (self.path / SNAPSHOT).unlink()

    # One worker at a time

    @contextmanager
    def locked(self, patience: float = 0.0) -> Iterator[bool]:
        """Hold the training's lock; it ends with this process at the latest.

        Args:
            patience: seconds to wait for whoever holds it; then False is yielded.
        """
        end = time.monotonic() + patience
        with writing(self.path), (self.path / _LOCK).open("ab") as file:
            while not (held := try_lock(file)) and time.monotonic() < end:
                time.sleep(0.05)
            yield held

    def busy(self) -> bool:
        """Whether a worker, perhaps of another server, works on it."""
        try:
            with self.locked() as free:
                return not free
        except StorageError:
            return False


def trainings_root(root: Path | None = None) -> Path:
    """The folder with one folder for each training."""
    return (root or default_root()) / "trainings"


def checkpoints_root(root: Path | None = None) -> Path:
    """The folder of kept checkpoints, one folder each."""
    return (root or default_root()) / "checkpoints"
