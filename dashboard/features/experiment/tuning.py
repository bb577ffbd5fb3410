"""Tuning as a view asks for it: which scorings, on what seeds, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from dashboard.features.experiment.view import (
    TRANSLATION,
    TUNING_SEEDS,
    Experiment,
    enough_seeds,
    requests,
    tunes,
)
from dashboard.language import gettext, gettext_noop, listed, ngettext, together
from dashboard.links.fits import LEARN
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import pairs
from dashboard.records.request import Pairs, Request, is_upload
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import scoring_title

STOPPED = gettext_noop("The job was stopped before it was done.")
_TASK = "experiment"
_TITLES = {"lr": gettext_noop("learning rate")}
_MARKS = {"lowest": " ↓", "highest": " ↑"}
_COMBINATIONS, _RATES = 8, 3  # of a scoring with one parameter, and of one that learns


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """How the tuning of a view stands, by scoring; of one that is still tuned there is nothing.

    Args:
        requests: what a worker must tune.
        values: those chosen.
        combinations: how many were tried.
        edges: at which end of its grid a value lies, by name; see :func:`.task.tune`.
        failed: why it could not be tuned.
    """

    requests: Mapping[str, Request]
    values: dict[str, Pairs] = field(default_factory=dict)
    combinations: dict[str, int] = field(default_factory=dict)
    edges: dict[str, Mapping[str, str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def tuning_requests(view: Experiment, catalogue: Catalogue) -> dict[str, Request]:
    """By scoring, what a worker must tune; empty where the view does not tune."""
    if not tunes(view):
        return {}
    return {
        scoring: replace(request, task=_TASK, seed=0)
        for (scoring, seed), request in requests(view, catalogue).items()
        if seed == 0
    }


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
    return len(TUNING_SEEDS) * (_RATES if learns else _COMBINATIONS)


def cost(view: Experiment, tuning: Tuned | None, catalogue: Catalogue) -> str:
    """How many seeds the question takes, and how many runs these are."""
    names = [name for name in view.scorings if name in catalogue.scorings]
    if len(names) < 2:
        return ""
    words = ngettext(
        "{needed} seeds are the fewest with which {count} comparison can be told from chance at "
        "5 % after Holm's correction; {seeds} seeds cost {runs} runs.",
        "{needed} seeds are the fewest with which {count} comparisons can be told from chance at "
        "5 % after Holm's correction; {seeds} seeds cost {runs} runs.",
        len(names) - 1, needed=enough_seeds(len(names)), seeds=view.seeds,
        runs=view.seeds * len(names),
    )  # fmt: skip
    if tuning is None or tuning.requests.keys() != tuning.combinations.keys():
        return words
    fits = len(TUNING_SEEDS) * sum(tuning.combinations.values())
    return together([words, gettext("Tuning took {fits} fits more.", fits=fits)])


def set_by(view: Experiment, tuning: Tuned | None, catalogue: Catalogue) -> str:
    """How the scorings got their values: tuned, and to which ones, or by hand."""
    if view.task == TRANSLATION:
        return gettext(
            "No scoring is tuned here: all train with the learning rate and the parameters that "
            "are set above, and one that wants others is at a disadvantage."
        )
    if tuning is None and is_upload(view.data):
        return gettext(
            "No scoring is tuned here: a file has no other points to tune on. All have the "
            "parameters that are set above."
        )
    if tuning is None:
        return gettext("No scoring is tuned: all have the parameters that are set above.")
    words = gettext(
        "Every scoring is tuned on {seeds} problems of other seeds than those in the table, by "
        "the leave-one-out error, over a grid of up to {most:,} combinations.",
        seeds=len(TUNING_SEEDS), most=max(tuning.combinations.values(), default=0),
    )  # fmt: skip
    if not (chosen := _chosen(view, tuning, catalogue)):
        return words
    words = together([words, gettext("Chosen: {values}.", values=chosen)])
    if not any(tuning.edges.get(name) for name in view.scorings):
        return words
    edge = gettext("↑ is the highest value of a grid, ↓ the lowest: a better one may lie beyond.")
    return together([words, edge])


def _chosen(view: Experiment, tuning: Tuned, catalogue: Catalogue) -> str:
    """The values of each scoring that has any."""
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
    if not found:
        return ""
    return reduce(lambda some, more: gettext("{some}; {more}", some=some, more=more), found)


def _named(parameter: str, scoring: str, catalogue: Catalogue) -> str:
    """A parameter within a sentence."""
    if parameter in _TITLES:
        return gettext(_TITLES[parameter])
    entry = catalogue.scorings.get(scoring)
    titles = {one.name: one.title for one in entry.parameters} if entry else {}
    title = titles.get(parameter, parameter)
    return title[:1].lower() + title[1:]
