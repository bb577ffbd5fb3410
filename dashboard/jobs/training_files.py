"""What is on disk of trainings, read once for each change, and outcomes that the disk refused."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dashboard.records.training import State
from dashboard.storage.errors import StorageError
from dashboard.storage.home import trainings_root
from dashboard.storage.training_folder import Ordered, TrainingFolder
from dashboard.storage.training_history import History


def folder_names(root: Path | None) -> list[str]:
    """Return the names of all that lies where trainings do.

    Args:
        root: the data folder; else :func:`~dashboard.storage.home.home`.
    """
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
        """Return what a training computes, for whom, and when it was created.

        Raises:
            KeyError: no such training, or a damaged file.
        """
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
        self,
        folder: TrainingFolder,
        state: State,
        note: str,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Record how a training has ended, on disk if that can be written."""
        try:
            folder.note_state(state, note, facts)
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
