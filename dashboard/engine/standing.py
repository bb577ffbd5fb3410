"""How a training stands, from what its folder says and what its job does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dashboard.engine.protocol import Event
from dashboard.runs.training_folder import History
from dashboard.runs.trainings import ENDED, State


class Standing(NamedTuple):
    """As in :class:`~dashboard.runs.trainings.Training`."""

    state: State
    note: str
    live: Mapping[str, Any]


def standing(
    history: History, events: Sequence[Event], *, stopping: bool, elsewhere: Callable[[], bool]
) -> Standing:
    """State, note and live figures.

    Args:
        history: what was noted of it.
        events: of its job on this server, none if there is no job.
        stopping: whether the job was asked to stop.
        elsewhere: tells whether another server works on it.
    """
    if history.state in ENDED or history.state == "paused":
        return Standing(history.state, history.note, {})
    if not events:
        if elsewhere():
            return Standing("running", "Another server works on it.", {})
        return Standing("paused", "The server stopped in the meantime; resume to go on.", {})
    if not stopping and not any(event.stage == "started" for event in events):
        return Standing("queued", "Waits until a trainer is free.", {})
    state: State = "pausing" if stopping else "running"
    last = next((event for event in reversed(events) if event.stage == "progress"), None)
    return Standing(state, last.note, last.facts) if last else Standing(state, "Starting.", {})


def paused(history: History) -> str:
    """The note of a training that was paused."""
    done = len(history.epochs)
    return f"Paused after {done} epoch{'' if done == 1 else 's'}; resume to go on."
