"""The runs of an experiment as they stand: each found by its request, whoever asked for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.runs.experiment_view import Experiment, Place
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.trainings import Training
from dashboard.state import Jobs

MISSING, ABSENT = "missing", "not installed"
AT_WORK = ("running", "queued")
# In the order in which a summary counts them. Of equal trainings the first in it stands for all.
STATES = ("done", "running", "queued", "paused", "failed", MISSING, ABSENT)
_OF_TRAINING = {"pausing": "running", "cancelled": MISSING}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run: a scoring with a seed.

    Args:
        state: one of :data:`STATES`.
        note: one sentence: how far it is, or why it failed.
        figures: by name, of a run that is done; None where not measured.
        weights: how many the model has, where known.
        facts: of a failure: ``culprit``, ``traceback``.
        training, result: what there is of it.
    """

    scoring: str
    seed: int
    state: str
    note: str = ""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    weights: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    training: Training | None = None
    result: Result | None = None


def fits(view: Experiment, requests: Mapping[Place, Request], jobs: Jobs) -> list[Cell]:
    """The runs of kernel regression, from what was computed so far."""
    return [
        _fit(place, requests[place], jobs) if place in requests else _absent(place)
        for place in _places(view)
    ]


def trainings(
    view: Experiment, requests: Mapping[Place, Request], known: Iterable[Training]
) -> list[Cell]:
    """The trainings of an experiment, from those that exist.

    Args:
        known: newest first; of several with one request the one that is furthest counts.
    """
    found: dict[Request, Cell] = {}
    wanted = {request: place for place, request in requests.items()}
    for training in known:
        place = wanted.get(training.request)
        if place is not None:
            cell, other = _training(place, training), found.get(training.request)
            if other is None or STATES.index(cell.state) < STATES.index(other.state):
                found[training.request] = cell
    return [
        found.get(requests[place], Cell(scoring=place[0], seed=place[1], state=MISSING))
        if place in requests
        else _absent(place)
        for place in _places(view)
    ]


def summary(cells: Sequence[Cell]) -> str:
    """Such as ``6 runs: 4 done, 1 running, 1 missing``."""
    counts = Counter(cell.state for cell in cells)
    told = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    return f"{len(cells)} run{'s' * (len(cells) != 1)}: {', '.join(told)}"


def _places(view: Experiment) -> list[Place]:
    return [(scoring, seed) for scoring in view.scorings for seed in range(view.seeds)]


def _absent(place: Place) -> Cell:
    return Cell(scoring=place[0], seed=place[1], state=ABSENT)


def _fit(place: Place, request: Request, jobs: Jobs) -> Cell:
    name = {"scoring": place[0], "seed": place[1]}
    event = jobs.final(request)
    if event is None:
        events = jobs.progress(request)
        begun = any(one.stage != "queued" for one in events)
        note = events[-1].note if events else ""
        return Cell(**name, state="running" if begun else "queued", note=note)
    if event.result is None:
        note = event.note or "The job was stopped before it was done."
        return Cell(**name, state="failed", note=note, facts=event.facts)
    facts = event.result.facts
    figures = {**facts["metrics"], "seconds": facts.get("work_seconds")}
    return Cell(
        **name, state="done", figures=figures, weights=facts.get("parameters"),
        result=event.result,
    )  # fmt: skip


def _training(place: Place, training: Training) -> Cell:
    state = _OF_TRAINING.get(training.state, training.state)
    return Cell(
        scoring=place[0],
        seed=place[1],
        state=state,
        note=training.note,
        figures=_figures(training) if state == "done" else {},
        weights=training.facts.get("parameters"),
        facts=training.facts,
        training=training,
    )


def _figures(training: Training) -> dict[str, float | None]:
    epochs, facts = training.epochs, training.facts
    if not epochs:
        return {}
    seconds = sum(epoch.seconds for epoch in epochs)
    tokens = sum(epoch.tokens_per_second * epoch.seconds for epoch in epochs)
    return {
        "loss": epochs[-1].loss,
        "bleu": epochs[-1].bleu,
        "alignment_error": facts.get("alignment_error"),
        "relative_entropy": facts.get("relative_entropy"),
        "seconds": seconds,
        "tokens_per_second": tokens / seconds if seconds else None,
        "peak_memory": facts.get("peak_memory"),
    }
