"""When trainings will start and end, from those that run and those that are done."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from dashboard.records.request import Request
from dashboard.records.training import EPOCHS, Ahead, Training

_FREE = frozenset((EPOCHS, "probe"))  # options that do not change how long an epoch takes


def forecast(
    trainings: Sequence[Training], jobs: Mapping[str, int | None], workers: int
) -> list[Training]:
    """The trainings with what is ahead of those that run here and those that wait here.

    A training that waits is taken to be as fast as one that differs in its seed, its number of
    epochs and its probe alone; where there is none, as one that also has another scoring.

    Args:
        trainings: all that this server knows, newest first.
        jobs: by the id of each that runs or waits here, how many will be started before it; None
            of one that runs.
        workers: trainings that may run at once.
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

    Args:
        request: what determines it.
        known: trainings that run or have ended, newest first.
        done: epochs that it need not do again.
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
    """Seconds of one of its epochs with its evaluation."""
    if training.epochs:
        return fmean(one.seconds + one.evaluation_seconds for one in training.epochs)
    whole = training.live.get("seconds_whole")
    return None if whole is None else whole / training.live["epochs"]


def _key(request: Request) -> tuple[object, ...]:
    options = tuple(pair for pair in request.options if pair[0] not in _FREE)
    return request.model, request.data, request.device, options


def _known(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
