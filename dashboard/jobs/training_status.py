"""The status of a training, derived from its recorded history and the events of its job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dashboard.jobs.backend import Event
from dashboard.language import gettext_noop
from dashboard.records.training import ENDED, State, Training
from dashboard.storage.training_folder import Ordered
from dashboard.storage.training_history import History


class TrainingStatus(NamedTuple):
    """The fields of the same names in :class:`~dashboard.records.training.Training`."""

    state: State
    note: str
    live: Mapping[str, Any]


def training_status(
    history: History,
    events: Sequence[Event],
    *,
    stopping: bool,
    requested: bool,
    runs_elsewhere: Callable[[], bool],
    queued_elsewhere: Callable[[], bool],
) -> TrainingStatus:
    """Return state, note and live figures.

    Args:
        history: what the training's folder records.
        events: of its job on this server; empty if there is no job.
        stopping: whether the job was asked to stop.
        requested: whether another server was asked to stop it.
        runs_elsewhere: returns whether a worker of another server runs the training.
        queued_elsewhere: returns whether another server has it in its queue.
    """
    if history.state in ENDED or history.state == "paused":
        return TrainingStatus(history.state, history.note, {})
    if not events:
        if requested and queued_elsewhere():
            return TrainingStatus("pausing", gettext_noop("Another server stops it."), {})
        if runs_elsewhere():
            return TrainingStatus("running", gettext_noop("Another server works on it."), {})
        if history.state == "queued":
            return TrainingStatus(
                "queued", gettext_noop("Waits for a trainer of another server."), {}
            )
        if queued_elsewhere():  # its worker was lost, and the next one has not started yet
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
    id: str,
    order: Ordered,
    status: TrainingStatus,
    *,
    history: History,
    outcome: History,
    kept: bool,
) -> Training:
    """Return all that is known of a training.

    Args:
        id: of the training.
        order: what it computes, and for whom.
        status: of :func:`training_status`.
        history: what its folder records.
        outcome: the same, or how it ended where that could not be recorded.
        kept: whether the checkpoint that was made of its model is still there.
    """
    request, created, owner = order
    names = {"model": request.model, "scoring": request.scoring, "corpus": request.data}
    title = gettext_noop(
        "{model} with {scoring} on {data}",
        model=request.model, scoring=request.scoring, data=request.data,
    )  # fmt: skip
    return Training(
        id=id, request=request, created=created, owner=owner, **status._asdict(),
        epochs=history.epochs, losses=history.losses,
        checkpoint=history.checkpoint if kept else "",
        facts={"title": title, **names, **(history.facts or {}), **(outcome.facts or {})},
    )  # fmt: skip


def paused_note(history: History) -> str:
    """Return the note of a training that was paused."""
    done = len(history.epochs)
    if done == 1:
        return gettext_noop("Paused after 1 epoch; resume to go on.")
    return gettext_noop("Paused after {epochs} epochs; resume to go on.", epochs=done)
