"""The crews of a pool: the one that serves, one that prepares itself, those that leave."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, RLock, Thread

from dashboard.jobs.crew import Crew
from dashboard.jobs.crew_setup import Setup
from dashboard.jobs.engine import StartWorker
from dashboard.jobs.job import Computation
from dashboard.jobs.quarantine import Quarantine
from dashboard.jobs.rehearsal import Ending, Rehearsal
from dashboard.jobs.scheduler import Scheduler
from dashboard.jobs.watchdog import Watchdog
from dashboard.jobs.worker_state import WorkerState
from dashboard.language import gettext_noop
from dashboard.limits import Timeouts

_SECONDS_TO_CLOSE = 5.0


class Supervisor:
    """Has one crew that serves. The caller of every method but :meth:`close` holds the lock.

    Args:
        size: how many workers.
        start_worker: starts one of them.
        has_room_for: whether so many more can be started beside those that live.
        scheduler: where computations come from and where they finish.
        job_ended: notified whenever jobs have ended.
        lock: guards the scheduler, and is the lock of ``job_ended``.
        timeouts: how long to wait for a worker.
        head_start: see :class:`~dashboard.jobs.crew.Starts`.
    """

    def __init__(
        self,
        size: int,
        start_worker: StartWorker,
        *,
        has_room_for: Callable[[int], bool],
        scheduler: Scheduler,
        job_ended: Condition,
        lock: RLock,
        timeouts: Timeouts,
        head_start: float,
    ) -> None:
        self._scheduler, self._lock, self._job_ended = scheduler, lock, job_ended
        self._has_room_for = has_room_for
        workers: list[WorkerState] = []
        self._watchdog = Watchdog(workers, timeouts, scheduler, lock)
        self._setup = Setup(
            size=size, start_worker=start_worker, scheduler=scheduler, lock=lock,
            wakeup=Condition(lock), job_ended=job_ended, timeouts=timeouts,
            head_start=head_start, workers=workers, watchdog=self._watchdog,
        )  # fmt: skip
        self._watching = Thread(target=self._watchdog.watch, name="watchdog", daemon=True)
        self._watching.start()
        self._next: Crew | None = None
        self._leaving: list[Crew] = []
        with lock:
            self._crew = Crew(self._setup, Quarantine(), self._look)

    def wake(self) -> None:
        """Have idle workers look at the queue; retry starting workers if that had failed."""
        self._crew.starts.try_again()
        self._setup.wakeup.notify_all()

    def look_again(self) -> None:
        """Have idle workers look at the queue: with time some may run that might not before."""
        self._setup.wakeup.notify_all()

    def stop(self, computation: Computation) -> None:
        """Cancel a running computation, or what a new crew rehearses."""
        if computation.stopping:
            return
        crew, worker = self._next, self._worker_of(computation)
        if worker:
            self._watchdog.stop(worker, computation, "cancelled")
        elif crew and crew.rehearsal and crew.rehearsal.computation is computation:
            self._abandon(crew, crew.rehearsal, Ending(stage="cancelled"))

    def give_way(self, computation: Computation) -> None:
        """Stop a running computation, and queue it again once its worker has stopped."""
        worker = self._worker_of(computation)
        if worker and computation.started and not computation.stopping:
            computation.giving_way = True
            self._watchdog.give_way(worker, computation)

    def count(self) -> tuple[int, int]:
        """Return the number of workers that serve, or finish a job, and of busy ones."""
        preparing = self._next.workers if self._next else []
        workers = [each for each in self._setup.workers if each not in preparing]
        busy = sum(each.computation is not None for each in workers)
        idle = sum(each.computation is None for each in self._crew.workers)
        return busy + idle, busy

    def processes(self) -> tuple[int, ...]:
        """Return the process ids of all live workers on this machine."""
        found = (each.process.pid for each in self._setup.workers)
        return tuple(pid for pid in found if pid is not None)

    def running(self) -> list[Computation]:
        """Return what workers compute for jobs."""
        found = (each.computation for each in self._setup.workers)
        return [each for each in found if each and each.jobs]

    def replace(self, retry_quarantined: bool = False) -> None:
        """Replace all workers, a busy one after its job.

        Args:
            retry_quarantined: let the new workers load the plugins in quarantine.
        """
        if retry_quarantined:
            self._crew.quarantine.clear()
        self._crew.replace()
        self.wake()

    def renew(self, computation: Computation, *, retry_quarantined: bool) -> None:
        """Prepare a new crew beside the present one, which serves until the new one is ready.

        Args:
            computation: what each new worker computes first. It is finished when the new crew
                serves, or when it cannot.
            retry_quarantined: let the new workers load the plugins in quarantine.
        """
        assert self._next is None, "one new crew at a time"
        if any(each.outdated for each in self._setup.workers):
            note = gettext_noop("the workers of before are finishing their jobs")
            computation.publish("progress", note=note)
        quarantine = Quarantine() if retry_quarantined else self._crew.quarantine.copy()
        self._next = Crew(
            self._setup, quarantine, self._look, rehearsal=Rehearsal(computation),
            one_by_one=not self._has_room_for(self._setup.size),
        )  # fmt: skip

    @property
    def renewing(self) -> bool:
        """Whether a new crew prepares itself."""
        return self._next is not None

    def close(self) -> None:
        """Cancel all computations and end the workers."""
        with self._lock:
            closed = gettext_noop("the dashboard was closed")
            crews = [self._crew, *self._leaving, *([self._next] if self._next else [])]
            rehearsed = [each.rehearsal.computation for each in crews if each.rehearsal]
            for computation in [*self._scheduler.queue, *self.running(), *rehearsed]:
                self._scheduler.finish(computation, "cancelled", note=closed)
            for crew in crews:
                crew.end()
            self._watchdog.close()
            self._job_ended.notify_all()
        for thread in [*(each for crew in crews for each in crew.threads), self._watching]:
            thread.join(_SECONDS_TO_CLOSE)

    def _worker_of(self, computation: Computation) -> WorkerState | None:
        found = (each for each in self._setup.workers if each.computation is computation)
        return next(found, None)

    def _look(self, crew: Crew) -> None:
        """A crew has changed: the new one may be ready, or have failed; the last may be gone."""
        if crew in self._leaving and not crew.workers:
            self._leaving.remove(crew)
        rehearsal = crew.rehearsal
        if crew is not self._next or rehearsal is None or rehearsal.ending is None:
            return
        ready, wanted = crew.ready(), 1 if crew.one_by_one else self._setup.size
        if rehearsal.failed:
            self._abandon(crew, rehearsal, rehearsal.ending)
        elif ready >= wanted:
            self._swap(crew, rehearsal, rehearsal.ending)
        else:
            note = gettext_noop(
                "{ready} of {wanted} new workers are ready", ready=ready, wanted=wanted
            )
            rehearsal.computation.publish("progress", fraction=ready / wanted, note=note)

    def _swap(self, crew: Crew, rehearsal: Rehearsal, ending: Ending) -> None:
        """Let the new crew serve and the old one leave, and forget what the old one computed."""
        self._leaving.append(self._crew)
        self._crew.leave()
        self._crew, self._next = crew, None
        self._scheduler.clear_cache()
        crew.serve()
        self._finish(rehearsal, ending)

    def _abandon(self, crew: Crew, rehearsal: Rehearsal, ending: Ending) -> None:
        """Do without the new crew; the present one goes on."""
        self._next = None
        self._leaving.append(crew)
        self._finish(rehearsal, ending)
        crew.end()

    def _finish(self, rehearsal: Rehearsal, ending: Ending) -> None:
        self._scheduler.finish(rehearsal.computation, ending.stage, ending.size, **ending.fields)
        self._job_ended.notify_all()
