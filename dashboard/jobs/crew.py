"""The workers of one generation: started, given work, replaced, and ended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Thread

from dashboard.jobs import errors
from dashboard.jobs.crew_setup import Setup
from dashboard.jobs.job import Computation
from dashboard.jobs.listener import Listener
from dashboard.jobs.process import WireError
from dashboard.jobs.quarantine import PluginSource, Quarantine
from dashboard.jobs.rehearsal import Ending, Rehearsal
from dashboard.jobs.worker_state import WorkerState

_MAX_FAILURES = 3


class Starts:
    """The starts of a crew's workers.

    Args:
        head_start: the first worker has the machine to itself until it has taken no new job for
            so many seconds, since it waits or has a long one; at most four times as long.
        clock: monotonic seconds.
    """

    def __init__(self, head_start: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._head_start, self._clock = head_start, clock
        self._accepted: list[float] = []  # when a worker took the first job, and the last
        self._failures = 0  # in a row

    @property
    def given_up(self) -> bool:
        """Whether so many workers in a row could not be started that no other is."""
        return self._failures >= _MAX_FAILURES

    def note_job(self, *, counts: bool) -> None:
        """A worker has accepted a job.

        Args:
            counts: whether the worker is one of those that stay.
        """
        self._failures = 0
        if counts:
            self._accepted = [*self._accepted[:1], self._clock()]

    def note_failure(self) -> None:
        """A worker could not be started, or ended before it accepted a job."""
        self._failures += 1

    def try_again(self) -> None:
        """Start workers again if that was given up."""
        if self.given_up:
            self._failures = 0

    def begin(self) -> None:
        """All workers are replaced, so one is the first again."""
        self._accepted = []

    def seconds_until_next(self) -> float:
        """Until one more worker may start beside the first; infinite before its first job."""
        if not self._accepted:
            return math.inf
        latest = self._accepted[0] + 4 * self._head_start
        return min(self._accepted[-1] + self._head_start, latest) - self._clock()


_WORKER_GONE = (EOFError, WireError, OSError)


class Crew:
    """Has a thread for each worker. Whoever calls a method holds the lock.

    Args:
        setup: what crews share.
        quarantine: the plugins that its workers do not load.
        on_change: called when a worker, or its part of the rehearsal, has ended.
        rehearsal: what each worker computes before the crew serves; None if it serves at once.
        one_by_one: start no further worker while as many live as a crew has.

    Attributes:
        workers: those that live.
        serving: whether they take computations from the queue.
        leaving: whether each ends after its job, and none is started any more.
    """

    def __init__(
        self,
        setup: Setup,
        quarantine: Quarantine,
        on_change: Callable[[Crew], None],
        *,
        rehearsal: Rehearsal | None = None,
        one_by_one: bool = False,
    ) -> None:
        self.setup, self.quarantine, self._on_change = setup, quarantine, on_change
        self.rehearsal, self.one_by_one = rehearsal, one_by_one
        self.workers: list[WorkerState] = []
        self.starts = Starts(setup.head_start)
        self.serving, self.leaving = rehearsal is None, False
        self._listener = Listener(self)
        self.threads = [
            Thread(target=self._live, name=f"worker {number}", daemon=True)
            for number in range(setup.size)
        ]
        for thread in self.threads:
            thread.start()

    @property
    def rehearsing(self) -> bool:
        """Whether its workers prepare themselves."""
        return not (self.serving or self.leaving)

    def ready(self) -> int:
        """Return how many workers have done their part of the rehearsal."""
        return sum(each.rehearsed for each in self.workers)

    def serve(self) -> None:
        """Take computations from the queue."""
        self.serving = True
        self.setup.wakeup.notify_all()

    def replace(self) -> None:
        """Replace all workers, a busy one after its job."""
        self.starts.begin()
        for worker in self.workers:
            worker.outdated, worker.rehearsed = True, False
            if worker.computation:
                self.setup.scheduler.stop_sharing(worker.computation)
        if self.rehearsal and self.rehearsing:
            self.rehearsal.start_again()
        self.setup.wakeup.notify_all()

    def leave(self) -> None:
        """End all workers, a busy one after its job; its place in the queue is free at once."""
        self.replace()
        self.serving, self.leaving = False, True
        for worker in self.workers:
            if worker.computation:
                self.setup.scheduler.queue.end(worker.computation)

    def end(self) -> None:
        """End all workers now. What they compute must have been finished before."""
        self.leave()
        for worker in self.workers:
            worker.computation = None
            worker.process.kill()

    # Called by the listener

    def finish(self, worker: WorkerState, computation: Computation, ending: Ending) -> None:
        """Take note of how a worker's computation has ended."""
        if not self.rehearsing:
            self.setup.scheduler.finish(
                computation, ending.stage, ending.size, **ending.fields
            )  # fmt: skip
        elif self.rehearsal and not worker.outdated:  # else its successor does it again
            worker.rehearsed = ending.stage == "done"
            self.rehearsal.note(computation, ending)
            self._on_change(self)
        self.setup.job_ended.notify_all()
        self.setup.wakeup.notify_all()  # one that gave way may run again

    def requeue(self, computation: Computation) -> None:
        """Have another worker do it; of a rehearsal each new worker gets its part anyway."""
        if computation.giving_way:
            computation.giving_way, computation.gave_way = False, True
        if computation.started:
            computation.publish("queued")
        computation.queue_again()
        if not self.rehearsing:
            self.setup.scheduler.queue.put_back(computation)
        self.setup.wakeup.notify_all()

    def quarantine_plugin(self, source: PluginSource, reason: str) -> None:
        """Replace the workers by others that do not load the plugin."""
        if self.quarantine.add(source, reason):
            self.replace()
            for other in self.workers:
                if other.loading == source:
                    other.process.kill()

    def count_start_failure(self, reason: str) -> None:
        """After some in a row, fail whoever waits for a worker."""
        self.starts.note_failure()
        if not self.starts.given_up:
            return
        note, facts = errors.no_worker(reason)
        ending = Ending(stage="failed", fields={"note": note, "facts": facts})
        if self.rehearsing and self.rehearsal:
            self.rehearsal.note(self.rehearsal.computation, ending)
            self._on_change(self)
        elif self.serving and not self.workers:
            for computation in [*self.setup.scheduler.queue]:
                self.setup.scheduler.finish(computation, ending.stage, **ending.fields)
            self.setup.job_ended.notify_all()

    # A worker's thread: starts the process, gives it work, handles its messages, replaces it

    def _live(self) -> None:
        while True:
            try:
                worker = self._start()
            except OSError as error:
                with self.setup.lock:
                    self.count_start_failure(str(error))
                continue
            if worker is None:
                return
            try:
                worker.process.receive()  # ready
                self.setup.watchdog.check_in(worker)
                while computation := self._next(worker):
                    self._run(worker, computation)
                worker.process.kill()
            except _WORKER_GONE:  # its exit code and stderr say why
                self.setup.watchdog.check_in(worker)
            code, stderr = worker.process.reap()
            with self.setup.lock:
                self.workers.remove(worker)
                self.setup.workers.remove(worker)
                self._listener.ended(worker, code, stderr)
                self._on_change(self)
                self.setup.wakeup.notify_all()

    def _start(self) -> WorkerState | None:
        """Start a worker when it is time; None once the crew leaves."""
        setup = self.setup
        with setup.lock:
            while not self.leaving and (seconds := self._seconds_to_start()) > 0:
                setup.wakeup.wait(None if math.isinf(seconds) else seconds)
            if self.leaving:
                return None
            process = setup.start_worker(self.quarantine.arguments(), self._wake)
            worker = WorkerState(process=process)
            self.workers.append(worker)
            setup.workers.append(worker)
            setup.watchdog.check_in(worker, setup.timeouts.start)
            return worker

    def _seconds_to_start(self) -> float:
        """Until one more worker may start; infinite if something must happen first."""
        others = (each for each in self.setup.workers if each not in self.workers)
        if self.starts.given_up or (self.rehearsing and any(each.outdated for each in others)):
            return math.inf  # no third generation beside those that leave and those that serve
        if all(each.outdated for each in self.workers):
            return 0.0
        if self.one_by_one and len(self.setup.workers) >= self.setup.size:
            return math.inf
        if self.rehearsing:  # the first alone, the others together
            return 0.0 if self.ready() else math.inf
        return self.starts.seconds_until_next()

    def _wake(self) -> None:
        with self.setup.lock:
            self.setup.wakeup.notify_all()

    def _next(self, worker: WorkerState) -> Computation | None:
        """Wait for a computation; None if the worker is outdated or has ended."""
        setup, queue = self.setup, self.setup.scheduler.queue

        def must_rehearse() -> bool:
            return self.rehearsing and not worker.rehearsed

        with setup.lock:
            setup.wakeup.wait_for(
                lambda: worker.must_end or must_rehearse() or (self.serving and queue.next())
            )
            if worker.must_end:
                return None
            if self.rehearsal and must_rehearse():
                worker.computation = self.rehearsal.part(self.workers)
            else:
                worker.computation = queue.take()
            setup.watchdog.check_in(worker, setup.timeouts.start)
            return worker.computation

    def _run(self, worker: WorkerState, computation: Computation) -> None:
        attempt, request = computation.attempt, computation.request.to_json()
        worker.process.send({"type": "run", "attempt": attempt, "request": request})
        while worker.computation:
            message = worker.process.receive()
            with self.setup.lock:
                # else the crew was ended, or it is of an attempt that was given up
                if worker.computation and message.attempt in (None, attempt):
                    self._listener.handle(worker, computation, message)
