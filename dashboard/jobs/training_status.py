"""The status of a training, derived from its recorded history and the events of its job."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

from dashboard.jobs.backend import Event
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.training import ENDED, EPOCHS, Ahead, State, Training
from dashboard.storage.training_folder import Ordered, TrainingLocks
from dashboard.storage.training_history import History

_FREE = frozenset((EPOCHS, "probe"))  # options that do not change how long an epoch takes


def forecast(
    trainings: Sequence[Training], jobs: Mapping[str, int | None], workers: int
) -> list[Training]:
    """The trainings, newest first, with what is ahead of those that run here and that wait here.

    A training that waits is taken to be as fast as one that differs in its seed, its number of
    epochs and its probe alone; or else as one that also has another scoring. ``jobs`` say how many
    will be started before each, by its id, None of one that runs; so many ``workers`` run at once.
    """
    found: dict[str, Ahead] = {}
    ends = [0.0] * workers
    for training in trainings:
        if training.id in jobs and jobs[training.id] is None:
            left = training.live.get("seconds_left")
            found[training.id] = Ahead(starts_in=0.0, left=left)
            heapq.heappushpop(ends, math.inf if left is None else left)
    waiting = [(place, one) for one in trainings if (place := jobs.get(one.id)) is not None]
    for place, training in sorted(waiting, key=lambda one: one[0]):
        starts = heapq.heappop(ends) if ends else math.inf
        whole = expected(training.request, trainings, done=len(training.epochs))
        end = math.inf if whole is None else starts + whole
        heapq.heappush(ends, end)
        found[training.id] = Ahead(before=place, starts_in=_known(starts), left=_known(end))
    return [replace(one, ahead=found.get(one.id, one.ahead)) for one in trainings]


def expected(request: Request, known: Sequence[Training], done: int = 0) -> float | None:
    """The seconds that a training will take; None where nothing alike was seen.

    ``known`` run or have ended, newest first. It need not do again the epochs that are ``done``.
    """
    epochs = int(dict(request.options).get(EPOCHS, 0)) - done
    alike = [
        (one.request.scoring != request.scoring, seconds)
        for one in known
        if _key(one.request) == _key(request) and (seconds := _epoch(one)) is not None
    ]
    if epochs < 1 or not alike:
        return None
    return epochs * min(alike, key=lambda one: one[0])[1]  # of equals the newest


def _epoch(training: Training) -> float | None:
    if training.epochs:
        return fmean(one.seconds + one.evaluation_seconds for one in training.epochs)
    whole = training.live.get("seconds_whole")
    return None if whole is None else whole / training.live["epochs"]


def _key(request: Request) -> tuple[object, ...]:
    options = tuple(pair for pair in request.options if pair[0] not in _FREE)
    return request.model, request.data, request.device, options


def _known(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


class TrainingStatus(NamedTuple):
    """The fields of the same names in :class:`~dashboard.records.training.Training`."""

    state: State
    note: str
    live: Mapping[str, Any]


def training_status(
    history: History, events: Sequence[Event], locks: TrainingLocks, *, stopping: bool,
    requested: bool,
) -> TrainingStatus:  # fmt: skip
    """Return state, note and live figures.

    Args:
        events: of its job on this server; empty if there is no job.
        locks: say whether a worker of another server runs it, and whether one has it queued.
        stopping, requested: whether the job, or another server, was asked to stop it.
    """
    if history.state in ENDED or history.state == "paused":
        return TrainingStatus(history.state, history.note, {})
    if not events:
        if requested and locks.held():
            return TrainingStatus("pausing", gettext_noop("Another server stops it."), {})
        if locks.busy():
            return TrainingStatus("running", gettext_noop("Another server works on it."), {})
        if history.state == "queued":
            return TrainingStatus(
                "queued", gettext_noop("Waits for a trainer of another server."), {}
            )
        if locks.held():  # its worker was lost, and the next one has not started yet
            return TrainingStatus("running", gettext_noop("Another server starts it again."), {})
        note = gettext_noop("The server stopped in the meantime; resume to go on.")
        return TrainingStatus("paused", note, {})
    if not stopping and not any(event.stage == "started" for event in events):
        return TrainingStatus("queued", gettext_noop("Waits until a trainer is free."), {})
    state: State = "pausing" if stopping else "running"
    last = next((event for event in reversed(events) if event.stage == "progress"), None)
    if last is None:
        return TrainingStatus(state, gettext_noop("Starting."), {})
    return TrainingStatus(state, last.note, last.facts)


def describe(
    id: str, order: Ordered, status: TrainingStatus, history: History, outcome: History
) -> Training:
    """Return all that is known of a training.

    ``outcome`` is its history, or how it ended where that could not be recorded.
    """
    request, created, owner = order
    names = {"model": request.model, "scoring": request.scoring, "corpus": request.data}
    title = gettext_noop(
        "{model} with {scoring} on {data}",
        model=request.model, scoring=request.scoring, data=request.data,
    )  # fmt: skip
    return Training(
        id=id, request=request, created=created, owner=owner, **status._asdict(),
        epochs=history.epochs, losses=history.losses, checkpoint=history.checkpoint,
        facts={"title": title, **names, **(history.facts or {}), **(outcome.facts or {})},
    )  # fmt: skip


def paused_note(history: History) -> str:
    """Return the note of a training that was paused."""
    done = len(history.epochs)
    if done == 1:
        return gettext_noop("Paused after 1 epoch; resume to go on.")
    return gettext_noop("Paused after {epochs} epochs; resume to go on.", epochs=done)
