"""How long trainings wait and how long they will take, in words."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.records.training import Training
from dashboard.records.work import about

ACTIVE = ("queued", "running", "pausing")


def outlook(trainings: Sequence[Training]) -> str:
    """When all that run or wait will be done; empty where fewer than two do, or it is unknown."""
    at_work = [one for one in trainings if one.state in ACTIVE]
    left = [one.ahead.left for one in at_work]
    known = [seconds for seconds in left if seconds is not None]
    if len(at_work) < 2 or len(known) < len(at_work):
        return ""
    return f"{len(at_work):,} trainings run or wait; the last will be done in {about(max(known))}."


def progress(training: Training) -> str:
    """How far a training is that has taken a step, and how long it will still take."""
    live = training.live
    words = (
        f"epoch {live['epoch']:,} of {live['epochs']:,} · "
        f"step {live['step']:,} of {live['steps']:,}"
    )
    left = training.ahead.left
    return words if left is None else f"{words} · {about(left)} left"


def waiting(training: Training) -> str:
    """The place in the queue of a training that waits, and when it will start."""
    before, starts_in = training.ahead.before, training.ahead.starts_in
    if before is None:
        return training.note
    if not before:
        place = "Next in the queue."
    elif before == 1:
        place = "1 training before it in the queue."
    else:
        place = f"{before:,} trainings before it in the queue."
    if not starts_in:  # it starts now, or nobody knows
        return place
    return f"{place} Starts in {about(starts_in)}."
