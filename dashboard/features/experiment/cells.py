"""The runs of an experiment as they stand: each found by its request, whoever asked for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from dashboard.features.experiment.tuning import STOPPED, Tuned
from dashboard.features.experiment.view import Experiment, Place
from dashboard.language import gettext, gettext_noop, listed, ngettext
from dashboard.links.recipes import SCORE
from dashboard.records.catalogue import Catalogue, Entry
from dashboard.records.request import Request, Result
from dashboard.records.training import Training
from dashboard.ui.jobs import Jobs

MISSING, ABSENT = "missing", gettext_noop("not installed")
AT_WORK = ("running", "queued")
# In the order in which a summary counts them. Of equal trainings the first in it stands for all.
STATES = ("done", "running", "queued", "paused", "failed", MISSING, ABSENT)
# Of a figure that is estimated: on how many rows, its standard error, of how many rows.
SAMPLE_ROWS, SAMPLE_ERROR = "leave_one_out_rows", "leave_one_out_standard_error"
_POINTS = "leave_one_out_points"
_OF_TRAINING = {"pausing": "running", "cancelled": MISSING}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run: a scoring with a seed.

    Args:
        state: one of :data:`STATES`.
        note: one sentence: how far it is, or why it failed.
        figures: of a run that is done, by the name of its metric, among other facts of it;
            None where not measured.
        weights: how many the model has, where known.
        facts: of a failure: ``culprit``, ``traceback``.
        outdated_by: titles of plugins whose code changed since the run was trained, so that it
            counts as missing.
        training, result: what there is of it.
    """

    scoring: str
    seed: int
    state: str
    note: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    weights: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    outdated_by: tuple[str, ...] = ()
    training: Training | None = None
    result: Result | None = None


def fits(
    view: Experiment, requests: Mapping[Place, Request], jobs: Jobs, tuning: Tuned | None = None
) -> list[Cell]:
    """The runs of kernel regression, from what was computed so far.

    Args:
        tuning: how that of the scorings stands; None where the view does not tune.
    """
    cells = []
    for scoring, seed in _places(view):
        cell = Cell(scoring=scoring, seed=seed, state=ABSENT)
        if request := requests.get((scoring, seed)):
            cell = _fit(cell, request, jobs)
        elif tuning and (request := tuning.requests.get(scoring)):
            if note := tuning.failed.get(scoring):
                cell = replace(cell, state="failed", note=note)
            elif jobs.holds(request):
                cell = replace(cell, state=MISSING)
            else:
                cell = replace(cell, state="queued", note=gettext_noop("Tuning."))
        cells.append(cell)
    return cells


def trainings(
    view: Experiment,
    requests: Mapping[Place, Request],
    known: Iterable[Training],
    catalogue: Catalogue,
) -> list[Cell]:
    """The trainings of an experiment, from those that exist.

    One that was made with other code than is installed now counts as missing.

    Args:
        known: newest first; of several with one request the one that is furthest counts.
    """
    found = {
        (scoring, seed): Cell(
            scoring=scoring, seed=seed, state=MISSING if (scoring, seed) in requests else ABSENT
        )
        for scoring, seed in _places(view)
    }
    wanted, seen = {request: place for place, request in requests.items()}, set[Place]()
    for training in known:
        place = wanted.get(training.request)
        if place in found:
            cell = _training(found[place], training, _changed(training, catalogue))
            if place not in seen or STATES.index(cell.state) < STATES.index(found[place].state):
                found[place] = cell
            seen.add(place)
    return [*found.values()]


def summary(cells: Sequence[Cell]) -> str:
    """Such as ``6 runs: 4 done, 1 running, 1 missing.``"""
    counts = Counter(cell.state for cell in cells)
    states = listed(counted(state, counts[state]) for state in STATES if counts[state])
    return ngettext("{count} run: {states}.", "{count} runs: {states}.", len(cells), states=states)


