"""The locks of one training: one server has it in its queue, and one worker runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dashboard.storage import files
from dashboard.storage.errors import StorageError
from dashboard.storage.files import writing

_LOCK, _HELD = "lock", "queued"
_SECONDS_BETWEEN_TRIES = 0.01


class TrainingLocks:
    """Each ends with the process that holds it at the latest.

    Args:
        path: the training's folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

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

    def hold(self, patience: float = 0.0) -> FileLock | None:
        """Take the training into this server's queue, at the latest until this process ends.

        Args:
            patience: seconds to wait while another server holds it, or looks whether one does.

        Returns:
            What must be released once it has ended; None if another server holds it.

        Raises:
            StorageError: the folder cannot be written.
        """
        lock = FileLock(self.path / _HELD, thread_local=False)
        with writing(self.path):
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
