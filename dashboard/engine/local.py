"""Jobs on this machine: a queue in front of a few warm worker processes."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping

from dashboard.engine import launch
from dashboard.engine.crew import Crew
from dashboard.engine.ledger import Ledger
from dashboard.engine.post import Patience
from dashboard.engine.protocol import Capacity, Event
from dashboard.runs.request import Request

_SILENCE = 60.0  # seconds


class LocalPool:
    """A :class:`~dashboard.engine.protocol.JobBackend` of subprocesses, first come, first served.

    Equal requests are computed once: those in flight share one computation, a finished one is
    answered from memory. A worker that crashes, hangs or is killed is replaced.

    Args:
        workers: processes; else ``ATTENTION_WORKERS``, or 2 to 4 by the number of cores.
        tasks: the module whose ``perform`` the workers call.
        time_limit: seconds of running, for jobs that name none.
        grace: seconds between the wish that a job stop and the end of its worker.
        start_limit: seconds in which a worker must start, and take a job that it is given.
        silence: seconds that a job may compute without a report; else
            ``ATTENTION_SILENCE_LIMIT``, or 60.
        plugin_limit: seconds in which a plugin must be loaded; else ``ATTENTION_PLUGIN_LIMIT``,
            or 30. One that takes longer, or ends its worker, is quarantined until ``reload``.
        memory: megabytes a worker may allocate, 0 for no limit; else
            ``ATTENTION_WORKER_MEMORY``, or 70 % of the machine's.
        warm: import torch in workers before their first job.
        cache: bytes of results to answer equal requests from.
        nice: how much less than others the workers want to be served, 0 to 19.
        environment: variables for the workers, besides this process's own.

    Raises:
        ValueError: fewer than one worker, a negative limit, a variable that is no number.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        tasks: str = "dashboard.tasks",
        time_limit: float = 120.0,
        grace: float = 5.0,
        start_limit: float = 180.0,
        silence: float | None = None,
        plugin_limit: float | None = None,
        memory: int | None = None,
        warm: bool = True,
        cache: int = 256 * 2**20,
        nice: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        size = launch.workers(workers)
        command = launch.command(tasks, memory, warm, nice)
        variables = launch.environment(size, environment or {})
        self._time_limit = time_limit
        self._lock = threading.RLock()
        self._ended = threading.Condition(self._lock)  # a job has its final event
        self._closed = False
        self._ledger = Ledger(cache)
        self._crew = Crew(
            size,
            command,
            variables,
            ledger=self._ledger,
            ended=self._ended,
            lock=self._lock,
            patience=Patience(
                start=start_limit,
                grace=grace,
                silence=launch.silence(silence, _SILENCE),
                plugin=launch.loading(plugin_limit),
            ),
        )
        atexit.register(self.close)

    def submit(self, request: Request, *, time_limit: float | None = None) -> str:
        """Queue the request; its job's id. Of equal requests the longest time limit holds.

        Raises:
            RuntimeError: the pool was closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was closed; it takes no more jobs")
            limit = self._time_limit if time_limit is None else time_limit
            job = self._ledger.submit(request, limit)
            self._crew.offer()
            return job.id

    def events(self, job: str, after: int = 0) -> list[Event]:
        """The job's events numbered above ``after``, of a flood of progress the newest.

        Raises:
            KeyError: an unknown job, or one forgotten long after its end.
        """
        with self._lock:
            return [event for event in self._ledger.find(job).events if event.number > after]

    def wait(self, job: str, timeout: float) -> Event | None:
        """The job's final event, or None when ``timeout`` seconds passed without one.

        Raises:
            KeyError: an unknown job, or one forgotten long after its end.
        """
        with self._lock:
            found = self._ledger.find(job)
            self._ended.wait_for(lambda: found.final is not None, timeout)
            return found.final

    def cancel(self, job: str) -> None:
        """Ask the job to stop. One that waits, or shares its computation, ends at once."""
        with self._lock:
            running = self._ledger.cancel(job)
            if running:
                self._crew.stop(running)
            self._ended.notify_all()

    def capacity(self) -> Capacity:
        """The workers that live now, the busy ones, the computations that wait."""
        with self._lock:
            workers, running = self._crew.count()
            return Capacity(workers=workers, running=running, queued=len(self._ledger.queue))

    def reload(self, *, pardon: bool = False) -> None:
        """Replace the workers, a busy one after its job, and forget the kept results.

        Args:
            pardon: try plugins again that took a worker down.
        """
        with self._lock:
            self._ledger.forget_results()
            self._crew.replace(pardon)

    def close(self) -> None:
        """Cancel every job and end the workers; further jobs are refused."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
        self._crew.close()
