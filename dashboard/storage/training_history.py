"""The history of one training, an append-only file, and what servers ask of each other of it.

Several servers may share one data folder. Only the one that queued a training can stop its job;
the others write what they want of it into a file that this one looks at.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import TypeAdapter

from dashboard.language.message import packed, unpacked
from dashboard.records.training import Epoch, State, StopReason
from dashboard.storage.files import read_bounded, replace, sync, writing

_FILE = "stop"
_LARGEST = 100  # bytes


def request_stop(folder: Path, reason: StopReason) -> None:
    """Ask the server that has a training in its queue to stop it; replaces an earlier request."""
    with writing(folder):
        replace(folder / _FILE, reason.encode())


def requested_stop(folder: Path) -> StopReason | None:
    """Return why a server asked to stop a training; None if none did."""
    with suppress(OSError, UnicodeError):
        reason = read_bounded(folder / _FILE, _LARGEST).decode()
        if reason in get_args(StopReason):
            return cast("StopReason", reason)
    return None


def forget_stop(folder: Path) -> None:
    """Delete the request, which was granted or is no longer wanted."""
    with suppress(OSError):
        (folder / _FILE).unlink()


_HISTORY = "history.jsonl"
_LARGEST_HISTORY = 64 * 2**20  # bytes
# What a line of the history may hold besides an epoch.
_TYPES = {"state": str, "note": str, "began": dict, "facts": dict, "checkpoint": str}
_EPOCH = TypeAdapter(Epoch)


@dataclass(frozen=True)
class History:
    """The recorded history of a training; of each kind the last record counts."""

    epochs: tuple[Epoch, ...] = ()
    state: State = "queued"
    note: str = ""
    facts: Mapping[str, Any] | None = None
    checkpoint: str = ""
    losses: tuple[tuple[int, float], ...] = ()


class TrainingHistory:
    """Of one training's folder; the page that starts it and the worker that runs it write it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note_epoch(self, epoch: Epoch) -> None:
        """Record an epoch; it replaces an earlier one with its number."""
        self._append({"epoch": asdict(epoch)})

    def note_losses(self, losses: Sequence[tuple[int, float]]) -> None:
        """Record the training loss at steps; each replaces an earlier one of its step.

        They may be lost with the machine's power: unlike other lines they are not waited for.
        """
        self._append({"losses": [*map(list, losses)]}, wait=False)

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

    def _append(self, entry: Mapping[str, Any], *, wait: bool = True) -> None:
        # The leading line break separates it from a line that a full disk cut short.
        text = f"\n{json.dumps(packed(entry), ensure_ascii=False)}\n"
        line, path = text.encode("utf-8", "backslashreplace"), self.path / _HISTORY
        first = not path.exists()
        with writing(self.path), path.open("ab", buffering=0) as file:
            if file.write(line) < len(line):
                raise OSError(None, "the disk is full")
            if wait:
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
        losses: dict[int, float] = {}
        last: dict[str, Any] = {}
        for entry in self._entries():
            with suppress(TypeError, ValueError):
                if "epoch" in entry:
                    epoch = _EPOCH.validate_json(json.dumps(entry["epoch"]), strict=True)
                    epochs[epoch.epoch] = epoch
                losses |= _losses(entry)
                if _is_known(entry):
                    last.update(entry)
        known = {name: last[name] for name in ("state", "note", "checkpoint") if name in last}
        return History(
            epochs=tuple(epochs[number] for number in sorted(epochs)),
            facts={**last.get("began", {}), **last.get("facts", {})},
            losses=tuple(sorted(losses.items())), **known,
        )  # fmt: skip

    def _entries(self) -> Iterator[dict[str, Any]]:
        with suppress(OSError):
            for line in read_bounded(self.path / _HISTORY, _LARGEST_HISTORY).splitlines():
                with suppress(ValueError, RecursionError):
                    entry = json.loads(line, object_hook=unpacked)
                    if isinstance(entry, dict):
                        yield entry


def _losses(entry: Mapping[str, Any]) -> dict[int, float]:
    found = {int(step): float(loss) for step, loss in entry.get("losses", ())}
    return found if all(map(math.isfinite, found.values())) else {}


def _is_known(entry: Mapping[str, Any]) -> bool:
    right = (isinstance(entry.get(name, kind()), kind) for name, kind in _TYPES.items())
    return all(right) and entry.get("state", "queued") in get_args(State)
