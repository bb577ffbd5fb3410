"""The trainings of all sessions: started, paused, resumed, cancelled, removed, exported."""

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dashboard.jobs import training_jobs
from dashboard.jobs.backend import Event
from dashboard.jobs.pool import LocalPool
from dashboard.jobs.training_files import Claims, TrainingFiles, export, folder_names
from dashboard.jobs.training_jobs import TrainingJobs, training_pool
from dashboard.jobs.training_status import describe, forecast, paused_note, training_status
from dashboard.records.request import Request
from dashboard.records.training import ENDED, StopReason, Training
from dashboard.storage.files import checkpoints_root
from dashboard.storage.training_folder import TrainingFolder
from dashboard.storage.training_history import forget_stop, request_stop, requested_stop


class Trainings:
    """One per server. Every method may be called from any thread.

    Those that take an id raise ``KeyError`` if there is no such training, and ``ValueError`` if
    its folder cannot be written. Trainings outlive this process: another one over the same folder
    finds them again. Their ``jobs`` are those of this process.

    Args:
        make_backend: makes the backend when the first training starts.
        taken_names: returns names of checkpoints that an exported training must not take.
        on_export: called after a training was exported.
    """

    def __init__(
        self, root: Path | None = None, *, make_backend: Callable[[], LocalPool] = training_pool,
        taken_names: Callable[[], Collection[str]] = tuple,
        on_export: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._root, self._taken_names, self._on_export = root, taken_names, on_export
        self._lock = threading.RLock()
        self.jobs = TrainingJobs(make_backend, self._end, self._lock, self._requested)
        self._files = TrainingFiles()
        self._claims = Claims()
        self._closed, self._lost = False, frozenset[str]()

    def start(self, request: Request, owner: str = "", address: str = "") -> str:
        """Queue a training and return its id. If the worker refuses it, it becomes ``failed``.

        ``address`` is a digest of where they are, which is not stored; empty if it is not known.

        ValueError: another task's request, one beyond a server's limit, or no writable folder.
        """
        if request.task != "training":
            raise ValueError(f"need a request of the task 'training', got {request.task!r}")
        training_jobs.check_request(request)
        with self._lock:
            training_jobs.check_room(self.jobs.holders(), owner, address)
            folder = TrainingFolder.create(request, self._root, owner=owner)
            self._submit(folder, address)
        return folder.id

    def adopt(self, *, patient: bool = False) -> None:
        """Queue the trainings again that waited when a server ended, the oldest first.

        A ``patient`` server takes the oldest alone, since others may look for them too, and only
        if it waited when it looked before: till then its server may be about to queue it, or end
        together with this one.
        """
        with self._lock:
            lost = [one for one in self.list() if one.state == "queued" and one.id not in self.jobs
                    and not TrainingFolder(one.id, self._root).held()]  # fmt: skip
            before, self._lost = self._lost, frozenset(one.id for one in lost)
            if self._closed:
                return
            chosen = sorted(lost, key=lambda one: one.created)
            for one in [one for one in chosen if one.id in before][:1] if patient else chosen:
                with suppress(ValueError):  # another server has it, or it cannot be written
                    self._submit(TrainingFolder(one.id, self._root))

    def list(self) -> list[Training]:
        """Return all trainings, the newest first, each with what is ahead of it."""
        found = []
        for id in folder_names(self._root):
            with suppress(KeyError):
                found.append(self.get(id))
        ordered = sorted(found, key=lambda training: (-training.created, training.id))
        return forecast(ordered, self.jobs.places(), self.jobs.capacity().workers)

    def get(self, id: str) -> Training:
        """Return a training with its present status."""
        with self._lock:
            folder = TrainingFolder(id, self._root)
            order, history = self._files.order(folder), self._files.history(folder)
            stopping, requested = self.jobs.stop_reason(id), self._requested(id)
            if "remove" in (stopping, requested):
                if id not in self.jobs and not folder.held():  # its server ended before it could
                    self._files.delete(folder)
                raise KeyError(f"training {id!r} was removed")
            events = self.jobs.events(id)
            unsettled = history.state not in (*ENDED, "paused")
            if unsettled and not events and not folder.held() and not folder.busy():
                # Whoever had it may have recorded meanwhile how it ended, and let it go.
                history = self._files.history(folder)
            outcome = self._files.outcome(id) or history
        status = training_status(
            outcome, events, folder, stopping=stopping is not None, requested=requested is not None
        )
        if not (checkpoints_root(self._root) / history.checkpoint).is_dir():
            history = replace(history, checkpoint="")
        return describe(id, order, status, history, outcome)

    def probe(self, id: str, epoch: int) -> pa.Table:
        """Return the table ``maps`` of the probe sentence after an epoch.

        KeyError: no such training, or no probe after that epoch.
        """
        return TrainingFolder(id, self._root).probe(epoch)

    def pause(self, id: str) -> None:
        """Stop after the present step; nothing happens if the training does not run."""
        if self.get(id).state in ("queued", "running"):
            with self._lock:
                if not self._stop(id, "pause"):
                    self._files.record(TrainingFolder(id, self._root), "paused", "Paused.")

    def resume(self, id: str, address: str = "") -> None:
        """Queue a paused or failed training again; it continues from its last snapshot.

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
            training_jobs.check_room(self.jobs.holders(), training.owner, address)
            folder = TrainingFolder(id, self._root)
            forget_stop(folder.path)
            folder.note_state("queued")
            self._submit(folder, address)

    def cancel(self, id: str) -> None:
        """End a training for good; its epochs stay. Nothing happens if it has ended."""
        with self._lock:
            if self.get(id).state in ("done", "cancelled"):
                return
            folder, here = TrainingFolder(id, self._root), id in self.jobs
            stops = self._stop(id, "cancel")
            if here or not stops:  # else the server that stops it records that it has
                self._files.record(folder, "cancelled", "Cancelled.")
            if not stops:
                folder.forget_snapshot()

    def remove(self, id: str) -> None:
        """Cancel a training and delete its files; an exported checkpoint stays."""
        with self._lock:
            folder = TrainingFolder(id, self._root)
            self._files.order(folder)
            if not self._stop(id, "remove"):
                self._files.delete(folder)

    def export(self, id: str, name: str) -> str:
        """See :func:`.training_files.export`; a training that may run is refused."""
        with self._lock:
            training, folder = self.get(id), TrainingFolder(id, self._root)
            if training.state in ("queued", "running", "pausing"):
                raise ValueError(f"this training is {training.state}; pause it, then keep it")
            name = export(folder, name, checkpoints_root(self._root), self._taken_names())
        self._on_export()
        return name

    def close(self) -> None:
        """End the workers.

        A later process finds what ran as paused, and queues what waited by :meth:`adopt`.
        """
        with self._lock:
            self._closed = True
        self.jobs.close()
        with self._lock:
            self._claims.release_all()

    def _submit(self, folder: TrainingFolder, address: str = "") -> None:
        with self._lock:
            self._claims.take(folder)
            order = self._files.order(folder)
            self.jobs.submit(folder.id, order.request, order.owner, address)
            self._files.forget_outcome(folder.id)

    def _requested(self, id: str) -> StopReason | None:
        return requested_stop(TrainingFolder(id, self._root).path)

    def _stop(self, id: str, reason: StopReason) -> bool:
        """Have the server that has it in its queue stop a training; whether one has it."""
        folder = TrainingFolder(id, self._root)
        if id in self.jobs:
            forget_stop(folder.path)  # the last word counts
            self.jobs.stop(id, reason)
        elif folder.held():
            request_stop(folder.path, reason)
        else:
            return False
        return True

    def _end(self, id: str, event: Event, reason: StopReason | None) -> None:
        folder = TrainingFolder(id, self._root)
        try:
            self._record_end(folder, event, reason)
        finally:  # after it was recorded: else other servers read that this one was stopped
            self._claims.release(id)

    def _record_end(self, folder: TrainingFolder, event: Event, reason: StopReason | None) -> None:
        if reason == "remove" or self._requested(folder.id) == "remove":
            self._files.delete(folder)
        elif event.stage == "failed":
            self._files.record(folder, "failed", event.note, event.facts)
        elif reason == "cancel":
            if event.stage == "cancelled" and folder.history().state != "cancelled":
                self._files.record(folder, "cancelled", "Cancelled.")
            folder.forget_snapshot()
        elif event.stage == "cancelled" and reason == "pause":
            self._files.record(folder, "paused", paused_note(folder.history()))
        forget_stop(folder.path)
