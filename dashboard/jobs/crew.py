"""The workers of one generation: started, given work, listened to, replaced, and ended."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, RLock, Thread

from dashboard.jobs import errors
from dashboard.jobs.engine import Worker
from dashboard.jobs.job import Computation
from dashboard.jobs.process import Message, PluginSource, WireError
from dashboard.jobs.rehearsal import Ending, Quarantine, Rehearsal, Starts
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.watchdog import Timeouts, Watchdog, WorkerState
from dashboard.language import gettext_noop

_LOG = logging.getLogger(__name__)
_WORKER_GONE = (EOFError, WireError, OSError)


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all crews of a pool share.

    ``start_worker`` starts one without the plugins that its arguments name, and calls back when it
    has ended; ``has_room_for`` says whether so many more fit beside those that live, which are
    ``workers``. A crew has ``size`` of them. ``lock`` guards all of these, and is the lock of
    ``wakeup``: there is work, or a worker must end.
    """

    size: int
    start_worker: Callable[[Sequence[str], Callable[[], None]], Worker]
    has_room_for: Callable[[int], bool]
    scheduler: Scheduler
    lock: RLock
    wakeup: Condition
    timeouts: Timeouts
    head_start: float
    workers: list[WorkerState]
    watchdog: Watchdog


class Crew:
    """Has a thread for each worker. Whoever calls a method holds the lock.

    Its workers do not load the plugins in ``quarantine``. ``on_change`` is called when one, or its
    part of the ``rehearsal``, has ended; without a rehearsal the crew serves at once, and takes
    computations from the queue. With ``one_by_one`` it starts no further worker while as many live
    as a crew has. While it is ``leaving`` each worker ends after its job, and none is started.
    """

    def __init__(
        self, setup: Setup, quarantine: Quarantine, on_change: "Callable[[Crew], None]", *,
        rehearsal: Rehearsal | None = None, one_by_one: bool = False,
    ) -> None:  # fmt: skip
        self._setup, self.quarantine, self._on_change = setup, quarantine, on_change
        self.rehearsal, self.one_by_one = rehearsal, one_by_one
        self.workers: list[WorkerState] = []
        self.starts = Starts(setup.head_start)
        self.serving, self.leaving = rehearsal is None, False
        self._origins: dict[str, tuple[str, ...]] = {}  # where plugins lie
        self.threads = [
            Thread(target=self._live, name=f"worker {number}", daemon=True)
            for number in range(setup.size)
        ]
        for thread in self.threads:
            thread.start()

    def ready(self) -> int:
        """Return how many workers have done their part of the rehearsal."""
        return sum(each.rehearsed for each in self.workers)

    def serve(self) -> None:
        """Take computations from the queue."""
        self.serving = True
        self._setup.wakeup.notify_all()

    def replace(self) -> None:
        """Replace all workers, a busy one after its job."""
        self.starts.begin()
        for worker in self.workers:
            worker.outdated, worker.rehearsed = True, False
            if worker.computation:
                self._setup.scheduler.stop_sharing(worker.computation)
        if self.rehearsal and self._rehearsing:
            self.rehearsal.start_again()
        self._setup.wakeup.notify_all()

    def leave(self) -> None:
        """End all workers, a busy one after its job; its place in the queue is free at once."""
        self.replace()
        self.serving, self.leaving = False, True
        for worker in self.workers:
            if worker.computation:
                self._setup.scheduler.queue.end(worker.computation)

    def end(self) -> None:
        """End all workers now. What they compute must have been finished before."""
        self.leave()
        for worker in self.workers:
            worker.computation = None
            worker.process.kill()

    @property
    def _rehearsing(self) -> bool:
        return not (self.serving or self.leaving)

    # A worker's thread: starts the process, gives it work, handles its messages, replaces it

    def _live(self) -> None:
        setup = self._setup
        while True:
            try:
                worker = self._start()
            except OSError as error:
                with setup.lock:
                    self._count_start_failure(str(error))
                continue
            if worker is None:
                return
            try:
                worker.process.receive()  # ready
                setup.watchdog.check_in(worker)
                while computation := self._next(worker):
                    self._run(worker, computation)
                worker.process.kill()
            except _WORKER_GONE:  # its exit code and stderr say why
                setup.watchdog.check_in(worker)
            code, stderr = worker.process.reap()
            with setup.lock:
                self.workers.remove(worker)
                setup.workers.remove(worker)
                self._ended(worker, code, stderr)
                self._on_change(self)
                setup.wakeup.notify_all()

    def _start(self) -> WorkerState | None:
        setup = self._setup
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
        others = (each for each in self._setup.workers if each not in self.workers)
        if self.starts.given_up or (self._rehearsing and any(each.outdated for each in others)):
            return math.inf  # no third generation beside those that leave and those that serve
        if all(each.outdated for each in self.workers):
            return 0.0
        if self.one_by_one and len(self._setup.workers) >= self._setup.size:
            return math.inf
        if self._rehearsing:  # the first alone, the others together
            return 0.0 if self.ready() else math.inf
        return self.starts.seconds_until_next()

    def _wake(self) -> None:
        with self._setup.lock:
            self._setup.wakeup.notify_all()

    def _next(self, worker: WorkerState) -> Computation | None:
        """Wait for a computation; None if the worker is outdated or has ended."""
        setup, queue = self._setup, self._setup.scheduler.queue

        def must_rehearse() -> bool:
            return self._rehearsing and not worker.rehearsed

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
            with self._setup.lock:
                # else the crew was ended, or it is of an attempt that was given up
                if worker.computation and message.attempt in (None, attempt):
                    self._handle(worker, computation, message)

    # What messages of the workers, and their ends, mean for what they compute

    def _handle(self, worker: WorkerState, computation: Computation, message: Message) -> None:
        watchdog = self._setup.watchdog
        worker.last_message = time.monotonic()
        match message.type:
            case "accepted":
                self._accepted(worker, computation)
            case "loading":
                worker.loading = PluginSource.from_facts(message.fields["facts"])
                self._origins[worker.loading.distribution] = worker.loading.paths
                if self._rehearsing:
                    note = gettext_noop("loading {plugin}", plugin=worker.loading.distribution)
                    computation.publish("progress", note=note)
                watchdog.follow(worker)
            case "loaded":
                worker.loading, worker.plugin_timed_out = None, False
                watchdog.follow(worker)
            case "damaged":
                plugins = ", ".join(message.fields["facts"]["plugins"])
                _LOG.warning(
                    "a worker is replaced after %s: %s; it has loaded %s",
                    errors.job_name(computation.request), message.fields["note"], plugins,
                )  # fmt: skip
            case "progress":
                computation.publish("progress", **message.fields)
            case "cancelled" if computation.giving_way and not computation.stopping:
                worker.computation = None
                watchdog.check_in(worker)
                self._requeue(computation)
            case "done" | "failed" | "cancelled" as stage:
                worker.computation = None
                watchdog.check_in(worker)
                computation.describe_failure(worker.process.stderr(), self._origins)
                ending = Ending(stage=stage, size=message.size, fields=message.fields)
                self._finish(worker, computation, ending)
            case unknown:
                raise WireError(f"no type of message {unknown!r}")

    def _accepted(self, worker: WorkerState, computation: Computation) -> None:
        computation.started = worker.last_message
        worker.has_accepted = True
        self.starts.note_job(counts=not worker.outdated)
        self._setup.wakeup.notify_all()
        computation.publish("started")
        if computation.stopping:
            self._setup.watchdog.ask_to_stop(worker, computation)
        else:
            self._setup.watchdog.follow(worker)

    def _ended(self, worker: WorkerState, code: int | None, stderr: str) -> None:
        """Find out what the end of a worker means, which is no longer one of the crew."""
        if computation := worker.computation:
            stopping = computation.stopping
            if worker.loading and not (worker.process.lost or stopping):
                self._quarantine(worker, worker.loading, code, stderr)
                self._requeue(computation)
            elif stopping or (computation.started and not computation.giving_way):
                self._end_with_worker(worker, computation, code, stderr)
            else:
                self._requeue(computation)
        if not worker.has_accepted and not worker.outdated:
            exited = gettext_noop("it ended with exit code {code}", code=code)
            self._count_start_failure(errors.last_line(stderr) or exited)

    def _quarantine(
        self, worker: WorkerState, source: PluginSource, code: int | None, stderr: str
    ) -> None:
        if worker.plugin_timed_out:
            reason = errors.plugin_timed_out(self._setup.timeouts.plugin, stderr, self._origins)
        else:
            ending = errors.ending(code, stderr, self._origins)
            reason = gettext_noop("the process that loaded it {ending}", ending=ending)
        if self.quarantine.add(source, reason):
            self.replace()
            for other in self.workers:
                if other.loading == source:
                    other.process.kill()

    def _end_with_worker(
        self, worker: WorkerState, computation: Computation, code: int | None, stderr: str
    ) -> None:
        """End a computation whose worker has ended; try it again if only its machine was lost."""
        lost = worker.process.lost
        if lost and not computation.stopping and not computation.losses:
            computation.losses += 1
            self._requeue(computation)
            return
        if lost:
            note, facts = errors.lost(computation.request, lost)
        else:
            note, facts = errors.died(computation.request, code, stderr, self._origins)
        computation.describe_failure(stderr, self._origins)
        self._finish(worker, computation, _failed(note, facts))

    def _finish(self, worker: WorkerState, computation: Computation, ending: Ending) -> None:
        setup = self._setup
        if not self._rehearsing:
            setup.scheduler.finish(computation, ending.stage, ending.size, **ending.fields)
        elif self.rehearsal and not worker.outdated:  # else its successor does it again
            worker.rehearsed = ending.stage == "done"
            self.rehearsal.note(computation, ending)
            self._on_change(self)
        setup.wakeup.notify_all()  # one that gave way may run again

    def _requeue(self, computation: Computation) -> None:
        """Have another worker do it; of a rehearsal each new worker gets its part anyway."""
        if computation.giving_way:
            computation.giving_way, computation.gave_way = False, True
        if computation.started:
            computation.publish("queued")
        computation.queue_again()
        if not self._rehearsing:
            self._setup.scheduler.queue.put_back(computation)
        self._setup.wakeup.notify_all()

    def _count_start_failure(self, reason: str) -> None:
        """After some in a row, fail whoever waits for a worker."""
        self.starts.note_failure()
        if not self.starts.given_up:
            return
        ending, scheduler = _failed(*errors.no_worker(reason)), self._setup.scheduler
        if self._rehearsing and self.rehearsal:
            self.rehearsal.note(self.rehearsal.computation, ending)
            self._on_change(self)
        elif self.serving and not self.workers:
            for computation in [*scheduler.queue]:
                scheduler.finish(computation, ending.stage, **ending.fields)


def _failed(note: str, facts: Mapping[str, object]) -> Ending:
    return Ending(stage="failed", fields={"note": note, "facts": facts})
