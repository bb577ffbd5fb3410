"""Races that this server runs, by its trainers: each of them works on whatever is left."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from dashboard.jobs.backend import Event
from dashboard.jobs.pool import LocalPool
from dashboard.jobs.training_jobs import limit_options
from dashboard.records.request import Request
from dashboard.records.training import MOST_SECONDS
from dashboard.settings import settings

TASK, RUN = "race", "run"  # what a trainer is asked for, and its option ``show``


class _Run(NamedTuple):
    owner: str
    jobs: tuple[str, ...]


class Racing:
    """The races of one server. Every method may be called from any thread.

    What is done lies in a race's folder, so that it goes on where it stopped: here, by a command,
    or on another machine that sees the folder.

    ``trainers``: gives the pool that trains.
    """

    def __init__(self, trainers: Callable[[], LocalPool]) -> None:
        self._trainers = trainers
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._stopped: set[str] = set()

    def start(self, race: str, owner: str = "") -> None:
        """Begin, or go on; nothing happens to a race that runs.

        Like a training it ends after the hours that this server allows at a time.

        ValueError: another race of the same owner runs, or as many as this server takes.
        """
        hours = limit_options()[MOST_SECONDS]
        with self._lock:
            running = {name for name, run in self._runs.items() if self._runs_on(run)}
            if race in running:
                return
            if other := next((each for each in running if self._runs[each].owner == owner), None):
                raise ValueError(f"your race {other} runs already; stop it, or wait for its end")
            if len(running) >= settings().trainers:
                raise ValueError(
                    f"{len(running):,} races run already; try again once one has ended"
                )
            pool = self._trainers()
            given = {"show": RUN, MOST_SECONDS: hours}
            asked = [Request.make(TASK, data=race, options={**given, "trainer": number})
                     for number in range(settings().trainers)]  # fmt: skip
            jobs = tuple(pool.submit(request, client=owner) for request in asked)
            self._runs[race] = _Run(owner, jobs)
            self._stopped.discard(race)

    def stop(self, race: str) -> None:
        """End the trainings that run; what is done stays."""
        with self._lock:
            self._stopped.add(race)
        for job in self._of(race):
            self._trainers().cancel(job)

    def stopping(self, race: str) -> bool:
        """Whether it was told to end, and has not yet."""
        return race in self._stopped and self.running(race)

    def running(self, race: str) -> bool:
        """Whether any trainer works on it, or will."""
        with self._lock:
            run = self._runs.get(race)
            return run is not None and self._runs_on(run)

    def failure(self, race: str) -> Event | None:
        """How a trainer failed in the last run, if one did."""
        if self.running(race):
            return None
        ends = map(self._end, self._of(race))
        return next((end for end in ends if end and end.stage == "failed"), None)

    def _of(self, race: str) -> tuple[str, ...]:
        with self._lock:
            return self._runs[race].jobs if race in self._runs else ()

    def _runs_on(self, run: _Run) -> bool:
        return any(self._end(job) is None for job in run.jobs)

    def _end(self, job: str) -> Event | None:
        try:
            return self._trainers().wait(job, 0.0)
        except KeyError:  # it ended so long ago that the pool has forgotten it
            return Event(number=1, stage="cancelled")
