"""The trainings of all sessions: started, paused, resumed, cancelled, removed, exported."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock

from dashboard.jobs import training_limits
from dashboard.jobs.backend import Capacity, Event, JobBackend
from dashboard.jobs.training_export import checkpoint_name, copy_checkpoint
from dashboard.jobs.training_jobs import TrainingJobs, training_pool
from dashboard.jobs.training_status import paused_note, training_status
from dashboard.records.request import Request
from dashboard.records.training import State, StopReason, Training
from dashboard.storage.errors import StorageError
from dashboard.storage.home import checkpoints_root, trainings_root
from dashboard.storage.stop_requests import forget_stop, request_stop, requested_stop
from dashboard.storage.training_folder import Ordered, TrainingFolder
from dashboard.storage.training_history import History


class Trainings:
    """One per server. Every method may be called from any thread.

    Trainings outlive this process: another one over the same folder finds them again.

    Args:
        root: the data folder; else :func:`~dashboard.storage.home.home`.
        make_backend: makes the backend when the first training starts.
        taken_names: returns names of checkpoints that an exported training must not take.
        on_export: called after a training was exported.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        make_backend: Callable[[], JobBackend] = training_pool,
        taken_names: Callable[[], Collection[str]] = tuple,
        on_export: Callable[[], None] = lambda: None,
    ) -> None:
        self._root, self._taken_names, self._on_export = root, taken_names, on_export
        self._lock = threading.RLock()
        self._jobs = TrainingJobs(make_backend, self._end, self._lock, self._requested)
        self._unrecorded: dict[str, History] = {}  # outcomes that could not be written to disk
        self._orders: dict[str, Ordered] = {}
        self._held: dict[str, FileLock] = {}  # those in this server's queue
        self._histories: dict[str, tuple[tuple[int, int], History]] = {}

    def start(self, request: Request, owner: str = "") -> str:
        """Queue a training and return its id. If the worker refuses it, it becomes ``failed``.

        Raises:
            ValueError: another task's request, one beyond a limit of this server, or the folder
                cannot be written.
        """
        if request.task != "training":
            raise ValueError(f"need a request of the task 'training', got {request.task!r}")
        training_limits.check_request(request)
        with self._lock:
            training_limits.check_room(self._jobs.owners(), owner)
            folder = TrainingFolder.create(request, self._root, owner=owner)
            self._submit(folder)
        return folder.id

    def adopt(self) -> None:
        """Queue the trainings again that waited when a server ended, the oldest first."""
        with self._lock:
            waiting = [one for one in self.list() if one.state == "queued"]
            for training in sorted(waiting, key=lambda one: one.created):
                if training.id not in self._jobs:
                    with suppress(ValueError):  # another server has it, or it cannot be written
                        self._submit(TrainingFolder(training.id, self._root))

    def list(self) -> list[Training]:
        """Return all trainings, the newest first."""
        found = []
        with suppress(OSError):
            for path in trainings_root(self._root).iterdir():
                with suppress(KeyError):
                    found.append(self.get(path.name))
        return sorted(found, key=lambda training: (-training.created, training.id))

    def get(self, id: str) -> Training:
        """Return a training with its present status.

        Raises:
            KeyError: no such training.
        """
        with self._lock:
            folder = TrainingFolder(id, self._root)
            request, created, owner = self._order(folder)
            history = self._history(folder)
            stopping, requested = self._jobs.stop_reason(id), self._requested(id)
            if "remove" in (stopping, requested):
                if id not in self._jobs and not folder.held():  # its server ended before it could
                    self._delete(folder)
                raise KeyError(f"training {id!r} was removed")
            events = self._jobs.events(id)
            outcome = self._unrecorded.get(id) or history
        status = training_status(
            outcome, events, stopping=stopping is not None, runs_elsewhere=folder.busy,
            stops_elsewhere=lambda: requested is not None and folder.held(),
        )  # fmt: skip
        names = {"model": request.model, "scoring": request.scoring, "corpus": request.data}
        title = f"{request.model} with {request.scoring} on {request.data}"
        checkpoint = history.checkpoint
        if not (checkpoints_root(self._root) / checkpoint).is_dir():
            checkpoint = ""
        return Training(
            id=id, request=request, created=created, owner=owner, **status._asdict(),
            epochs=history.epochs, checkpoint=checkpoint,
            facts={"title": title, **names, **(history.facts or {}), **(outcome.facts or {})},
        )  # fmt: skip

    def probe(self, id: str, epoch: int) -> pa.Table:
        """Return the table ``maps`` of the probe sentence after an epoch.

        Raises:
            KeyError: no such training, or no probe after that epoch.
        """
        return TrainingFolder(id, self._root).probe(epoch)

    def pause(self, id: str) -> None:
        """Stop after the present step; nothing happens if the training does not run.

        Raises:
            KeyError: no such training.
            ValueError: the folder cannot be written.
        """
        if self.get(id).state in ("queued", "running"):
            with self._lock:
                if not self._stop(id, "pause"):
                    self._record(id, "paused", "Paused.")

    def resume(self, id: str) -> None:
        """Queue a paused or failed training again; it continues from its last snapshot.

        Raises:
            KeyError: no such training.
            ValueError: it is stopping, or has ended, or is beyond a limit of this server.
        """
        with self._lock:
            training = self.get(id)
            if training.state in ("queued", "running"):
                return
            if training.state not in ("paused", "failed"):
                raise ValueError(
                    f"this training is {training.state}; only a paused or failed one can go on"
                )
            training_limits.check_room(self._jobs.owners(), training.owner)
            folder = TrainingFolder(id, self._root)
            forget_stop(folder.path)
            folder.note_state("queued")
            self._submit(folder)

    def cancel(self, id: str) -> None:
        """End a training for good; its epochs stay. Nothing happens if it has ended.

        Raises:
            KeyError: no such training.
        """
        with self._lock:
            if self.get(id).state in ("done", "cancelled"):
                return
            here, stops = id in self._jobs, self._stop(id, "cancel")
            if here or not stops:  # else the server that stops it records that it has
                self._record(id, "cancelled", "Cancelled.")
            if not stops:
                TrainingFolder(id, self._root).forget_snapshot()

    def remove(self, id: str) -> None:
        """Cancel a training and delete its files; an exported checkpoint stays.

        Raises:
            KeyError: no such training.
        """
        with self._lock:
            folder = TrainingFolder(id, self._root)
            self._order(folder)
            if not self._stop(id, "remove"):
                self._delete(folder)

    def export(self, id: str, name: str) -> str:
        """Export the model of the last finished epoch; return the checkpoint's name.

        Args:
            id: of a training that does not run and has finished an epoch.
            name: 1 to 40 of a-z, 0-9, ``_`` and ``-``, which becomes ``_``; a letter first.

        Raises:
            KeyError: no such training.
            ValueError: no model, an invalid or taken name, or a folder that cannot be written.
        """
        with self._lock:
            training, folder = self.get(id), TrainingFolder(id, self._root)
            if training.state in ("queued", "running", "pausing"):
                raise ValueError(f"this training is {training.state}; pause it, then keep it")
            model = folder.model()
            if model is None:
                raise ValueError("this training has not finished an epoch, so it has no model yet")
            root = checkpoints_root(self._root)
            name = checkpoint_name(name, root, self._taken_names())
            copy_checkpoint(model, folder.path, root / name)
            folder.note_checkpoint(name)
        self._on_export()
        return name

    def capacity(self) -> Capacity:
        """Return how busy the trainers are."""
        return self._jobs.capacity()

    def reload(self) -> None:
        """Replace the workers, busy ones after their training."""
        self._jobs.reload()

    def close(self) -> None:
        """End the workers.

        A later process finds what ran as paused, and queues what waited by :meth:`adopt`.
        """
        self._jobs.close()
        with self._lock:
            for id in [*self._held]:
                self._release(id)

    def _submit(self, folder: TrainingFolder) -> None:
        with self._lock:
            held = folder.hold()
            if held is None:
                raise ValueError("another server has this training in its queue")
            self._held[folder.id] = held
            request, _, owner = self._order(folder)
            self._jobs.submit(folder.id, request, owner)
            self._unrecorded.pop(folder.id, None)

    def _requested(self, id: str) -> StopReason | None:
        return requested_stop(TrainingFolder(id, self._root).path)

    def _stop(self, id: str, reason: StopReason) -> bool:
        """Have the server that has it in its queue stop a training; whether one has it."""
        folder = TrainingFolder(id, self._root)
        if id in self._jobs:
            forget_stop(folder.path)  # the last word counts
            self._jobs.stop(id, reason)
        elif folder.held():
            request_stop(folder.path, reason)
        else:
            return False
        return True

    def _release(self, id: str) -> None:
        if held := self._held.pop(id, None):
            held.release(force=True)

    def _end(self, id: str, event: Event, reason: StopReason | None) -> None:
        folder = TrainingFolder(id, self._root)
        self._release(id)
        if reason == "remove" or self._requested(id) == "remove":
            self._delete(folder)
        elif event.stage == "failed":
            self._record(id, "failed", event.note, event.facts)
        elif reason == "cancel":
            if event.stage == "cancelled" and folder.history().state != "cancelled":
                self._record(id, "cancelled", "Cancelled.")
            folder.forget_snapshot()
        elif event.stage == "cancelled" and reason == "pause":
            self._record(id, "paused", paused_note(folder.history()))
        forget_stop(folder.path)

    def _record(
        self, id: str, state: State, note: str, facts: Mapping[str, Any] | None = None
    ) -> None:
        try:
            TrainingFolder(id, self._root).note_state(state, note, facts)
        except StorageError:  # the disk may be full, and the note may be about that
            self._unrecorded[id] = History(state=state, note=note, facts=facts)

    def _delete(self, folder: TrainingFolder) -> None:
        shutil.rmtree(folder.path, ignore_errors=True)
        for cache in (self._orders, self._histories, self._unrecorded):
            cache.pop(folder.id, None)

    def _order(self, folder: TrainingFolder) -> Ordered:
        if folder.id not in self._orders:
            self._orders[folder.id] = folder.order()
        return self._orders[folder.id]

    def _history(self, folder: TrainingFolder) -> History:
        stamp = folder.changed()
        cached = self._histories.get(folder.id)
        if cached is None or cached[0] != stamp:
            cached = self._histories[folder.id] = (stamp, folder.history())
        return cached[1]
