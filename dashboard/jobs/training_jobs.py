"""The jobs of trainings: submitted to a pool of their own, stopped, and watched to their end."""

import math
import threading
from collections.abc import Callable, Collection
from dataclasses import replace

from dashboard.jobs.backend import Capacity, Event
from dashboard.jobs.engine import Engine
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import Request
from dashboard.records.training import FOLDER, MOST_PARAMETERS, MOST_SECONDS, StopReason
from dashboard.settings import settings, variable

_EPOCHS = "recipe.epochs"


def check_request(request: Request) -> None:
    """See that a training asks for no more epochs than this server allows."""
    most, asked = settings().training_epochs, dict(request.options).get(_EPOCHS, 0)
    if isinstance(asked, int) and asked > most:
        raise ValueError(
            f"need at most {most:,} epochs ({variable('training_epochs')}), got {asked:,}"
        )


def check_room(holders: Collection[tuple[str, str]], owner: str, address: str = "") -> None:
    """See that one more training may wait or run.

    Who has trainings already takes no more than half of the places that others have left, and so
    do all owners at one address. So new owners find a place, however many one visitor poses as.

    ``address``: where they are; empty if that is not known.
    """
    chosen, own = settings(), sum(each == owner for each, _ in holders)
    near = sum(each == address for _, each in holders) if address else 0
    if own >= chosen.trainings_per_owner:
        raise ValueError(
            f"{own:,} of your trainings wait or run already, which is the most that one may have "
            f"({variable('trainings_per_owner')}); wait for one to end, or cancel one"
        )
    if near >= chosen.trainings_per_address:
        raise ValueError(
            f"{near:,} trainings from your network wait or run already, which is the most that it "
            f"may have ({variable('trainings_per_address')}); wait for one to end, or cancel one"
        )
    if len(holders) >= chosen.trainings:
        raise ValueError(
            f"{len(holders):,} trainings wait or run already, which is the most that this server "
            f"takes ({variable('trainings')}); try again once one has ended"
        )
    left = chosen.trainings - len(holders)
    if any(taken and taken + 1 > (left + taken) / 2 for taken in (own if owner else 0, near)):
        raise ValueError(
            f"this server takes {left:,} more trainings, and keeps them for others; wait for one "
            "of yours to end, or cancel one"
        )


def limit_options() -> dict[str, float]:
    """The limits that the worker enforces, as options of a request."""
    chosen = settings()
    return {
        MOST_SECONDS: 3600 * chosen.training_hours, MOST_PARAMETERS: chosen.training_parameters,
    }  # fmt: skip


_NICENESS = 5  # pages come first: a trainer gets a third of their share of a busy core
_GRACE = 60.0  # seconds for a step, a snapshot, and the scoring of an epoch
_SILENCE = 900.0  # seconds: to download and read a corpus, to score an epoch on a busy machine
_SECONDS_BETWEEN_LOOKS = 1.0  # at what other servers ask of a training


def training_pool(engine: Engine | None = None) -> LocalPool:
    """Return a pool without a time limit, of as many workers as ``ATTENTION_TRAINERS`` says."""
    chosen = settings()
    # All take long, and none gives way.
    options = PoolOptions(
        workers=chosen.trainers, memory=chosen.worker_memory, time_limit=math.inf,
        long_work=math.inf, grace=_GRACE, silence=chosen.silence_limit or _SILENCE, cache=0,
        nice=_NICENESS,
    )  # fmt: skip
    return LocalPool(options, engine)


class TrainingJobs:
    """At most one job for each training; the backend is made when the first one is submitted.

    ``on_end`` is called with the training's id, its job's final event, and why it was stopped, or
    None if it was not. ``requested`` tells why another server asked to stop one; None if none did.
    """

    def __init__(
        self, make_backend: Callable[[], LocalPool],
        on_end: Callable[[str, Event, StopReason | None], None], lock: threading.RLock,
        requested: Callable[[str], StopReason | None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._make_backend, self._on_end, self._lock = make_backend, on_end, lock
        self._requested = requested
        self._backend: LocalPool | None = None
        self._jobs: dict[str, str] = {}
        self._holders: dict[str, tuple[str, str]] = {}
        self._stopping: dict[str, StopReason] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._jobs

    def stop_reason(self, id: str) -> StopReason | None:
        """Return why the training's job is being stopped; None if it is not."""
        return self._stopping.get(id)

    def events(self, id: str) -> list[Event]:
        """Return the events of the training's job; empty if there is no job."""
        job = self._jobs.get(id)
        return self._backend.events(job) if job and self._backend else []

    def holders(self) -> list[tuple[str, str]]:
        """Return the owner of every training that has a job, and their address if it is known."""
        with self._lock:
            return list(self._holders.values())

    def places(self) -> dict[str, int | None]:
        """Return, by the id of each training, how many start before it; None if it was started."""
        with self._lock:
            if not self._backend:
                return {}
            waits = {id: self._backend.wait_ahead(job) for id, job in self._jobs.items()}
        return {id: wait.before if wait else None for id, wait in waits.items()}

    def backend(self) -> LocalPool:
        """The pool of trainers, which starts when it is first asked for."""
        with self._lock:
            if self._backend is None:
                self._backend = self._make_backend()
            return self._backend

    def submit(self, id: str, request: Request, owner: str = "", address: str = "") -> None:
        """Queue the training; owners are served in turn."""
        with self._lock:
            backend = self.backend()
            options = tuple(sorted((*request.options, *{FOLDER: id, **limit_options()}.items())))
            job = self._jobs[id] = backend.submit(replace(request, options=options), client=owner)
            self._holders[id] = owner, address
        threading.Thread(
            target=self._watch, args=(backend, id, job), name=f"training {id[:8]}", daemon=True
        ).start()

    def stop(self, id: str, reason: StopReason) -> None:
        """Ask the training's job to stop; nothing happens if there is no job."""
        with self._lock:
            if (job := self._jobs.get(id)) and self._backend:
                self._stopping[id] = reason
                self._backend.cancel(job)

    def capacity(self) -> Capacity:
        """Return how busy the trainers are; none live before the first training."""
        with self._lock:
            backend = self._backend
        return backend.capacity() if backend else Capacity(workers=0, running=0, queued=0)

    def reload(self) -> None:
        """Replace the workers, busy ones after their training."""
        with self._lock:
            if self._backend:
                self._backend.reload(retry_quarantined=True)

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            backend, self._backend = self._backend, None
        if backend:
            backend.close()

    def _watch(self, backend: LocalPool, id: str, job: str) -> None:
        while (event := backend.wait(job, _SECONDS_BETWEEN_LOOKS)) is None:
            if (reason := self._requested(id)) and reason != self.stop_reason(id):
                self.stop(id, reason)
        with self._lock:
            self._on_end(id, event, self._stopping.pop(id, None))
            del self._jobs[id], self._holders[id]
