"""The trainings that this server has in its queue, which no other server queues then."""

from __future__ import annotations

from filelock import FileLock

from dashboard.storage.training_folder import TrainingFolder

# Another server that looks whether one has it holds it for a moment, as does one that has
# recorded its end and is about to let it go.
_PATIENCE = 0.1  # seconds


class Claims:
    """Locks of training folders. The caller holds the lock of the trainings."""

    def __init__(self) -> None:
        self._held: dict[str, FileLock] = {}

    def take(self, folder: TrainingFolder) -> None:
        """Take a training into this server's queue.

        Raises:
            ValueError: another server has it, or its folder cannot be written.
        """
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
