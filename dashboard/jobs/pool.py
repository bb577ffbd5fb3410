"""The job backend: a queue in front of a few warm workers, and who keeps them free."""

import atexit
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dashboard.jobs import errors
from dashboard.jobs.backend import Capacity, Event, Load, Wait
from dashboard.jobs.crew import Setup
from dashboard.jobs.engine import Engine, EngineError, LocalEngine, WorkerOptions
from dashboard.jobs.fair_queue import LONG_WORK, SERVER, Forecasts
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.supervisor import Supervisor
from dashboard.jobs.watchdog import Timeouts, Watchdog, WorkerState
from dashboard.records.request import Request
from dashboard.settings import settings

_SILENCE = 60.0  # seconds
_LOOKS = 5  # at a session, within the time that it may be away
_LONGEST_PAUSE = 1.0  # seconds between two looks


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """What a pool is made of; what is None is as the settings of the server say.

    Args:
        workers: processes.
        tasks: the module whose ``perform`` the workers call.
        time_limit: seconds of running, for jobs that name none.
        grace: seconds between the request to stop a job and the end of its worker.
        start_limit: seconds in which a worker must start, and accept a job that it was sent.
        silence: seconds that a job may run without a report; else 60.
        plugin_limit: seconds in which a plugin must be loaded. One that takes longer, or ends its
            worker, is quarantined until :meth:`LocalPool.reload`.
        memory: megabytes a worker may allocate, 0 for no limit.
        warm: import torch in workers before their first job, and more while they wait for it.
        cache: bytes of results with which equal requests are answered.
        nice: the niceness of the workers, 0 to 19.
        head_start: see :class:`~dashboard.jobs.rehearsal.Starts`.
        long_work: see :class:`~dashboard.jobs.fair_queue.FairQueue`.
        environment: variables for the workers, besides those of :func:`.engine.environment`.
    """

    workers: int | None = None
    tasks: str = "dashboard.jobs.tasks"
    time_limit: float = 120.0
    grace: float = 5.0
    start_limit: float = 180.0
    silence: float | None = None
    plugin_limit: float | None = None
    memory: int | None = None
    warm: bool = True
    cache: int = 256 * 2**20
    nice: int = 0
    head_start: float = 3.0
    long_work: float = LONG_WORK
    environment: Mapping[str, str] = field(default_factory=dict)


