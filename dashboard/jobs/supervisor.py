"""The crews of a pool: the one that serves, one that prepares itself, those that leave."""

from threading import Thread

from dashboard.jobs.crew import Crew, Setup
from dashboard.jobs.job import Computation
from dashboard.jobs.rehearsal import Ending, Quarantine, Rehearsal
from dashboard.jobs.watchdog import WorkerState
from dashboard.language import gettext_noop

_SECONDS_TO_CLOSE = 5.0


class Supervisor:
    """Has one crew that serves. The caller of every method but :meth:`close` holds the lock."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._watching = Thread(target=setup.watchdog.watch, name="watchdog", daemon=True)
        self._watching.start()
        self._next: Crew | None = None
        self._leaving: list[Crew] = []
        with setup.lock:
            self._crew = Crew(setup, Quarantine(), self._look)

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
            self._setup.watchdog.stop(worker, computation, "cancelled")
        elif crew and crew.rehearsal and crew.rehearsal.computation is computation:
            self._abandon(crew, crew.rehearsal, Ending(stage="cancelled"))

    def give_way(self, computation: Computation) -> None:
        """Stop a running computation, and queue it again once its worker has stopped."""
        worker = self._worker_of(computation)
        if worker and computation.started and not computation.stopping:
            computation.giving_way = True
            self._setup.watchdog.give_way(worker, computation)

    def count(self) -> tuple[int, int]:
        """Return the number of workers that serve, or finish a job, and of busy ones."""
        preparing = self._next.workers if self._next else []
        workers = [each for each in self._setup.workers if each not in preparing]
        busy = sum(each.computation is not None for each in workers)
        return busy + sum(each.computation is None for each in self._crew.workers), busy

    def processes(self) -> tuple[int, ...]:
        """Return the process ids of all live workers on this machine."""
        found = (each.process.pid for each in self._setup.workers)
        return tuple(pid for pid in found if pid is not None)

    def running(self) -> list[Computation]:
        """Return what workers compute for jobs."""
        found = (each.computation for each in self._setup.workers)
        return [each for each in found if each and each.jobs]

    def replace(self, *, retry_quarantined: bool) -> None:
        """Replace all workers, a busy one after its job; see :meth:`.LocalPool.reload`."""
        if retry_quarantined:
            self._crew.quarantine.clear()
        self._crew.replace()
        self.wake()

    def renew(self, computation: Computation, *, retry_quarantined: bool) -> None:
        """Prepare a new crew beside the present one, which serves until the new one is ready.

        Each new worker computes this first. It is finished when the new crew serves, or cannot.
        """
        assert self._next is None, "one new crew at a time"
        if any(each.outdated for each in self._setup.workers):
            note = gettext_noop("the workers of before are finishing their jobs")
            computation.publish("progress", note=note)
        quarantine = Quarantine({} if retry_quarantined else self._crew.quarantine)
        self._next = Crew(
            self._setup, quarantine, self._look, rehearsal=Rehearsal(computation),
            one_by_one=not self._setup.has_room_for(self._setup.size),
        )  # fmt: skip

    @property
    def renewing(self) -> bool:
        """Whether a new crew prepares itself."""
        return self._next is not None

    def close(self) -> None:
        """Cancel all computations and end the workers."""
        with self._setup.lock:
            closed = gettext_noop("the dashboard was closed")
            crews = [self._crew, *self._leaving, *([self._next] if self._next else [])]
            rehearsed = [each.rehearsal.computation for each in crews if each.rehearsal]
            for computation in [*self._setup.scheduler.queue, *self.running(), *rehearsed]:
                self._setup.scheduler.finish(computation, "cancelled", note=closed)
            for crew in crews:
                crew.end()
            self._setup.watchdog.close()
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
        self._setup.scheduler.clear_cache()
        crew.serve()
        self._finish(rehearsal, ending)

    def _abandon(self, crew: Crew, rehearsal: Rehearsal, ending: Ending) -> None:
        self._next = None
        self._leaving.append(crew)
        self._finish(rehearsal, ending)
        crew.end()

    def _finish(self, rehearsal: Rehearsal, ending: Ending) -> None:
        finish = self._setup.scheduler.finish
        finish(rehearsal.computation, ending.stage, ending.size, **ending.fields)
