"""The live workers of a pool, and their timeouts: one is asked to stop first, and killed later."""

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from dashboard.jobs import errors
from dashboard.jobs.backend import FinalStage
from dashboard.jobs.engine import Worker
from dashboard.jobs.job import Computation
from dashboard.jobs.process import PluginSource
from dashboard.jobs.scheduler import Scheduler

_SECONDS_TO_DUMP = 0.5
_SECONDS_TO_GIVE_WAY = 2.0


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Timeouts of a worker, in seconds.

    Until it has ``start``-ed, or accepts a job that it was sent; between the request to stop a job
    and its end; between two messages while it runs a job; until a ``plugin`` is loaded.
    """

    start: float
    grace: float
    silence: float
    plugin: float


@dataclass(eq=False, kw_only=True)
class WorkerState:
    """A live worker. All times are monotonic seconds.

    The watchdog checks it next at ``check_at``. It ``has_accepted`` once it ever accepted a job;
    ``plugin_timed_out`` if it is killed because of the plugin that it is ``loading``; ``outdated``
    if it ends after its job, since another replaces it; ``rehearsed`` if it has done its part.
    """

    process: Worker
    check_at: float = math.inf
    computation: Computation | None = None
    has_accepted: bool = False
    last_message: float = 0.0
    loading: PluginSource | None = None
    plugin_timed_out: bool = False
    outdated: bool = False
    rehearsed: bool = False

    @property
    def must_end(self) -> bool:
        """Whether it must not be given another computation."""
        return self.outdated or self.process.ended

    @property
    def running(self) -> Computation | None:
        """The computation, if the worker has accepted it and nothing has stopped it yet."""
        computation = self.computation
        if computation is None or computation.started is None or computation.giving_way:
            return None
        return None if computation.stopping or self.plugin_timed_out else computation

    @property
    def time_limit(self) -> float:
        """When its computation reaches its time limit; infinite if none has started."""
        if self.computation is None or self.computation.started is None:
            return math.inf
        return self.computation.started + self.computation.time_limit

    def remaining(self, timeouts: Timeouts, now: float) -> float:
        """Return the seconds until the computation, or the plugin that it loads, times out."""
        if self.loading:
            return self.last_message + timeouts.plugin - now
        return min(self.time_limit, self.last_message + timeouts.silence) - now


class Watchdog:
    """Checks all workers of a pool in one thread, which runs :meth:`watch`.

    Crews change the sequence of workers. No job may join a computation that is being stopped,
    which the scheduler sees to; ``lock`` guards all of these.
    """

    def __init__(
        self, workers: Sequence[WorkerState], timeouts: Timeouts, scheduler: Scheduler,
        lock: threading.RLock,
    ) -> None:  # fmt: skip
        self._workers, self._timeouts, self._scheduler = workers, timeouts, scheduler
        self._lock = lock
        self._changed = threading.Condition(lock)
        self._closed, self._wakes = False, math.inf

    def watch(self) -> None:
        """Enforce the timeouts until :meth:`close`."""
        with self._lock:
            while not self._closed:
                now = time.monotonic()
                for worker in self._workers:
                    if worker.check_at <= now:
                        self._check(worker)
                self._wakes = min((worker.check_at for worker in self._workers), default=math.inf)
                wait = self._wakes - time.monotonic()
                self._changed.wait(None if math.isinf(wait) else max(0.0, wait))

    def close(self) -> None:
        """End :meth:`watch`."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def check_in(self, worker: WorkerState, seconds: float = math.inf) -> None:
        """Check the worker in ``seconds``; by default never."""
        with self._lock:
            worker.check_at = time.monotonic() + seconds
            if worker.check_at < self._wakes:
                self._changed.notify()

    def follow(self, worker: WorkerState) -> None:
        """Check the worker when its computation, or the plugin that it loads, times out."""
        computation = worker.computation
        if computation and not (computation.stopping or computation.giving_way):
            self.check_in(worker, worker.remaining(self._timeouts, time.monotonic()))

    def stop(self, worker: WorkerState, computation: Computation, stage: FinalStage) -> None:
        """End the worker's computation in that stage: ask now, kill after the grace period."""
        computation.stopping = stage
        self._scheduler.stop_sharing(computation)
        self.check_in(worker, self._timeouts.grace)
        if computation.started:
            self.ask_to_stop(worker, computation)

    def give_way(self, worker: WorkerState, computation: Computation) -> None:
        """Free the worker of its computation: ask now, kill before long, as somebody waits."""
        self.check_in(worker, min(_SECONDS_TO_GIVE_WAY, self._timeouts.grace))
        self.ask_to_stop(worker, computation)

    def ask_to_stop(self, worker: WorkerState, computation: Computation) -> None:
        """Ask a worker to stop a computation that it has accepted."""
        # Cannot block under the lock: a worker that accepted has emptied its pipe.
        with suppress(OSError):
            worker.process.send({"type": "stop", "attempt": computation.attempt})

    def _check(self, worker: WorkerState) -> None:
        computation, now = worker.running, time.monotonic()
        if computation is None:  # it did not start, did not accept, or did not stop
            self.check_in(worker)
            worker.process.kill()
        elif (left := worker.remaining(self._timeouts, now)) > 0:
            self.check_in(worker, left)  # it sent a message, or a new job raised the time limit
        elif worker.loading:
            worker.plugin_timed_out = True
            worker.process.dump_stack()
            self.check_in(worker, _SECONDS_TO_DUMP)
        else:
            worker.process.dump_stack()
            late, request = worker.time_limit <= now, computation.request
            computation.build_failure = (
                partial(errors.timed_out, request, computation.time_limit) if late
                else partial(errors.unresponsive, request, self._timeouts.silence)
            )  # fmt: skip
            self.stop(worker, computation, "failed")
