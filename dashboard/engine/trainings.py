"""Trainings of all sessions: queued, run side by side in a lane of their own, kept on disk."""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dashboard.engine import launch
from dashboard.engine.keeping import copy, free_name
from dashboard.engine.local import LocalPool
from dashboard.engine.protocol import JobBackend
from dashboard.engine.standing import paused, standing
from dashboard.runs.files import StorageError
from dashboard.runs.request import Request
from dashboard.runs.training_folder import (
    History,
    TrainingFolder,
    checkpoints_root,
    trainings_root,
)
from dashboard.runs.trainings import State, Training

_NICENESS = 5  # pages come first: three times a trainer's share of a busy core
_GRACE = 60.0  # seconds for a step, a snapshot, and the scoring of an epoch
_SILENCE = 900.0  # seconds: to download and read a corpus, to score an epoch on a busy machine
_WAIT = 3600.0


def lane() -> JobBackend:
    """The workers of trainings: as many as ``ATTENTION_TRAINERS`` says, without a time limit."""
    return LocalPool(
        launch.trainers(),
        time_limit=math.inf,
        grace=_GRACE,
        silence=launch.silence(None, _SILENCE),
        cache=0,
        nice=_NICENESS,
    )


class Trainings:
    """One per server. Every method may be called from any thread.

    What is here outlives this process: a second one over the same folder finds it again.

    Args:
        root: the folder of everything kept; else :func:`~dashboard.runs.blobs.default_root`.
        lane: makes the backend when the first training starts.
        taken: names of checkpoints that a kept training must not take.
        on_keep: called after a training was kept.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        lane: Callable[[], JobBackend] = lane,
        taken: Callable[[], Collection[str]] = tuple,
        on_keep: Callable[[], None] = lambda: None,
    ) -> None:
        self._root, self._lane, self._taken, self._on_keep = root, lane, taken, on_keep
        self._lock = threading.RLock()
        self._backend: JobBackend | None = None
        self._jobs: dict[str, str] = {}
        self._wishes: dict[str, str] = {}  # "pause", "cancel" or "remove", until the job ended
        self._outcomes: dict[str, History] = {}  # those that could not be noted on disk
        self._requests: dict[str, tuple[Request, float]] = {}
        self._histories: dict[str, tuple[tuple[int, int], History]] = {}

    def start(self, request: Request) -> str:
        """Queue a training; its id. What the worker refuses makes it ``failed``, with the reason.

        Raises:
            ValueError: another task's request, or the folder cannot be written.
        """
        if request.task != "training":
            raise ValueError(f"need a request of the task 'training', got {request.task!r}")
        folder = TrainingFolder.create(request, self._root)
        self._submit(folder.id, request)
        return folder.id

    def list(self) -> list[Training]:
        """All of them, newest first."""
        found = []
        with suppress(OSError):
            for path in trainings_root(self._root).iterdir():
                with suppress(KeyError):
                    found.append(self.get(path.name))
        return sorted(found, key=lambda training: (-training.created, training.id))

    def get(self, id: str) -> Training:
        """How a training stands now.

        Raises:
            KeyError: there is none.
        """
        with self._lock:
            folder = TrainingFolder(id, self._root)
            request, created = self._request(folder)
            history = self._history(folder)
            if self._wishes.get(id) == "remove":
                raise KeyError(f"training {id!r} was removed")
            job = self._jobs.get(id)
            events = self._backend.events(job) if job and self._backend else []
            outcome = self._outcomes.get(id) or history
            stopping = id in self._wishes
        how = standing(outcome, events, stopping=stopping, elsewhere=folder.busy)
        names = {"model": request.model, "scoring": request.scoring, "corpus": request.data}
        title = f"{request.model} with {request.scoring} on {request.data}"
        kept = history.checkpoint
        if not (checkpoints_root(self._root) / kept).is_dir():
            kept = ""
        return Training(
            id=id, request=request, created=created, **how._asdict(),
            epochs=history.epochs, checkpoint=kept,
            facts={"title": title, **names, **(history.facts or {}), **(outcome.facts or {})},
        )  # fmt: skip

    def probe(self, id: str, epoch: int) -> pa.Table:
        """The table ``maps`` of the probe sentence after an epoch.

        Raises:
            KeyError: no such training, or no probe after that epoch.
        """
        return TrainingFolder(id, self._root).probe(epoch)

    def pause(self, id: str) -> None:
        """Stop after the present step; nothing if it is not running.

        Raises:
            KeyError: there is none.
        """
        if self.get(id).state in ("queued", "running"):
            self._stop(id, "pause")

    def resume(self, id: str) -> None:
        """Queue a paused or failed training once more; it goes on from its last snapshot.

        Raises:
            KeyError: there is none.
            ValueError: it is stopping, or has ended.
        """
        with self._lock:
            training = self.get(id)
            if training.state in ("queued", "running"):
                return
            if training.state not in ("paused", "failed"):
                raise ValueError(
                    f"this training is {training.state}; only a paused or failed one can go on"
                )
            TrainingFolder(id, self._root).note_state("queued")
            self._submit(id, training.request)

    def cancel(self, id: str) -> None:
        """End it for good; the epochs that it has stay. Nothing if it has ended.

        Raises:
            KeyError: there is none.
        """
        with self._lock:
            if self.get(id).state in ("done", "cancelled"):
                return
            self._conclude(id, "cancelled", "Cancelled.")
            self._stop(id, "cancel")
            if id not in self._jobs:
                TrainingFolder(id, self._root).forget_snapshot()

    def remove(self, id: str) -> None:
        """Cancel it and delete all its files; a checkpoint that was kept stays.

        Raises:
            KeyError: there is none.
        """
        with self._lock:
            folder = TrainingFolder(id, self._root)
            self._request(folder)
            self._stop(id, "remove")
            if id not in self._jobs:
                self._forget(folder)

    def keep(self, id: str, name: str) -> str:
        """Keep the model of the last finished epoch as a checkpoint; the checkpoint's name.

        Args:
            id: of a training that does not run and has finished an epoch.
            name: 1 to 40 of a-z, 0-9, ``_`` and ``-``, which becomes ``_``; a letter first.

        Raises:
            KeyError: there is none.
            ValueError: no model to keep, a bad name, one that is taken, or a folder that cannot
                be written.
        """
        with self._lock:
            training, folder = self.get(id), TrainingFolder(id, self._root)
            if training.state in ("queued", "running", "pausing"):
                raise ValueError(f"this training is {training.state}; pause it, then keep it")
            model = folder.model()
            if model is None:
                raise ValueError("this training has not finished an epoch, so it has no model yet")
            root = checkpoints_root(self._root)
            name = free_name(name, root, self._taken())
            copy(model, folder.path, root / name)
            folder.note_checkpoint(name)
        self._on_keep()
        return name

    def reload(self) -> None:
        """Replace the workers, busy ones after their training."""
        with self._lock:
            if self._backend:
                self._backend.reload(pardon=True)

    def close(self) -> None:
        """End the workers; whoever opens the folder finds what ran as paused."""
        with self._lock:
            backend, self._backend = self._backend, None
        if backend:
            backend.close()

    def _submit(self, id: str, request: Request) -> None:
        with self._lock:
            if self._backend is None:
                self._backend = self._lane()
            backend = self._backend
            options = tuple(sorted((*request.options, ("training", id))))
            job = self._jobs[id] = backend.submit(replace(request, options=options))
            self._outcomes.pop(id, None)
        watch = threading.Thread(
            target=self._watch, args=(backend, id, job), name=f"training {id[:8]}", daemon=True
        )
        watch.start()

    def _stop(self, id: str, wish: str) -> None:
        with self._lock:
            if job := self._jobs.get(id):
                self._wishes[id] = wish
                self._backend.cancel(job)
            elif wish == "pause":
                self._conclude(id, "paused", "Paused.")

    def _watch(self, backend: JobBackend, id: str, job: str) -> None:
        while (event := backend.wait(job, _WAIT)) is None:
            pass
        with self._lock:
            wish = self._wishes.pop(id, "")
            folder = TrainingFolder(id, self._root)
            if wish == "remove":
                self._forget(folder)
            elif event.stage == "failed":
                self._conclude(id, "failed", event.note, event.facts)
            elif wish == "cancel":
                folder.forget_snapshot()
            elif event.stage == "cancelled" and wish == "pause":
                self._conclude(id, "paused", paused(folder.history()))
            del self._jobs[id]

    def _conclude(
        self, id: str, state: State, note: str, facts: Mapping[str, Any] | None = None
    ) -> None:
        try:
            TrainingFolder(id, self._root).note_state(state, note, facts)
        except StorageError:  # as after a full disk, of which the note may tell
            self._outcomes[id] = History(state=state, note=note, facts=facts)

    def _forget(self, folder: TrainingFolder) -> None:
        shutil.rmtree(folder.path, ignore_errors=True)
        for kept in (self._requests, self._histories, self._outcomes):
            kept.pop(folder.id, None)

    def _request(self, folder: TrainingFolder) -> tuple[Request, float]:
        if folder.id not in self._requests:
            self._requests[folder.id] = folder.request()
        return self._requests[folder.id]

    def _history(self, folder: TrainingFolder) -> History:
        stamp = folder.changed()
        known = self._histories.get(folder.id)
        if known is None or known[0] != stamp:
            known = self._histories[folder.id] = (stamp, folder.history())
        return known[1]
