"""Which jobs there are, what they wait for, and what came of them: no threads, no processes."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from dashboard.engine import faults
from dashboard.engine.cache import ResultCache
from dashboard.engine.jobs import Computation, Job
from dashboard.engine.protocol import Stage
from dashboard.runs.request import Request

JOBS_KEPT = 2_000
RESULT_BYTES_KEPT = 512 * 2**20


class Ledger:
    """Jobs from their submission until they are forgotten. Its owner holds a lock.

    Args:
        cache: bytes of results to answer equal requests from.
        jobs_kept, bytes_kept: finished jobs, and bytes of their results, before the oldest
            are forgotten; the newest stays.
    """

    def __init__(
        self, cache: int, jobs_kept: int = JOBS_KEPT, bytes_kept: int = RESULT_BYTES_KEPT
    ) -> None:
        self.queue: deque[Computation] = deque()
        self._jobs_kept, self._bytes_kept = jobs_kept, bytes_kept
        self._cache = ResultCache(cache)
        self._shared: dict[str, Computation] = {}  # what an equal request may join
        self._unfinished: dict[str, tuple[Job, Computation]] = {}
        self._finished: OrderedDict[str, Job] = OrderedDict()
        self._bytes = 0

    def submit(self, request: Request, time_limit: float) -> Job:
        """A job: finished where the result is known, else one of a computation."""
        if kept := self._cache.get(request):
            job = Job([])
            job.add("done", result=kept.result)
            self._finish(job, kept.size)
            return job
        computation = self._shared.get(request.key)
        if computation is None:
            computation = self._shared[request.key] = Computation(request)
            self.queue.append(computation)
        job = computation.join(time_limit)
        self._unfinished[job.id] = (job, computation)
        return job

    def find(self, job: str) -> Job:
        """The job of that id.

        Raises:
            KeyError: there is none, or it was forgotten.
        """
        if job in self._unfinished:
            return self._unfinished[job][0]
        if job in self._finished:
            return self._finished[job]
        raise KeyError(f"no job {job!r}; it may have been forgotten")

    def cancel(self, job: str) -> Computation | None:
        """End a job at once if others share its computation or it still waits in the queue.

        Returns:
            The computation that must be stopped first, for a job alone with a running one.
        """
        if job not in self._unfinished:
            return None
        found, computation = self._unfinished[job]
        waits = computation in self.queue
        if len(computation.jobs) == 1 and not waits:
            return computation
        computation.jobs.remove(found)
        if not computation.jobs:
            self.queue.remove(computation)
            self.seclude(computation)
        found.add("cancelled")
        self._finish(found, 0)
        return None

    def seclude(self, computation: Computation) -> None:
        """Let no further job join it, and do not keep its result."""
        if self._shared.get(computation.request.key) is computation:
            del self._shared[computation.request.key]

    def conclude(
        self, computation: Computation, stage: Stage, size: int = 0, **fields: Any
    ) -> None:
        """Give all its jobs their final event, the one that stopping it promised if it was.

        ``size`` is that of the result, in bytes. A result that came in spite of a time limit
        counts.
        """
        if computation.stopping == "cancelled":
            stage, size, fields = "cancelled", 0, {}
        elif computation.stopping and stage != "done":
            note, facts = computation.fault or faults.took_too_long(
                computation.request, computation.time_limit
            )
            stage, fields = "failed", {"note": note, "facts": facts}
        if stage == "done" and self._shared.get(computation.request.key) is computation:
            self._cache.put(computation.request, fields["result"], size)
        self.seclude(computation)
        computation.tell(stage, **fields)
        for job in computation.jobs:
            self._finish(job, size)
        computation.jobs = []

    def forget_results(self) -> None:
        """Answer no request from memory any more; the finished jobs keep theirs."""
        self._cache.clear()

    def _finish(self, job: Job, size: int) -> None:
        self._unfinished.pop(job.id, None)
        self._finished[job.id] = job
        job.size = size
        self._bytes += size
        while len(self._finished) > 1 and (
            len(self._finished) > self._jobs_kept or self._bytes > self._bytes_kept
        ):
            self._bytes -= self._finished.popitem(last=False)[1].size
