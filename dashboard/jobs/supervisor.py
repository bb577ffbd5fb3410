"""Starts a pool's workers, gives them work, handles their messages, and replaces them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from threading import Condition, RLock, Thread
from typing import Any

from dashboard.jobs import errors
from dashboard.jobs.backend import FinalStage
from dashboard.jobs.job import Computation
from dashboard.jobs.process import Message, WorkerProcess
from dashboard.jobs.quarantine import PluginSource, Quarantine
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.timeouts import Timeouts
from dashboard.jobs.watchdog import Watchdog
from dashboard.jobs.wire import WireError
from dashboard.jobs.worker_state import WorkerState

_MAX_STARTS = 3
_SECONDS_TO_CLOSE = 5.0
_WORKER_GONE = (EOFError, WireError, OSError)


class Supervisor:
    """Has a thread for each worker, and one for the watchdog.

    Args:
        size: how many workers.
        command: starts a worker.
        environment: a worker's variables.
        scheduler: where computations come from and where they finish.
        job_ended: notified whenever jobs have ended.
        lock: guards the scheduler, and is the lock of ``job_ended``.
        timeouts: how long to wait for a worker.
        head_start: the first worker has the machine to itself until it has taken no new job for
            so many seconds, since it waits or has a long one; at most four times as long.
    """

    def __init__(
        self,
        size: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        scheduler: Scheduler,
        job_ended: Condition,
        lock: RLock,
        timeouts: Timeouts,
        head_start: float,
    ) -> None:
        self._command, self._environment = command, environment
        self._scheduler, self._lock, self._job_ended = scheduler, lock, job_ended
        self._timeouts = timeouts
        self._quarantine = Quarantine()
        self._origins: dict[str, tuple[str, ...]] = {}  # where plugins lie
        self._wakeup = Condition(lock)  # there is work, or a worker must end
        self._workers: list[WorkerState] = []
        self._watchdog = Watchdog(self._workers, timeouts, scheduler, lock)
        self._head_start = head_start
        self._accepted: list[float] = []  # when this generation took its first job, and its last
        self._start_failures = 0  # in a row
        self._generation = 0
        self._closed = False
        self._threads = [
            Thread(target=self._serve, name=f"worker {number}", daemon=True)
            for number in range(size)
        ]
        self._threads.append(Thread(target=self._watchdog.watch, name="watchdog", daemon=True))
        for thread in self._threads:
            thread.start()

    # Called by the pool; all but close() with the lock held

    def wake(self) -> None:
        """Have idle workers look at the queue; retry starting workers if that had failed."""
        if self._start_failures >= _MAX_STARTS:
            self._start_failures = 0
        self._wakeup.notify_all()

    def look_again(self) -> None:
        """Have idle workers look at the queue: with time some may run that might not before."""
        self._wakeup.notify_all()

    def stop(self, computation: Computation) -> None:
        """Cancel a running computation."""
        if not computation.stopping:
            worker = next(each for each in self._workers if each.computation is computation)
            self._watchdog.stop(worker, computation, "cancelled")

    def give_way(self, computation: Computation) -> None:
        """Stop a running computation, and queue it again once its worker has stopped."""
        worker = next((each for each in self._workers if each.computation is computation), None)
        if worker and computation.started and not computation.stopping:
            computation.giving_way = True
            self._watchdog.give_way(worker, computation)

    def count(self) -> tuple[int, int]:
        """Return the number of live workers and of busy ones."""
        return len(self._workers), sum(each.computation is not None for each in self._workers)

    def processes(self) -> tuple[int, ...]:
        """Return the process ids of the live workers."""
        return tuple(each.process.pid for each in self._workers)

    def replace(self, retry_quarantined: bool = False) -> None:
        """Replace all workers, a busy one after its job.

        Args:
            retry_quarantined: let the new workers load the plugins in quarantine.
        """
        if retry_quarantined:
            self._quarantine.clear()
        self._generation += 1
        self._accepted = []
        for worker in self._workers:
            if worker.computation:
                self._scheduler.stop_sharing(worker.computation)
        self.wake()

    def close(self) -> None:
        """Cancel all computations and end the workers."""
        with self._lock:
            self._closed = True
            running = [each.computation for each in self._workers if each.computation]
            for computation in [*self._scheduler.queue, *running]:
                self._scheduler.finish(computation, "cancelled", note="the dashboard was closed")
            for worker in self._workers:
                worker.process.kill()
            self._watchdog.close()
            self._job_ended.notify_all()
            self._wakeup.notify_all()
        for thread in self._threads:
            thread.join(_SECONDS_TO_CLOSE)

    # A worker's thread: starts the process, gives it work, handles its messages, replaces it

    def _serve(self) -> None:
        while True:
            try:
                worker = self._start()
            except OSError as error:
                with self._lock:
                    self._count_start_failure(str(error))
                continue
            if worker is None:
                return
            try:
                worker.process.receive()  # ready
                self._watchdog.check_in(worker)
                while computation := self._next(worker):
                    self._run(worker, computation)
                worker.process.kill()
            except _WORKER_GONE:  # its exit code and stderr say why
                self._watchdog.check_in(worker)
            self._reap(worker)

    def _start(self) -> WorkerState | None:
        """Start a worker when it is time; None once the pool is closed."""
        with self._lock:
            while not self._closed and (seconds := self._seconds_to_start()) > 0:
                self._wakeup.wait(None if math.isinf(seconds) else seconds)
            if self._closed:
                return None
            command = [*self._command, *self._quarantine.arguments()]
            process = WorkerProcess(command, self._environment, self._wake_threads)
            worker = WorkerState(process=process, generation=self._generation)
            self._workers.append(worker)
            self._watchdog.check_in(worker, self._timeouts.start)
            return worker

    def _seconds_to_start(self) -> float:
        """Until one more worker may start; infinite if something must happen first."""
        if self._start_failures >= _MAX_STARTS:
            return math.inf
        if not any(each.generation == self._generation for each in self._workers):
            return 0.0
        if not self._accepted:
            return math.inf
        latest = self._accepted[0] + 4 * self._head_start
        return min(self._accepted[-1] + self._head_start, latest) - time.monotonic()

    def _wake_threads(self) -> None:
        with self._lock:
            self._wakeup.notify_all()

    def _next(self, worker: WorkerState) -> Computation | None:
        """Wait for a computation; None if the worker is outdated, has ended, or must end."""
        with self._lock:
            queue = self._scheduler.queue
            self._wakeup.wait_for(lambda: queue.next() or self._must_end(worker))
            if self._must_end(worker):
                return None
            worker.computation = queue.take()
            self._watchdog.check_in(worker, self._timeouts.start)
            return worker.computation

    def _must_end(self, worker: WorkerState) -> bool:
        return self._closed or self._generation != worker.generation or worker.process.ended

    def _run(self, worker: WorkerState, computation: Computation) -> None:
        number, request = computation.number, computation.request.to_json()
        worker.process.send({"type": "run", "computation": number, "request": request})
        while worker.computation:
            message = worker.process.receive()
            with self._lock:
                self._handle(worker, computation, message)

    def _handle(self, worker: WorkerState, computation: Computation, message: Message) -> None:
        worker.last_message = time.monotonic()
        match message.type:
            case "accepted":
                computation.started = worker.last_message
                worker.has_accepted = True
                self._start_failures = 0
                if worker.generation == self._generation:
                    self._accepted = [*self._accepted[:1], worker.last_message]
                    self._wakeup.notify_all()
                computation.publish("started")
                if computation.stopping:
                    self._watchdog.ask_to_stop(worker, computation)
                else:
                    self._watchdog.follow(worker)
            case "loading":
                worker.loading = PluginSource.from_facts(message.fields["facts"])
                self._origins[worker.loading.distribution] = worker.loading.paths
                self._watchdog.follow(worker)
            case "loaded":
                worker.loading, worker.plugin_timed_out = None, False
                self._watchdog.follow(worker)
            case "progress":
                computation.publish("progress", **message.fields)
            case "cancelled" if computation.giving_way and not computation.stopping:
                worker.computation = None
                self._watchdog.check_in(worker)
                self._requeue(computation)
            case "done" | "failed" | "cancelled" as stage:
                worker.computation = None
                self._watchdog.check_in(worker)
                computation.describe_failure(worker.process.stderr(), self._origins)
                self._finish(computation, stage, size=message.size, **message.fields)
            case unknown:
                raise WireError(f"no type of message {unknown!r}")

    def _reap(self, worker: WorkerState) -> None:
        code, stderr = worker.process.reap()
        with self._lock:
            self._workers.remove(worker)
            if computation := worker.computation:
                if worker.loading and not self._closed and not computation.stopping:
                    reason = worker.plugin_failure(self._timeouts, code, stderr, self._origins)
                    self._quarantine_plugin(worker.loading, reason)
                    self._requeue(computation)
                elif computation.giving_way and not computation.stopping:
                    self._requeue(computation)
                elif computation.started or computation.stopping:
                    note, facts = errors.died(computation.request, code, stderr, self._origins)
                    computation.describe_failure(stderr, self._origins)
                    self._finish(computation, "failed", note=note, facts=facts)
                else:
                    self._requeue(computation)
            if not worker.has_accepted and worker.generation == self._generation:
                reason = errors.last_line(stderr) or f"it ended with exit code {code}"
                self._count_start_failure(reason)

    def _quarantine_plugin(self, source: PluginSource, reason: str) -> None:
        if self._quarantine.add(source, reason):
            self.replace()
            for other in self._workers:
                if other.loading == source:
                    other.process.kill()

    def _requeue(self, computation: Computation) -> None:
        computation.started = None
        if computation.giving_way:
            computation.giving_way, computation.gave_way = False, True
            computation.publish("queued")
        self._scheduler.queue.put_back(computation)
        self._wakeup.notify_all()

    def _count_start_failure(self, reason: str) -> None:
        self._start_failures += 1
        if self._start_failures >= _MAX_STARTS and not self._workers:
            note, facts = errors.no_worker(reason)
            for computation in [*self._scheduler.queue]:
                self._finish(computation, "failed", note=note, facts=facts)

    def _finish(self, computation: Computation, stage: FinalStage, **fields: Any) -> None:
        self._scheduler.finish(computation, stage, **fields)
        self._job_ended.notify_all()
        self._wakeup.notify_all()  # one that gave way may run again
