"""A job as its owner sees it, and the computation that jobs of equal requests share."""

import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from dashboard.jobs.backend import FINAL, Event, FinalStage, Stage
from dashboard.jobs.errors import Failure, Origins
from dashboard.records.request import Request
from dashboard.records.training import FOLDER

_LOG = logging.getLogger(__name__)
_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What happened to one job, by its id; progress is not entered.

    ``seconds`` have passed since it was submitted. ``client`` is a digest of the session that
    asked, or of the owner of a training: whoever knows an id can take a session over, so that ids
    themselves are not written. ``training`` is the id of the one that it works on, and ``note``
    says in one line why it failed.
    """

    job: str
    task: str
    stage: Stage
    seconds: float
    client: str = ""
    training: str = ""
    note: str = ""


listeners: list[Callable[[Entry], None]] = []


def enter(job: str, request: Request, client: str, seconds: float, event: Event) -> None:
    """Write what happened into the log, and hand it to all listeners. Progress is left out."""
    if event.stage == "progress":
        return
    failed = event.stage == "failed"
    entry = Entry(
        job=job, task=request.task, stage=event.stage, seconds=round(seconds, 3),
        client=digest(client), training=str(dict(request.options).get(FOLDER, "")),
        note=" ".join(event.note.split()) if failed else "",
    )  # fmt: skip
    level = logging.WARNING if failed and not event.facts.get("refused") else logging.INFO
    # In one line, whatever a visitor has typed that the note repeats.
    message = f"job {entry.stage}: {entry.task}" + (f": {entry.note}" if entry.note else "")
    fields = {name: value for name, value in asdict(entry).items() if value != ""}
    _LOG.log(level, "%s", message, extra={"fields": fields})
    for listener in listeners:
        listener(entry)


def digest(client: str) -> str:
    """What the log says of a session or an owner: 12 hexadecimal digits; empty for nobody."""
    return hashlib.sha256(client.encode()).hexdigest()[:_DIGITS] if client else ""


FailureBuilder = Callable[[str, Origins], Failure]  # from the worker's stderr

MAX_EVENTS = 500
USUAL_COST = 0.3  # seconds, of most pages' computations
# However long one takes, nobody need be served for longer before it. The first of its kind takes
# long because its worker still has everything to load.
MOST_COST = 1.0
_attempts = count(1)


class Job:
    """The events of one submitted request, each entered in the journal, and who asked."""

    def __init__(self, request: Request, history: list[Event], client: str = "") -> None:
        self.id, self.submitted = secrets.token_hex(16), time.monotonic()
        self.request, self.client = request, client
        self.events = list(history)
        self.final: Event | None = None
        self.ended = threading.Event()
        self.size = 0  # of its result, in bytes

    def add(self, stage: Stage, **fields: Any) -> None:
        """Append an event; beyond :data:`MAX_EVENTS` the oldest progress is dropped."""
        number = self.events[-1].number + 1 if self.events else 1
        event = Event(number=number, stage=stage, **fields)
        self.events.append(event)
        if stage in FINAL:
            self.final = event
            self.ended.set()
        if len(self.events) > MAX_EVENTS:
            del self.events[[event.stage for event in self.events].index("progress")]
        enter(self.id, self.request, self.client, time.monotonic() - self.submitted, event)


class Computation:
    """What a worker computes once for all unfinished jobs of equal requests.

    Attributes:
        attempt: the number of its present attempt; another one each time it is queued again.
        losses: how many attempts were lost with their machine.
        work: see :mod:`dashboard.records.request`; 0 where that is not known.
        cost: the seconds that it is expected to run, at most :data:`MOST_COST`.
        tags: by client, its place in line, see :class:`~dashboard.jobs.fair_queue.FairQueue`.
        served: the client in whose turn it was taken.
        time_limit: seconds of running; the longest that one of its jobs asked for.
        started: when a worker accepted it, in monotonic seconds.
        stopping: the stage in which its jobs will end once the worker has stopped.
        giving_way, gave_way: whether its worker is being stopped so that it can be queued again,
            and whether that has happened.
        build_failure: describes from stderr why it must stop; ``failure``, once it has.
        facts_of_stop: facts of the final event, if it is cancelled.
    """

    def __init__(self, request: Request) -> None:
        self.attempt = next(_attempts)
        self.losses = 0
        self.request = request
        self.work = 0.0
        self.cost = USUAL_COST
        self.tags: dict[str, float] = {}
        self.served = ""
        self.time_limit = 0.0
        self.jobs: list[Job] = []
        self.started: float | None = None
        self.stopping: FinalStage | None = None
        self.giving_way = self.gave_way = False
        self.build_failure: FailureBuilder | None = None
        self.failure: Failure | None = None
        self.facts_of_stop: dict[str, Any] = {}

    @property
    def clients(self) -> tuple[str, ...]:
        """Who waits for it, each once."""
        return tuple(dict.fromkeys(job.client for job in self.jobs))

    def describe_failure(self, stderr: str, origins: Origins) -> None:
        """Set :attr:`failure`, if the computation was stopped for a reason."""
        if self.build_failure:
            self.failure = self.build_failure(stderr, origins)

    def join(self, time_limit: float, client: str = "", work: float = 0.0) -> Job:
        """Add a job for the request, with all events so far."""
        job = Job(self.request, self.jobs[0].events if self.jobs else [], client)
        if not self.jobs:
            job.add("queued")
        self.time_limit = max(self.time_limit, time_limit)
        self.work = max(self.work, work)
        self.jobs.append(job)
        return job

    def queue_again(self) -> None:
        """Begin another attempt, which waits for a worker."""
        self.attempt = next(_attempts)
        self.started = None

    def publish(self, stage: Stage, **fields: Any) -> None:
        """Add an event to each job; jobs that are being stopped only get the final one."""
        if self.stopping and stage not in FINAL:
            return
        for job in self.jobs:
            job.add(stage, **fields)
