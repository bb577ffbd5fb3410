"""Enforces the timeouts of a pool's workers: a worker is asked to stop first, and killed later."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from dashboard.jobs.backend import FinalStage
from dashboard.jobs.job import Computation
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.worker_state import WorkerState
from dashboard.limits import Timeouts

_SECONDS_TO_DUMP = 0.5
_SECONDS_TO_GIVE_WAY = 2.0


class Watchdog:
    """Checks all workers of a pool in one thread, which runs :meth:`watch`.

    Args:
        workers: of the pool; the supervisor changes the sequence.
        timeouts: how long to wait for a worker.
        scheduler: no job may join a computation that is being stopped.
        lock: guards all of these.
    """

    def __init__(
        self,
        workers: Sequence[WorkerState],
        timeouts: Timeouts,
        scheduler: Scheduler,
        lock: threading.RLock,
    ) -> None:
        self._workers, self._timeouts, self._scheduler = workers, timeouts, scheduler
        self._lock = lock
        self._changed = threading.Condition(lock)
        self._closed = False

    def watch(self) -> None:
        """Enforce the timeouts until :meth:`close`."""
        with self._lock:
            while not self._closed:
                now = time.monotonic()
                for worker in self._workers:
                    if worker.check_at <= now:
                        self._check(worker)
                next_check = min((worker.check_at for worker in self._workers), default=math.inf)
                wait = next_check - time.monotonic()
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
        computation = worker.running
        if computation is None:  # it did not start, did not accept, or did not stop
            self.check_in(worker)
            worker.process.kill()
        elif (left := worker.remaining(self._timeouts, time.monotonic())) > 0:
            self.check_in(worker, left)  # it sent a message, or a new job raised the time limit
        elif worker.loading:
            worker.plugin_timed_out = True
            worker.process.dump_stack()
            self.check_in(worker, _SECONDS_TO_DUMP)
        else:
            worker.process.dump_stack()
            computation.build_failure = worker.timeout_failure(
                computation, self._timeouts, time.monotonic()
            )
            self.stop(worker, computation, "failed")
