"""The page *Experiment* as a link.

``?scorings=gaussian,laplacian&seeds=8&data=step&gaussian.width=0.5`` fits curves;
``?task=translation&model=transformer&scorings=scaled_dot,additive&seeds=3&epochs=4`` names six
trainings, everything but ``task``, ``seeds``, ``figure`` and ``maps`` as in a link to the page
*Train*. A link never starts a training.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.runs.experiment_figures import FIGURES
from dashboard.runs.experiment_view import (
    LEARN,
    MAPS,
    REGRESSION,
    TASKS,
    TRANSLATION,
    Experiment,
    as_train,
    default_experiment,
    fitted,
    of_train,
    seeds_knob,
)
from dashboard.runs.link_parts import (
    AUTO,
    MOST_SCORINGS,
    NOBODY,
    read_data,
    read_device,
    read_knobs,
    read_scorings,
    write_knobs,
)
from dashboard.runs.offers import Catalogue, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.regression_link import data_knobs, fitting_knobs
from dashboard.runs.train_link import format_train, parse_train
from dashboard.runs.train_view import scoring_knobs

_TASK, _FIGURE = "task", "figure"
_NOT_HERE = ("seed", "show", "epoch")  # of the page Train alone
_OWN = frozenset(
    {_TASK, _FIGURE, "seed", "seeds", "maps", "scorings", "data", LEARN.name, "device"}
)
_PREFIXES = ("data.", f"{LEARN.name}.")


def parse_experiment(query: Query, catalogue: Catalogue) -> tuple[Experiment, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    task = _one_of(reader, _TASK, TASKS)
    seeds = reader.knob(seeds_knob(task), "seeds")
    figure = _one_of(reader, _FIGURE, [figure.name for figure in FIGURES[task]])
    maps = reader.knob(MAPS, MAPS.name)
    if task == TRANSLATION:
        view, problems = _read_trainings(reader, catalogue, seeds)
    else:
        view = _read_fits(reader, catalogue, seeds)
        problems = reader.finish()
    return replace(view, figure=figure, maps=maps), problems


def format_experiment(view: Experiment, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link: dict[str, str] = {}
    if view.task != REGRESSION:
        link[_TASK] = view.task
    if view.task == TRANSLATION:
        link |= format_train(as_train(view), catalogue)
    else:
        _write_fits(link, view, catalogue)
    write_knobs(link, str, (seeds_knob(view.task),), (("seeds", view.seeds),))
    if view.figure not in ("", FIGURES[view.task][0].name):
        link[_FIGURE] = view.figure
    write_knobs(link, str, (MAPS,), ((MAPS.name, view.maps),))
    return link


def _read_trainings(
    reader: Reader, catalogue: Catalogue, seeds: int
) -> tuple[Experiment, list[str]]:
    strangers = {name: reader.take(name) for name in _NOT_HERE if reader.has(name)}
    train, problems = parse_train(reader.below(""), catalogue)
    problems = [*reader.finish(), *problems]
    problems += [f"unknown parameter {shown(name)}: ignored" for name in strangers]
    return of_train(train, seeds), problems


def _read_fits(reader: Reader, catalogue: Catalogue, seeds: int) -> Experiment:
    usual = default_experiment(catalogue, REGRESSION)
    data = read_data(reader, catalogue, REGRESSION, usual.data)
    view = replace(
        usual,
        scorings=read_scorings(reader, usual.scorings, MOST_SCORINGS),
        seeds=seeds,
        data=data,
        settings=read_knobs(reader, _data_key, data_knobs(catalogue, data)),
        learn=bool(reader.knob(LEARN, LEARN.name)),
        device=read_device(reader, catalogue),
    )
    how = fitting_knobs(catalogue) if view.learn else ()
    view = replace(
        view,
        parameters=read_knobs(reader, _scoring_key, scoring_knobs(as_train(view), catalogue)),
        fitting=read_knobs(reader, _fitting_key, how),
    )
    return fitted(view, catalogue, dict(view.settings))


def _write_fits(link: dict[str, str], view: Experiment, catalogue: Catalogue) -> None:
    usual = default_experiment(catalogue, REGRESSION)
    if view.scorings != usual.scorings:
        link["scorings"] = ",".join(view.scorings) or NOBODY
    if view.data != usual.data:
        link["data"] = view.data
    write_knobs(link, _data_key, data_knobs(catalogue, view.data), view.settings)
    write_knobs(link, _scoring_key, scoring_knobs(as_train(view), catalogue), view.parameters)
    if view.learn:
        link[LEARN.name] = LEARN.write(True)
        write_knobs(link, _fitting_key, fitting_knobs(catalogue), view.fitting)
    if view.device != AUTO:
        link["device"] = view.device


def _data_key(name: str) -> str:
    """A plugin may give its data a parameter that has the name of one of ours."""
    return f"data.{name}" if name in _OWN or "." in name else name


def _scoring_key(name: str) -> str:
    """A plugin may call its scoring ``data``."""
    return f"scoring.{name}" if name.startswith(_PREFIXES) else name


def _fitting_key(name: str) -> str:
    return f"{LEARN.name}.{name}"


def _one_of(reader: Reader, key: str, offered: list[str] | tuple[str, ...]) -> str:
    """The first one where the link names none, or none of them."""
    given = reader.take(key)
    if given is None or given in offered:
        return given or offered[0]
    reader.problem(
        f"{key}={shown(given)}: need one of {', '.join(offered)}, so {offered[0]} is used"
    )
    return offered[0]
