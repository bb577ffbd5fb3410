"""What the page *Experiment* shows: one model, one data set, scorings times seeds; its requests.

A view names its runs and nothing else does: equal views give equal requests, which are looked up
among what is there. A training that the page *Train* began is found by the same request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.runs.link_parts import AUTO, defaults, not_installed, pairs
from dashboard.runs.offers import Catalogue, Knob
from dashboard.runs.regression_link import (
    DATA,
    Regression,
    data_knobs,
    fitting_knobs,
    regression_panel,
    regression_request,
)
from dashboard.runs.regression_link import MODEL as REGRESSION_MODEL
from dashboard.runs.request import Pairs, Request, Scalar
from dashboard.runs.train_view import (
    Train,
    default_train,
    refitted,
    scoring_knobs,
    train_requests,
)

REGRESSION, TRANSLATION = "regression", "translation"
TASKS = (REGRESSION, TRANSLATION)
MOST_SEEDS = 10
LEARN = Knob(
    name="learn",
    title="Learn from the data",
    default=False,
    help="By gradient descent, predicting every training point from all others. "
    "A scoring without weights stays as it is.",
)
MAPS = Knob(name="maps", title="Maps of seed", default=0, low=0, high=MOST_SEEDS - 1, step=1)

_USUAL_SCORINGS = ("uniform", "gaussian", "laplacian", "scaled_dot")
_USUAL_SEEDS = {REGRESSION: 5, TRANSLATION: 3}

Place = tuple[str, int]  # of a run in the experiment: its scoring and its seed


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The page *Experiment*.

    Args:
        task: ``"regression"`` or ``"translation"``.
        scorings: the rows, installed here or not.
        seeds: every scoring runs with each of the seeds 0 to ``seeds`` - 1.
        model, data, start: what is trained or fitted, on what; the preset it started from.
        settings: of the problem (regression), or every option of a training but its probe.
        parameters: the scorings', named ``gaussian.width``.
        probe: the sentence whose maps are compared (translation).
        learn, fitting: whether and how the scorings' weights are learned (regression).
        figure: the one in the chart; empty for the first.
        maps: the seed whose maps are shown.
    """

    task: str = REGRESSION
    scorings: tuple[str, ...]
    seeds: int = _USUAL_SEEDS[REGRESSION]
    model: str = REGRESSION_MODEL
    data: str = DATA
    start: str = ""
    settings: Pairs = ()
    parameters: Pairs = ()
    probe: str = ""
    learn: bool = False
    fitting: Pairs = ()
    device: str = AUTO
    figure: str = ""
    maps: int = 0


def seeds_knob(task: str) -> Knob:
    """How many seeds; trainings take longer, so there are fewer of them unless asked for."""
    return Knob(
        name="seeds",
        title="Seeds",
        default=_USUAL_SEEDS[task],
        low=1,
        high=MOST_SEEDS,
        step=1,
        help="Every scoring runs once with each of the seeds 0, 1, 2 …; "
        "the spread in the table is over these.",
    )


def default_experiment(catalogue: Catalogue, task: str) -> Experiment:
    """What the page shows of a task before anything is chosen."""
    if task == TRANSLATION:
        return of_train(default_train(catalogue), _USUAL_SEEDS[task])
    usual = tuple(name for name in _USUAL_SCORINGS if name in catalogue.scorings)
    view = Experiment(scorings=usual or tuple(catalogue.scorings)[:1])
    return fitted(view, catalogue, {})


def fitted(view: Experiment, catalogue: Catalogue, kept: Mapping[str, Scalar]) -> Experiment:
    """The view with a value for every knob that it has now: those ``kept``, else the usual."""
    if view.task == TRANSLATION:
        train = refitted(as_train(view), catalogue, kept)
        return replace(
            view, settings=train.settings, parameters=train.parameters, probe=train.probe
        )
    specs = data_knobs(catalogue, view.data)
    chosen = dict(view.parameters)
    own = defaults(scoring_knobs(as_train(view), catalogue))
    return replace(
        view,
        settings=pairs({knob.name: kept.get(knob.name, knob.default) for knob in specs}),
        parameters=pairs({name: chosen.get(name, value) for name, value in own}),
        fitting=(view.fitting or defaults(fitting_knobs(catalogue))) if view.learn else (),
    )


def as_train(view: Experiment) -> Train:
    """The same scorings as the page *Train* would train them, with the seed 0."""
    return Train(
        model=view.model,
        scorings=view.scorings,
        data=view.data,
        start=view.start,
        settings=view.settings,
        parameters=view.parameters,
        probe=view.probe,
        device=view.device,
    )


def of_train(train: Train, seeds: int) -> Experiment:
    """The experiment that trains these scorings with each of the seeds."""
    return Experiment(
        task=TRANSLATION,
        scorings=train.scorings,
        seeds=seeds,
        model=train.model,
        data=train.data,
        start=train.start,
        settings=train.settings,
        parameters=train.parameters,
        probe=train.probe,
        device=train.device,
    )


def obstacle(view: Experiment, catalogue: Catalogue) -> str:
    """What keeps the whole experiment from being made, in a sentence; empty if nothing does."""
    if view.model not in catalogue.of_task("models", view.task):
        return not_installed("Model", view.model)
    return "" if view.scorings else "Choose at least one scoring."


def experiment_requests(view: Experiment, catalogue: Catalogue) -> dict[Place, Request]:
    """What a worker must make, by scoring and seed: all scorings with the first seed first.

    A scoring that is not installed here has no request.
    """
    if obstacle(view, catalogue):
        return {}
    known = tuple(name for name in view.scorings if name in catalogue.scorings)
    found: dict[Place, Request] = {}
    for seed in range(view.seeds):
        if view.task == TRANSLATION:
            train = replace(as_train(view), scorings=known, seed=seed)
            made = train_requests(train)
        else:
            made = tuple(_fit(view, catalogue, name, seed) for name in known)
        found |= {(name, seed): one for name, one in zip(known, made, strict=True)}
    return found


def _fit(view: Experiment, catalogue: Catalogue, scoring: str, seed: int) -> Request:
    learn = view.learn and catalogue.scorings[scoring].learns
    panel = regression_panel(catalogue, scoring, model=view.model, learn=learn)
    own = {
        name.removeprefix(f"{scoring}."): value
        for name, value in view.parameters
        if name.startswith(f"{scoring}.")
    }
    panel = replace(
        panel,
        parameters=pairs(dict(panel.parameters) | own),
        fitting=view.fitting if learn else (),
    )
    problem = Regression(
        panels=(panel,), data=view.data, settings=view.settings, seed=seed, device=view.device
    )
    return regression_request(problem, panel)
