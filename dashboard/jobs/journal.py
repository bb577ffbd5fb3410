"""What happens to jobs, as it happens: a line of the log, and an entry for whoever counts them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass

from dashboard.jobs.backend import Event, Stage
from dashboard.records.request import Request
from dashboard.records.training import FOLDER

_LOG = logging.getLogger(__name__)
_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What happened to one job.

    Args:
        job: its id.
        task: what it computes, as in :mod:`dashboard.jobs.tasks`.
        stage: its new one; progress is not entered.
        seconds: since it was submitted.
        client: a digest of the session that asked, or of the owner of a training. Whoever knows
            an id can take a session over, so that ids themselves are not written.
        training: the id of the training that it works on, else empty.
        note: why it failed, in one line.
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
        job=job,
        task=request.task,
        stage=event.stage,
        seconds=round(seconds, 3),
        client=digest(client),
        training=str(dict(request.options).get(FOLDER, "")),
        note=" ".join(event.note.split()) if failed else "",
    )
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
