"""How long trainings wait and how long they will take, in words."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.language import gettext, ngettext, translated
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
    return gettext(
        "{count:,} trainings run or wait; the last will be done in {time}.",
        count=len(at_work), time=translated(about(max(known))),
    )  # fmt: skip


def progress(training: Training) -> str:
    """How far a training is that has taken a step, and how long it will still take."""
    live, left = training.live, training.ahead.left
    at = {name: live[name] for name in ("epoch", "epochs", "step", "steps")}
    if left is None:
        return gettext("epoch {epoch:,} of {epochs:,} · step {step:,} of {steps:,}", **at)
    return gettext(
        "epoch {epoch:,} of {epochs:,} · step {step:,} of {steps:,} · {time} left",
        **at, time=translated(about(left)),
    )  # fmt: skip


def waiting(training: Training) -> str:
    """The place in the queue of a training that waits, and when it will start."""
    before, starts_in = training.ahead.before, training.ahead.starts_in
    if before is None:
        return translated(training.note)
    if not starts_in:  # it starts now, or nobody knows
        if not before:
            return gettext("Next in the queue.")
        return ngettext(
            "{count} training before it in the queue.",
            "{count:,} trainings before it in the queue.",
            before,
        )
    time = translated(about(starts_in))
    if not before:
        return gettext("Next in the queue. Starts in {time}.", time=time)
    return ngettext(
        "{count} training before it in the queue. Starts in {time}.",
        "{count:,} trainings before it in the queue. Starts in {time}.",
        before, time=time,
    )  # fmt: skip
