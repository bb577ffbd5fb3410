"""A job as its owner sees it, and the computation that jobs of equal requests share."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from itertools import count
from typing import Any

from dashboard.engine.faults import Fault, Origins
from dashboard.engine.protocol import FINAL, Event, Stage
from dashboard.runs.request import Request

Verdict = Callable[[str, Origins], Fault]

EVENTS_KEPT = 500
_NUMBERS = count(1)


class Job:
    """The events of one submitted request; ``history`` is that of a job it joins."""

    def __init__(self, history: list[Event]) -> None:
        self.id = secrets.token_hex(16)
        self.events = list(history)
        self.final: Event | None = None
        self.size = 0  # of its result, in bytes

    def add(self, stage: Stage, **fields: Any) -> None:
        """The next event; the oldest progress is forgotten beyond :data:`EVENTS_KEPT`."""
        number = self.events[-1].number + 1 if self.events else 1
        event = Event(number=number, stage=stage, **fields)
        self.events.append(event)
        if stage in FINAL:
            self.final = event
        if len(self.events) > EVENTS_KEPT:
            del self.events[[event.stage for event in self.events].index("progress")]


class Computation:
    """What a worker does once for all unfinished jobs of equal requests.

    Args:
        request: what to compute.

    ``time_limit``, in seconds of running, is the longest that one of the jobs asked for;
    ``stopping`` is how the jobs will end once the worker obeyed. If that is a failure, ``verdict``
    says why from what the worker wrote to stderr and where plugins lie: ``fault``.
    """

    def __init__(self, request: Request) -> None:
        self.number = next(_NUMBERS)
        self.request = request
        self.time_limit = 0.0
        self.jobs: list[Job] = []
        self.started: float | None = None  # when a worker accepted it, in monotonic seconds
        self.stopping: Stage | None = None
        self.verdict: Verdict | None = None
        self.fault: Fault | None = None

    def explain(self, stderr: str, origins: Origins) -> None:
        """Have the verdict spoken, if there is one."""
        if self.verdict:
            self.fault = self.verdict(stderr, origins)

    def join(self, time_limit: float) -> Job:
        """A further job for the request, with everything that happened so far."""
        job = Job(self.jobs[0].events if self.jobs else [])
        if not self.jobs:
            job.add("queued")
        self.time_limit = max(self.time_limit, time_limit)
        self.jobs.append(job)
        return job

    def tell(self, stage: Stage, **fields: Any) -> None:
        """Add an event to each of the jobs; to those being stopped, only how they ended."""
        if self.stopping and stage not in FINAL:
            return
        for job in self.jobs:
            job.add(stage, **fields)
