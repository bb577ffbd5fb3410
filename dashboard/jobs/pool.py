"""The job backend: a queue in front of a few warm workers, here or on a cluster."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from dashboard.jobs import errors
from dashboard.jobs.backend import Capacity, Event, Load, Wait
from dashboard.jobs.engine import Engine, LocalEngine, WorkerOptions
from dashboard.jobs.fair_queue import LONG_WORK, SERVER, Forecasts
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.supervisor import Supervisor
from dashboard.limits import Timeouts
from dashboard.records.request import Request
from dashboard.settings import settings

_SILENCE = 60.0  # seconds


class LocalPool:
    """A :class:`~dashboard.jobs.backend.JobBackend` whose queue, cache and limits are here.

    Clients are served in turn. Equal requests are computed once: jobs in flight share one
    computation, and a finished one is answered from memory. A worker that crashes, hangs or is
    killed is replaced; a job whose machine is lost is tried once more.

    Args:
        workers: processes; else ``ATTENTION_WORKERS``, or 2 to 4 by the number of cores.
        tasks: the module whose ``perform`` the workers call.
        time_limit: seconds of running, for jobs that name none.
        grace: seconds between the request to stop a job and the end of its worker.
        start_limit: seconds in which a worker must start, and accept a job that it was sent.
        silence: seconds that a job may run without a report; else
            ``ATTENTION_SILENCE_LIMIT``, or 60.
        plugin_limit: seconds in which a plugin must be loaded; else ``ATTENTION_PLUGIN_LIMIT``,
            or 30. A plugin that takes longer, or ends its worker, is quarantined until
            :meth:`reload`.
        memory: megabytes a worker may allocate, 0 for no limit; else
            ``ATTENTION_WORKER_MEMORY``, or a share of 70 % of the machine's.
        warm: import torch in workers before their first job.
        cache: bytes of results with which equal requests are answered.
        nice: the niceness of the workers, 0 to 19.
        head_start: the first worker has the machine to itself until it has taken no new job for
            so many seconds, since it waits or has a long one; at most four times as long.
        long_work: see :class:`~dashboard.jobs.fair_queue.FairQueue`.
        environment: variables for the workers, besides those of :func:`.launch.environment`.
        engine: starts the workers; by default they are processes of this machine.

    Raises:
        ValueError: fewer than one worker, a negative limit, a variable that is not a number.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        tasks: str = "dashboard.jobs.tasks",
        time_limit: float = 120.0,
        grace: float = 5.0,
        start_limit: float = 180.0,
        silence: float | None = None,
        plugin_limit: float | None = None,
        memory: int | None = None,
        warm: bool = True,
        cache: int = 256 * 2**20,
        nice: int = 0,
        head_start: float = 3.0,
        long_work: float = LONG_WORK,
        environment: Mapping[str, str] | None = None,
        engine: Engine | None = None,
    ) -> None:
        chosen = settings(
            workers=workers, worker_memory=memory, silence_limit=silence, plugin_limit=plugin_limit
        )
        options = WorkerOptions(
            tasks=tasks, memory=chosen.worker_memory, warm=warm, nice=nice,
            workers=chosen.workers, environment=dict(environment or {}),
            passed_on=tuple(chosen.worker_environment.split()),
        )  # fmt: skip
        engine = engine or LocalEngine()
        self._time_limit = time_limit
        self._lock = threading.RLock()
        self._job_ended = threading.Condition(self._lock)
        self._closed = False
        self._scheduler = scheduler = Scheduler(cache, chosen.workers, long_work=long_work)
        self._forecasts = Forecasts(
            lambda each: scheduler.durations.estimate(each.request, each.work)
        )
        self._supervisor = Supervisor(
            chosen.workers,
            partial(engine.start, options),
            has_room_for=engine.has_room_for,
            scheduler=self._scheduler,
            job_ended=self._job_ended,
            lock=self._lock,
            timeouts=Timeouts(
                start=start_limit,
                grace=grace,
                silence=chosen.silence_limit or _SILENCE,
                plugin=chosen.plugin_limit,
            ),
            head_start=head_start,
        )
        atexit.register(self.close)

    def submit(
        self,
        request: Request,
        *,
        client: str = "",
        work: float = 0.0,
        time_limit: float | None = None,
    ) -> str:
        """Queue the request and return its job id. Of equal requests the longest limit counts.

        Raises:
            RuntimeError: the pool was closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was closed; it takes no more jobs")
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
        """Return the seconds that requests will take on idle workers; None if that is not known.

        Args:
            asked: requests, each with its work.
        """
        with self._lock:
            return self._scheduler.durations.together(asked, self._scheduler.queue.workers)

    def events(self, job: str, after: int = 0) -> list[Event]:
        """Return the job's events with numbers above ``after``.

        Of many progress events only the newest are kept.

        Raises:
            KeyError: an unknown job, or one forgotten long after its end.
        """
        with self._lock:
            return [event for event in self._scheduler.find(job).events if event.number > after]

    def wait(self, job: str, timeout: float) -> Event | None:
        """Return the job's final event, or None if it has none after ``timeout`` seconds.

        Raises:
            KeyError: an unknown job, or one forgotten long after its end.
        """
        with self._lock:
            found = self._scheduler.find(job)
            self._job_ended.wait_for(lambda: found.final is not None, timeout)
            return found.final

    def wait_ahead(self, job: str) -> Wait | None:
        """Return what a queued job waits for; None if it is not queued."""
        with self._lock:
            scheduler = self._scheduler
            computation = scheduler.computation(job)
            if computation is None or computation not in scheduler.queue:
                return None
            return self._forecasts.of(scheduler.queue, computation, time.monotonic())

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
        """Ask the job to stop. A queued job, or one that shares its computation, ends at once."""
        self._cancel(job)

    def _cancel(self, job: str, facts: Mapping[str, Any] | None = None) -> None:
        with self._lock:
            running = self._scheduler.cancel(job, facts)
            if running:
                self._supervisor.stop(running)
            self._job_ended.notify_all()

    def capacity(self) -> Capacity:
        """Return the number of live workers, of busy ones, and of queued computations."""
        with self._lock:
            workers, running = self._supervisor.count()
            return Capacity(
                workers=workers,
                running=running,
                queued=len(self._scheduler.queue),
                processes=self._supervisor.processes(),
            )

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
        """Replace the workers, a busy one after its job, and clear the cache.

        Args:
            retry_quarantined: load plugins again that ended a worker.
        """
        with self._lock:
            self._scheduler.clear_cache()
            self._supervisor.replace(retry_quarantined)

    def renew(self, request: Request, *, retry_quarantined: bool = False) -> str:
        """Start new workers beside the present ones, and have them replace these once they can.

        Each computes the request first. Then they serve, the old ones finish what they run, and
        the cache is cleared. Where memory is short, and on a cluster, the first new worker takes
        over alone, and each further one starts when an old one has ended. If any fails, all stays
        as it was.

        Args:
            request: such as the catalogue, which has a worker load all plugins.
            retry_quarantined: load plugins again that ended a worker.

        Returns:
            The id of the request's job. It is done once the new workers serve, and has failed
            once they cannot.

        Raises:
            RuntimeError: the pool was closed, or it renews its workers already.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was closed; it takes no more jobs")
            if self._supervisor.renewing:
                raise RuntimeError("the workers are being renewed; wait for that job")
            job, computation = self._scheduler.submit_apart(request, self._time_limit)
            self._supervisor.renew(computation, retry_quarantined=retry_quarantined)
            return job.id

    def close(self) -> None:
        """Cancel every job and end the workers; further jobs are refused."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
        self._supervisor.close()