class LocalPool:
    """Runs the jobs of any number of sessions; the queue, the cache and the limits are here.

    Every method may be called from any thread. Those that take a job's id raise ``KeyError`` for
    an unknown one, unless they end it. Clients are served in turn. Equal requests are computed
    once: jobs in flight share one computation, and a finished one is answered from memory. A
    worker that crashes, hangs or is killed is replaced; one whose machine is lost is retried once.

    Args:
        engine: starts the workers; by default they are processes of this machine.

    Raises:
        ValueError: fewer than one worker, a negative limit, a variable that is not a number.
    """

    def __init__(self, options: PoolOptions = PoolOptions(), engine: Engine | None = None) -> None:
        chosen = settings(
            workers=options.workers, worker_memory=options.memory,
            silence_limit=options.silence, plugin_limit=options.plugin_limit,
        )  # fmt: skip
        worker = WorkerOptions(
            tasks=options.tasks, memory=chosen.worker_memory, warm=options.warm,
            nice=options.nice, workers=chosen.workers, environment=dict(options.environment),
            passed_on=tuple(chosen.worker_environment.split()),
        )  # fmt: skip
        timeouts = Timeouts(
            start=options.start_limit, grace=options.grace,
            silence=chosen.silence_limit or _SILENCE, plugin=chosen.plugin_limit,
        )  # fmt: skip
        engine = engine or LocalEngine()
        self._time_limit, self._closed = options.time_limit, False
        self._lock = lock = threading.RLock()
        self._scheduler = Scheduler(options.cache, chosen.workers, long_work=options.long_work)
        self._forecasts = Forecasts(
            lambda each: self._scheduler.durations.estimate(each.request, each.work)
        )
        live: list[WorkerState] = []
        self._supervisor = Supervisor(Setup(
            size=chosen.workers, start_worker=partial(engine.start, worker),
            has_room_for=engine.has_room_for, scheduler=self._scheduler, lock=lock,
            wakeup=threading.Condition(lock), timeouts=timeouts, head_start=options.head_start,
            workers=live, watchdog=Watchdog(live, timeouts, self._scheduler, lock),
        ))  # fmt: skip
        atexit.register(self.close)

    def submit(
        self, request: Request, *, client: str = "", work: float = 0.0,
        time_limit: float | None = None,
    ) -> str:  # fmt: skip
        """Queue a request and return its job id, 128 random bits in hexadecimal.

        ``client`` is empty for the server itself. ``work`` is what it costs, see
        :mod:`dashboard.records.request`; 0 if unknown. Of equal requests the longest limit counts.

        RuntimeError: the pool was closed.
        """
        with self._lock:
            self._check_open()
            limit = self._time_limit if time_limit is None else time_limit
            job = self._scheduler.submit(request, limit, client, work)
            self._supervisor.wake()
            self.make_room()
            return job.id

    def has(self, request: Request) -> bool:
        """Whether the result is in memory, or is being computed or queued already."""
        with self._lock:
            return self._scheduler.has(request)

    def estimate(self, asked: Iterable[tuple[Request, float]]) -> float | None:
        """Return the seconds that requests, each with its work, take on idle workers, if known."""
        with self._lock:
            return self._scheduler.durations.together(asked, self._scheduler.queue.workers)

    def events(self, job: str, after: int = 0) -> list[Event]:
        """Return the job's events with numbers above ``after``.

        Of many progress events only the newest are kept.
        """
        with self._lock:
            return [event for event in self._scheduler.find(job).events if event.number > after]

    def wait(self, job: str, timeout: float) -> Event | None:
        """Return the job's final event, or None if it has none after ``timeout`` seconds."""
        with self._lock:
            found = self._scheduler.find(job)
        if found.final is None and timeout > 0:
            found.ended.wait(timeout)  # an event of its own: many wait, each for another job
        with self._lock:
            return found.final

    def wait_ahead(self, job: str) -> Wait | None:
        """Return what a queued job waits for; None if it is not queued."""
        with self._lock:
            queue, computation = self._scheduler.queue, self._scheduler.computation(job)
            if computation is None or computation not in queue:
                return None
            return self._forecasts.of(queue, computation, time.monotonic())

    def clients(self) -> list[str]:
        """Return the clients that have unfinished jobs, without the server itself."""
        with self._lock:
            found = dict.fromkeys(job.client for job in self._scheduler.unfinished())
        return [client for client in found if client != SERVER]

    def leave(self, client: str) -> None:
        """Cancel all jobs of a client that is gone; their final event says ``abandoned``."""
        with self._lock:
            for job in self._scheduler.unfinished():
                if job.client == client:
                    self._cancel(job.id, {"abandoned": True})

    def make_room(self) -> None:
        """Let a long computation give way where short ones wait and every worker has a long one.

        It is queued again, and starts anew.
        """
        with self._lock:
            if computation := self._scheduler.queue.in_the_way():
                self._supervisor.give_way(computation)
            self._supervisor.look_again()

    def cancel(self, job: str) -> None:
        """Ask the job to stop; kill its worker if it does not stop within a grace period.

        A queued job, or one that shares its computation, ends at once.
        """
        self._cancel(job, {})

    def _cancel(self, job: str, facts: Mapping[str, Any]) -> None:
        with self._lock:
            if running := self._scheduler.cancel(job, facts):
                self._supervisor.stop(running)

    def capacity(self) -> Capacity:
        """Return how busy the workers are."""
        with self._lock:
            workers, running = self._supervisor.count()
            return Capacity(
                workers=workers, running=running, queued=len(self._scheduler.queue),
                processes=self._supervisor.processes(),
            )  # fmt: skip

    def loads(self) -> list[Load]:
        """Return the computations that run, then those that wait."""
        with self._lock:
            queue, now = self._scheduler.queue, time.monotonic()
            return [
                Load(
                    name=errors.job_name(each.request), clients=len(each.clients),
                    seconds=None if each.started is None else now - each.started,
                )
                for each in (*self._supervisor.running(), *queue)
            ]  # fmt: skip

    def reload(self, *, retry_quarantined: bool = False) -> None:
        """Replace the workers, busy ones after their job, so that new plugins are found.

        With ``retry_quarantined`` also those that ended a worker meanwhile. The cache is cleared.
        """
        with self._lock:
            self._scheduler.clear_cache()
            self._supervisor.replace(retry_quarantined=retry_quarantined)

    def renew(self, request: Request, *, retry_quarantined: bool = False) -> str:
        """Replace the workers by others that have first computed the request and are warm.

        The present ones serve until then, and stay if the new ones cannot. The request is such as
        the catalogue, which has a worker load all plugins. Return the id of its job, which ends
        when the new workers serve or cannot. The cache is cleared once they serve.

        Where memory is short, and on a cluster, the first new worker takes over alone, and each
        further one starts when an old one has ended. If any fails, all stays as it was.

        RuntimeError: the pool was closed, or it renews its workers already.
        """
        with self._lock:
            self._check_open()
            if self._supervisor.renewing:
                raise RuntimeError("the workers are being renewed; wait for that job")
            job, computation = self._scheduler.submit_apart(request, self._time_limit)
            self._supervisor.renew(computation, retry_quarantined=retry_quarantined)
            return job.id

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the pool was closed; it takes no more jobs")

    def close(self) -> None:
        """Cancel every job and end the workers; further jobs are refused."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
        self._supervisor.close()


class Sweeper:
    """Ends the jobs of sessions that are gone, in a thread once :meth:`start` was called.

    A page loaded again is another session, which asks for the same results; within ``seconds`` of
    being away it finds them still being computed. The ``clock`` has monotonic seconds.
    """

    def __init__(
        self, backend: LocalPool, connected: Callable[[str], bool], seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._backend, self._connected, self._seconds = backend, connected, seconds
        self._clock = clock
        self._gone: dict[str, float] = {}  # since when
        self._closed = threading.Event()

    def sweep(self) -> None:
        """End the jobs of those who have been away too long, and make room for short ones."""
        now = self._clock()
        away = [client for client in self._backend.clients() if not self._connected(client)]
        self._gone = {client: self._gone.get(client, now) for client in away}
        for client, since in self._gone.items():
            if now - since >= self._seconds:
                self._backend.leave(client)
        self._backend.make_room()

    def start(self) -> None:
        """Look again and again until :meth:`close`."""
        threading.Thread(target=self._run, name="sweeper", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(min(_LONGEST_PAUSE, self._seconds / _LOOKS)):
            self.sweep()


def chosen_engine() -> Engine:
    """Make the engine that ``ATTENTION_ENGINE`` names. EngineError: it cannot be used."""
    chosen = settings()
    if chosen.engine == "local":
        return LocalEngine()
    try:
        from dashboard.jobs.ray_engine import RayEngine
    except ModuleNotFoundError as error:
        if error.name not in ("ray", "grpc"):
            raise
        raise EngineError(
            f"ATTENTION_ENGINE is {chosen.engine!r}, which needs Ray; add it with: python -m pip "
            "install 'ray[client]==2.60.0'"
        ) from error
    return RayEngine(chosen.engine, cpus=chosen.worker_cpus, gpus=chosen.worker_gpus)
