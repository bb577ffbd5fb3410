"""What is on disk of trainings, read once for each change, and outcomes that the disk refused."""

import re
import secrets
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from dashboard.records.training import State
from dashboard.storage.files import StorageError, sync, trainings_root, writing
from dashboard.storage.training_folder import Ordered, TrainingFolder
from dashboard.storage.training_history import History

# Another server that looks whether one has it holds it for a moment, as does one that has
# recorded its end and is about to let it go.
_PATIENCE = 0.1  # seconds


class Claims:
    """Locks of training folders. The caller holds the lock of the trainings."""

    def __init__(self) -> None:
        self._held: dict[str, FileLock] = {}

    def take(self, folder: TrainingFolder) -> None:
        """Take a training into this server's queue; a ``ValueError`` if that cannot be done."""
        held = folder.hold(_PATIENCE)
        if held is None:
            raise ValueError("another server has this training in its queue")
        self._held[folder.id] = held

    def release(self, id: str) -> None:
        """Let any server take it; nothing happens if it is not in this one's queue."""
        if held := self._held.pop(id, None):
            held.release(force=True)

    def release_all(self) -> None:
        """Let any server take all of them."""
        for id in [*self._held]:
            self.release(id)


_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")


def export(folder: TrainingFolder, name: str, root: Path, taken: Collection[str]) -> str:
    """Export the model of the last finished epoch; return its name. The training does not run.

    ``name`` is as a user wrote it: ``_`` stands for spaces and ``-`` in the checkpoint's, and none
    of those ``taken`` may be given to it.

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
    """Return the name in the form of checkpoint names; a ``ValueError`` if it can have none."""
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

    It is put together in ``scratch``, a folder on the same disk as ``target``.

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


def folder_names(root: Path | None) -> list[str]:
    """Return the names of all that lies where trainings do."""
    with suppress(OSError):
        return [path.name for path in trainings_root(root).iterdir()]
    return []


class TrainingFiles:
    """The folders of all trainings. The caller holds the lock of the trainings."""

    def __init__(self) -> None:
        self._unrecorded: dict[str, History] = {}  # outcomes that could not be written to disk
        self._orders: dict[str, Ordered] = {}
        self._histories: dict[str, tuple[tuple[int, int], History]] = {}

    def order(self, folder: TrainingFolder) -> Ordered:
        """See :meth:`.TrainingFolder.order`."""
        if folder.id not in self._orders:
            self._orders[folder.id] = folder.order()
        return self._orders[folder.id]

    def history(self, folder: TrainingFolder) -> History:
        """Return the history of a training so far."""
        stamp = folder.changed()
        cached = self._histories.get(folder.id)
        if cached is None or cached[0] != stamp:
            cached = self._histories[folder.id] = (stamp, folder.history())
        return cached[1]

    def record(
        self, folder: TrainingFolder, state: State, note: str,
        facts: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Record how a training has ended, on disk if that can be written."""
        try:
            folder.note_state(state, note, facts)
            self.forget_outcome(folder.id)
        except StorageError:  # the disk may be full, and the note may be about that
            self._unrecorded[folder.id] = History(state=state, note=note, facts=facts)

    def outcome(self, id: str) -> History | None:
        """Return how a training has ended, if that could not be written."""
        return self._unrecorded.get(id)

    def forget_outcome(self, id: str) -> None:
        """Forget it, since the training goes on."""
        self._unrecorded.pop(id, None)

    def delete(self, folder: TrainingFolder) -> None:
        """Delete a training."""
        shutil.rmtree(folder.path, ignore_errors=True)
        for cache in (self._orders, self._histories, self._unrecorded):
            cache.pop(folder.id, None)
