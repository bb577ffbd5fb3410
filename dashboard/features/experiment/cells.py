"""The runs of an experiment as they stand: each found by its request, whoever asked for it.

And the tuning before them: of which scorings, on what seeds, and what was chosen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from dashboard.features.experiment import view as experiments
from dashboard.features.experiment.view import Experiment, Place, enough_seeds, requests
from dashboard.language import gettext, gettext_noop, listed, ngettext, together
from dashboard.links.fits import LEARN
from dashboard.links.recipes import SCORE
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Entry
from dashboard.records.parameter import pairs
from dashboard.records.request import Pairs, Request, Result, is_upload
from dashboard.records.training import Training
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import scoring_title

_SAID = beside(__file__, "words.toml")["cells"]
_COUNTED = beside(__file__, "words.toml")["counted"]
MISSING, ABSENT = "missing", gettext_noop("not installed")
AT_WORK = ("running", "queued")
# In the order in which a summary counts them. Of equal trainings the first in it stands for all.
STATES = ("done", "running", "queued", "paused", "failed", MISSING, ABSENT)
# Of a figure that is estimated: on how many rows, its standard error, of how many rows.
SAMPLE_ROWS, SAMPLE_ERROR = "leave_one_out_rows", "leave_one_out_standard_error"
_POINTS = "leave_one_out_points"
_OF_TRAINING = {"pausing": "running", "cancelled": MISSING}


@dataclass(frozen=True)
class Cell:
    """One run: a scoring with a seed."""

    scoring: str
    seed: int
    state: str  # one of STATES
    note: str = ""  # how far it is, or why it failed
    figures: Mapping[str, Any] = field(default_factory=dict)  # by metric, once it is done
    weights: int | None = None  # of the model
    facts: Mapping[str, Any] = field(default_factory=dict)  # of a failure: culprit, traceback
    outdated_by: tuple[str, ...] = ()  # plugins whose code changed since: it counts as missing
    training: Training | None = None
    result: Result | None = None


def fits(
    view: Experiment, requests: Mapping[Place, Request], jobs: Jobs, tuning: "Tuned | None" = None
) -> list[Cell]:
    """The runs of kernel regression, from what was computed and tuned so far."""

    def fit(scoring: str, seed: int) -> Cell:
        cell = Cell(scoring=scoring, seed=seed, state=ABSENT)
        if request := requests.get((scoring, seed)):
            return _fit(cell, request, jobs)
        if not tuning or not (request := tuning.requests.get(scoring)):
            return cell
        if note := tuning.failed.get(scoring):
            return replace(cell, state="failed", note=note)
        if jobs.holds(request):
            return replace(cell, state=MISSING)
        return replace(cell, state="queued", note=gettext_noop("Tuning."))

    return [fit(*place) for place in _places(view)]


def trainings(
    view: Experiment, requests: Mapping[Place, Request], known: Iterable[Training],
    catalogue: Catalogue,
) -> list[Cell]:  # fmt: skip
    """The trainings of an experiment, from those that exist, newest first.

    One that was made with other code than is installed now counts as missing. Of several with one
    request the one that is furthest counts.
    """
    found = {
        place: Cell(*place, state=MISSING if place in requests else ABSENT)
        for place in _places(view)
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
    return ngettext(**_COUNTED[state], count=count)


def outdated(cells: Sequence[Cell]) -> list[str]:
    """A sentence for each reason why runs that were trained count as missing."""
    counts = Counter(cell.outdated_by for cell in cells if cell.outdated_by)
    return [ngettext(**_SAID["outdated"], count=count, plugins=reduce(_and, plugins))
            for plugins, count in counts.items()]  # fmt: skip


def _and(some: str, more: str) -> str:
    return gettext("{some} and {more}", some=some, more=more)


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
        _SAID["sampled"],
        points=max(one[_POINTS] for one in found), rows=min(one[SAMPLE_ROWS] for one in found),
    )  # fmt: skip


def same_data(view: Experiment, cells: Sequence[Cell]) -> bool:
    """Whether all seeds have one and the same data, as those of a file."""
    if view.task != experiments.TRANSLATION and is_upload(view.data):
        return True
    data = {cell.seed: cell.result.facts.get("data_sha256") for cell in cells if cell.result}
    return len(data) > 1 and None not in data.values() and len({*data.values()}) == 1


def _changed(training: Training, catalogue: Catalogue) -> list[str]:
    made_with = training.facts.get("code", ())
    entries = [(code, catalogue.entry(kind, name)) for kind, name, code in made_with]
    return [it.short_title for code, it in entries if isinstance(it, Entry) and it.code != code]


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


STOPPED = gettext_noop("The job was stopped before it was done.")
_TASK = "experiment"
_TITLES = {"lr": gettext_noop("learning rate")}
_MARKS = {"lowest": " ↓", "highest": " ↑"}
_COMBINATIONS, _RATES = 8, 3  # of a scoring with one parameter, and of one that learns


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """How the tuning of a view stands, by scoring; of one that is still tuned there is nothing.

    ``combinations``: how many were tried. ``edges``: see :func:`.task.tune`.
    """

    requests: Mapping[str, Request]
    values: dict[str, Pairs] = field(default_factory=dict)
    combinations: dict[str, int] = field(default_factory=dict)
    edges: dict[str, Mapping[str, str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def tuning_requests(view: Experiment, catalogue: Catalogue) -> dict[str, Request]:
    """By scoring, what a worker must tune; empty where the view does not tune."""
    if not experiments.tunes(view):
        return {}
    asked = requests(view, catalogue)
    return {scoring: replace(request, task=_TASK, seed=0)
            for (scoring, seed), request in asked.items() if seed == 0}  # fmt: skip


def tuned(view: Experiment, catalogue: Catalogue, jobs: Jobs) -> Tuned:
    """What the workers have chosen so far."""
    found = Tuned(requests=tuning_requests(view, catalogue))
    for scoring, request in found.requests.items():
        event = None if jobs.holds(request) else jobs.final(request)
        if event and event.result:
            facts = event.result.facts
            found.values[scoring] = pairs(facts["chosen"])
            found.combinations[scoring] = int(facts["combinations"])
            found.edges[scoring] = facts.get("edges", {})
        elif event:
            found.failed[scoring] = event.note or STOPPED
    return found


def tuning_fits(request: Request) -> int:
    """How many fits a tuning makes, as far as its request says."""
    learns = dict(request.options).get(LEARN)
    return len(experiments.TUNING_SEEDS) * (_RATES if learns else _COMBINATIONS)


def cost(view: Experiment, tuning: Tuned | None, catalogue: Catalogue) -> str:
    """How many seeds the question takes, and how many runs these are."""
    names = [name for name in view.scorings if name in catalogue.scorings]
    if len(names) < 2 or (is_upload(view.data) and view.seeds == 1):
        return ""
    words = ngettext(
        **_SAID["fewest"], count=len(names) - 1, needed=enough_seeds(len(names)), seeds=view.seeds,
        runs=view.seeds * len(names),
    )  # fmt: skip
    if tuning is None or tuning.requests.keys() != tuning.combinations.keys():
        return words
    fits = len(experiments.TUNING_SEEDS) * sum(tuning.combinations.values())
    return together([words, gettext("Tuning took {fits} fits more.", fits=fits)])


def set_by(view: Experiment, tuning: Tuned | None, catalogue: Catalogue) -> str:
    """How the scorings got their values: tuned, and to which ones, or by hand."""
    if view.task == experiments.TRANSLATION:
        return gettext(_SAID["as_set"])
    if tuning is None:
        if not is_upload(view.data):
            return gettext("No scoring is tuned: all have the parameters that are set above.")
        return gettext(_SAID["of_file"])
    most = max(tuning.combinations.values(), default=0)
    words = gettext(_SAID["tuned"], seeds=len(experiments.TUNING_SEEDS), most=most)
    if not (chosen := _chosen(view, tuning, catalogue)):
        return words
    words = together([words, gettext("Chosen: {values}.", values=chosen)])
    if not any(tuning.edges.get(name) for name in view.scorings):
        return words
    edge = gettext("↑ is the highest value of a grid, ↓ the lowest: a better one may lie beyond.")
    return together([words, edge])


def _chosen(view: Experiment, tuning: Tuned, catalogue: Catalogue) -> str:
    found = [
        gettext(
            "{scoring}: {values}", scoring=scoring_title(name, catalogue),
            values=listed(
                f"{_named(parameter, name, catalogue)} {value:.3g}"
                f"{_MARKS.get(tuning.edges.get(name, {}).get(parameter, ''), '')}"
                for parameter, value in values
            ),
        )
        for name in view.scorings
        if (values := tuning.values.get(name))
    ]  # fmt: skip
    return listed(found, clauses=True)


def _named(parameter: str, scoring: str, catalogue: Catalogue) -> str:
    if parameter in _TITLES:
        return gettext(_TITLES[parameter])
    entry = catalogue.scorings.get(scoring)
    titles = {one.name: one.title for one in entry.parameters} if entry else {}
    title = titles.get(parameter, parameter)
    return title[:1].lower() + title[1:]
