"""Queued, running and finished jobs, and which of them share a result.

Starts no thread and no process.
"""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from statistics import median, quantiles
from typing import Any, NamedTuple

from dashboard.jobs import errors
from dashboard.jobs.backend import FinalStage
from dashboard.jobs.fair_queue import LONG_WORK, FairQueue
from dashboard.jobs.job import MOST_COST, USUAL_COST, Computation, Job
from dashboard.records.request import Request, Result

_KEPT = 20  # of each kind
_KINDS = 500
_FEWEST, _FEWEST_FOR_QUARTILES = 2, 5
_SPREAD = 3.0  # the middle half, or a few, may differ by this factor, or nothing is said
_FARTHEST = 60.0  # times the largest work that was seen
_LEAST_WORK = 0.01  # a computation has costs besides its work


class Durations:
    """Seconds per unit of work, by what was computed.

    An estimate is made from computations of the same task, model, scoring and data alone. Where
    there are none, where they differ much, or where they were far smaller, there is no estimate.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], deque[tuple[float, float]]] = OrderedDict()

    def note(self, request: Request, work: float, seconds: float) -> None:
        """Note a computation that is done; ``work`` is 0 where that is not known."""
        kind = _kind(request)
        self._known.setdefault(kind, deque(maxlen=_KEPT)).append((work, seconds))
        self._known.move_to_end(kind)
        if len(self._known) > _KINDS:
            self._known.popitem(last=False)

    def typical(self, request: Request, work: float) -> float:
        """Return the median of the seconds that such a request took, for its work; 0 if none has.

        Good enough for an order, not for a promise: the machine may have been busy or idle.
        """
        rates = [rate for _, rate in self._alike(request, work)]
        return median(rates) * max(work, _LEAST_WORK) if rates else 0.0

    def estimate(self, request: Request, work: float) -> float | None:
        """Return the seconds that a request will probably take; None where that is not known."""
        alike = self._alike(request, work)
        if len(alike) < _FEWEST or work > _FARTHEST * max(amount for amount, _ in alike):
            return None
        rates = [rate for _, rate in alike]
        low, middle, high = quantiles(rates, n=4, method="inclusive")
        if len(rates) < _FEWEST_FOR_QUARTILES:
            low, high = min(rates), max(rates)
        return middle * max(work, _LEAST_WORK) if high <= _SPREAD * low else None

    def _alike(self, request: Request, work: float) -> list[tuple[float, float]]:
        """The work of each that is known, and its seconds per unit of it."""
        known = self._known.get(_kind(request), ())
        return [
            (amount, seconds / max(amount, _LEAST_WORK)) for amount, seconds in known
            if bool(amount) == bool(work)
        ]  # fmt: skip

    def together(self, asked: Iterable[tuple[Request, float]], workers: int) -> float | None:
        """Return the seconds that requests take together; None if that of one is not known."""
        found = [self.estimate(request, work) for request, work in asked]
        known = [seconds for seconds in found if seconds is not None]
        if not known or len(known) < len(found):
            return None
        return max(*known, sum(known) / workers) if len(known) > 1 else known[0]


def _kind(request: Request) -> tuple[str, ...]:
    return request.task, request.model, request.scoring, request.data


class CachedResult(NamedTuple):
    """A result and its size in bytes."""

    result: Result
    size: int


class ResultCache:
    """Evicts the least recently used results beyond a total size in bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity, self._total = capacity, 0
        self._results: OrderedDict[str, CachedResult] = OrderedDict()

    def get(self, request: Request) -> CachedResult | None:
        """Return the result of an equal request, or None.

        Requests are compared by their canonical JSON: dictionary keys of 1 and 1.0 would be equal.
        """
        if request.key not in self._results:
            return None
        self._results.move_to_end(request.key)
        return self._results[request.key]

    def put(self, request: Request, result: Result, size: int) -> None:
        """Add a result of ``size`` bytes.

        Results with the fact ``{"cacheable": false}``, and any beyond the capacity, are not added.
        """
        if size > self._capacity or result.facts.get("cacheable") is False:
            return
        if old := self._results.pop(request.key, None):
            self._total -= old.size
        self._results[request.key] = CachedResult(result, size)
        self._total += size
        while self._total > self._capacity:
            self._total -= self._results.popitem(last=False)[1].size

    def clear(self) -> None:
        """Remove all results."""
        self._results.clear()
        self._total = 0


MAX_JOBS = 2_000
MAX_RESULT_BYTES = 512 * 2**20