def counted(state: str, count: int) -> str:
    """How many runs stand so, such as ``4 done``."""
    words = {
        "done": ngettext("{count} done", "{count} done", count),
        "running": ngettext("{count} running", "{count} running", count),
        "queued": ngettext("{count} queued", "{count} queued", count),
        "paused": ngettext("{count} paused", "{count} paused", count),
        "failed": ngettext("{count} failed", "{count} failed", count),
        MISSING: ngettext("{count} missing", "{count} missing", count),
        ABSENT: ngettext("{count} not installed", "{count} not installed", count),
    }
    return words[state]


def outdated(cells: Sequence[Cell]) -> list[str]:
    """A sentence for each reason why runs that were trained count as missing."""
    counts = Counter(cell.outdated_by for cell in cells if cell.outdated_by)
    return [
        ngettext(
            "{count} of them was trained before the code of {plugins} changed.",
            "{count} of them were trained before the code of {plugins} changed.",
            count,
            plugins=reduce(
                lambda some, more: gettext("{some} and {more}", some=some, more=more), plugins
            ),
        )
        for plugins, count in counts.items()
    ]


def _places(view: Experiment) -> list[Place]:
    return [(scoring, seed) for scoring in view.scorings for seed in range(view.seeds)]


def _fit(cell: Cell, request: Request, jobs: Jobs) -> Cell:
    if jobs.holds(request):
        return replace(cell, state=MISSING)
    event = jobs.final(request)
    if event is None:
        events = jobs.progress(request)
        begun = any(one.stage != "queued" for one in events)
        note = events[-1].note if events else ""
        return replace(cell, state="running" if begun else "queued", note=note)
    if event.result is None:
        return replace(cell, state="failed", note=event.note or STOPPED, facts=event.facts)
    facts = event.result.facts
    figures = {"seconds": facts.get("work_seconds"), **facts["metrics"]}
    estimated = facts.get("leave_one_out")
    if estimated and estimated["rows"] != estimated["points"]:
        figures |= {
            SAMPLE_ROWS: estimated["rows"], _POINTS: estimated["points"],
            SAMPLE_ERROR: estimated["standard_errors"]["leave_one_out_mse"],
        }  # fmt: skip
    return replace(
        cell, state="done", figures=figures, weights=facts.get("parameters"), result=event.result
    )


def sampled(cells: Sequence[Cell]) -> str:
    """That errors of some fits are estimated on a sample of rows; empty where none is."""
    found = [cell.figures for cell in cells if SAMPLE_ROWS in cell.figures]
    if not found:
        return ""
    return gettext(
        "Leave-one-out errors are estimated on a random sample of the {points:,} rows, of "
        "{rows:,} at least. Each seed draws its own, so that the spread is also that of the "
        "sample.",
        points=max(one[_POINTS] for one in found), rows=min(one[SAMPLE_ROWS] for one in found),
    )  # fmt: skip


def _changed(training: Training, catalogue: Catalogue) -> list[str]:
    """The titles of what has other code than the training was made with."""
    made_with = training.facts.get("code", ())
    entries = [(code, catalogue.entry(kind, name)) for kind, name, code in made_with]
    return [
        entry.short_title
        for code, entry in entries
        if isinstance(entry, Entry) and entry.code != code
    ]


def _training(cell: Cell, training: Training, changed: Sequence[str]) -> Cell:
    if changed:
        return Cell(scoring=cell.scoring, seed=cell.seed, state=MISSING, outdated_by=(*changed,))
    state = _OF_TRAINING.get(training.state, training.state)
    figures: dict[str, Any] = {}
    if state == "done" and training.epochs:
        last = training.epochs[-1]
        figures = {
            "loss": last.loss, "bleu": last.bleu, SCORE: training.held_out(last),
            **{name: part["score"] for name, part in last.parts.items()}, **training.facts,
        }  # fmt: skip
    return Cell(
        scoring=cell.scoring, seed=cell.seed, state=state, note=training.note, figures=figures,
        weights=training.facts.get("parameters"), facts=training.facts, training=training,
    )  # fmt: skip