class Scheduler:
    """Jobs from their submission until they are forgotten. The caller holds the pool's lock.

    Args:
        workers, long_work: see :class:`~dashboard.jobs.fair_queue.FairQueue`.
        max_jobs: finished jobs that are remembered.
        max_bytes: bytes of the results of finished jobs. Beyond either limit the oldest jobs are
            forgotten; the newest always stays.
    """

    def __init__(
        self, cache: int, workers: int = 1, *, long_work: float = LONG_WORK,
        max_jobs: int = MAX_JOBS, max_bytes: int = MAX_RESULT_BYTES,
    ) -> None:  # fmt: skip
        self.queue = FairQueue(workers, long_work)
        self.durations = Durations()
        self._weighs = math.isfinite(long_work)
        self._max_jobs, self._max_bytes = max_jobs, max_bytes
        self._cache = ResultCache(cache)
        self._shared: dict[str, Computation] = {}  # those that an equal request may join
        self._unfinished: dict[str, tuple[Job, Computation]] = {}
        self._finished: OrderedDict[str, Job] = OrderedDict()
        self._bytes = 0

    def submit(
        self, request: Request, time_limit: float, client: str = "", work: float = 0.0
    ) -> Job:
        """Create a job: a finished one if the result is cached, else one of a computation."""
        if cached := self._cache.get(request):
            job = Job(request, [], client)
            job.add("done", result=cached.result)
            self._archive(job, cached.size)
            return job
        if computation := self._shared.get(request.key):
            job = self._join(computation, time_limit, client, work)
            self.queue.update()
            return job
        computation = self._shared[request.key] = Computation(request)
        if self._weighs:
            usual = self.durations.typical(request, work) or work or USUAL_COST
            computation.cost = min(usual, MOST_COST)
        job = self._join(computation, time_limit, client, work)
        self.queue.add(computation)
        return job

    def submit_apart(self, request: Request, time_limit: float) -> tuple[Job, Computation]:
        """Create a job that no equal request shares, and that does not stand in the queue."""
        computation = Computation(request)
        return self._join(computation, time_limit), computation

    def _join(
        self, computation: Computation, time_limit: float, client: str = "", work: float = 0.0
    ) -> Job:
        job = computation.join(time_limit, client, work)
        self._unfinished[job.id] = (job, computation)
        return job

    def has(self, request: Request) -> bool:
        """Whether :meth:`submit` would begin no computation."""
        return request.key in self._shared or self._cache.get(request) is not None

    def computation(self, job: str) -> Computation | None:
        """Return the computation of an unfinished job."""
        return self._unfinished[job][1] if job in self._unfinished else None

    def unfinished(self) -> list[Job]:
        """Return the jobs that have not ended."""
        return [job for job, _ in self._unfinished.values()]

    def find(self, job: str) -> Job:
        """Return the job with that id. KeyError: there is none, or it was forgotten."""
        if job in self._unfinished:
            return self._unfinished[job][0]
        if job in self._finished:
            return self._finished[job]
        raise KeyError(f"no job {job!r}; it may have been forgotten")

    def cancel(self, job: str, facts: Mapping[str, Any] | None = None) -> Computation | None:
        """Cancel a job at once if it is queued or shares its computation with other jobs.

        If it is the only one of a running computation, return that: it must be stopped first.
        ``facts`` are those of the final event.
        """
        if job not in self._unfinished:
            return None
        found, computation = self._unfinished[job]
        if len(computation.jobs) == 1 and computation not in self.queue:
            computation.facts_of_stop = dict(facts or {})
            return computation
        computation.jobs.remove(found)
        if not computation.jobs:
            self.queue.end(computation)
            self.stop_sharing(computation)
        self.queue.update()
        found.add("cancelled", facts=dict(facts or {}))
        self._archive(found, 0)
        return None

    def stop_sharing(self, computation: Computation) -> None:
        """Let no further job join the computation, and do not cache its result."""
        if self._shared.get(computation.request.key) is computation:
            del self._shared[computation.request.key]

    def finish(
        self, computation: Computation, stage: FinalStage, size: int = 0, **fields: Any
    ) -> None:
        """Give all jobs of a computation their final event; its result has so many bytes.

        A computation that was cancelled ends as cancelled, whatever its worker answered. One that
        was stopped for another reason fails with that reason, unless its result arrived.
        """
        if computation.stopping == "cancelled":
            stage, size, fields = "cancelled", 0, {"facts": computation.facts_of_stop}
        elif computation.stopping and stage != "done":
            note, facts = computation.failure or errors.timed_out(
                computation.request, computation.time_limit
            )
            stage, fields = "failed", {"note": note, "facts": facts}
        if stage == "done" and self._shared.get(computation.request.key) is computation:
            self._cache.put(computation.request, fields["result"], size)
        if stage == "done" and computation.started is not None:
            seconds = time.monotonic() - computation.started
            self.durations.note(computation.request, computation.work, seconds)
        self.stop_sharing(computation)
        self.queue.end(computation)
        computation.publish(stage, **fields)
        for job in computation.jobs:
            self._archive(job, size)
        computation.jobs = []

    def clear_cache(self) -> None:
        """Compute every further request anew; finished jobs keep their results."""
        self._cache.clear()

    def _archive(self, job: Job, size: int) -> None:
        self._unfinished.pop(job.id, None)
        self._finished[job.id] = job
        job.size = size
        self._bytes += size
        while len(self._finished) > 1 and (
            len(self._finished) > self._max_jobs or self._bytes > self._max_bytes
        ):
            self._bytes -= self._finished.popitem(last=False)[1].size
