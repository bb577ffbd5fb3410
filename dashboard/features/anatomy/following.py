"""What follows the sliders while they move: matrices, lineage, sentences of a step; plots."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from dashboard.charts.template import Draw, Prepared
from dashboard.charts.walk import fits, prepare_walk
from dashboard.features.anatomy import moves, step
from dashboard.features.anatomy import view as anatomy
from dashboard.features.anatomy.chart import prepare_matrix, stages
from dashboard.features.anatomy.step import COUNTED, WORDS, Walk
from dashboard.features.anatomy.view import LANDSCAPE, ROOT, STEP, Anatomy
from dashboard.links.attending import brings_own, parameters_of
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import Request, Result, Scalar
from dashboard.records.sweep import MOST
from dashboard.ui import charts, layout, live, results
from dashboard.ui.live import Followers, Found, Slider
from dashboard.ui.session import Session

Made = TypeVar("Made")
_HEIGHT, _PLOT_HEIGHT = 420, 330  # px, of the place while it waits
_MEASURED = 15  # positions of a slider of the root: each measures some million scores
_DRAWN = (
    "x", "q", "k", "v", "linear_q", "split_q", "split_k", "split_v", "model_q", "model_k",
    "model_v", "projected_q", "projected_k", "scores", COUNTED, "weights", "dropped", "pooled",
    "merged", "mixed", "encoded",
)  # fmt: skip


class _Moved(NamedTuple):
    slider: Slider
    view: Callable[[Scalar], Anatomy]  # at a position


def draw(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """The step, whose sliders are followed."""
    (request,), view, catalogue = asked, session.view, session.catalogue
    moved = [*_moved(session)]
    sliders = [each.slider for each in moved]
    results.results(
        session.jobs, request,
        lambda result: step.draw_stages(walked(view, catalogue, result, sliders)), _HEIGHT,
        "anatomy-step", grows=True,
    )  # fmt: skip
    if (final := session.jobs.final(request)) and final.result:
        walk = walked(view, catalogue, final.result)
        live.follow(session, (followers(walk, catalogue, each) for each in moved))


class Plot(NamedTuple):
    """A chart of the root or of the landscape; ``title`` is what stays of ``alt``."""

    draw: Draw
    prepare: Callable[[], Prepared]
    alt: str
    title: str


Plots = Mapping[str, Callable[[Anatomy, Result], Plot]]  # by name, of a view and its result


def draw_plots(session: Session[Anatomy], request: Request, plots: Plots) -> None:
    """Charts whose sliders are followed."""
    moved, view = [*_moved(session)], session.view
    sliders = live.standing([each.slider for each in moved])

    def draw(result: Result) -> None:
        with layout.grid(len(plots)):
            for name, make in plots.items():
                plot = make(view, result)
                charts.show_filled(
                    f"{request.key} {result.digest} {name}", plot.draw, plot.prepare, plot.alt,
                    title=plot.title, follows=(name, sliders),
                )  # fmt: skip

    results.results(session.jobs, request, draw, _PLOT_HEIGHT, f"anatomy-{view.part}", grows=True)
    if (final := session.jobs.final(request)) and final.result:
        live.follow(session, (plotted(plots, each) for each in moved))


def plotted(plots: Plots, moved: _Moved) -> Followers:
    """What a slider moves of these charts."""
    return Followers(moved.slider, {
        name: lambda at, found, make=make: make(moved.view(at), found[STEP]).prepare()
        for name, make in plots.items()
    })  # fmt: skip


def walked(
    view: Anatomy, catalogue: Catalogue, result: Result, sliders: Sequence[Slider] = ()
) -> Walk:
    """A step as its stages are drawn."""
    return Walk(
        result=result, view=view, scoring=catalogue.scorings[view.scoring],
        normaliser=catalogue.normalisers.get(view.normaliser),
        tensors=stages(result.tables["stages"]), sliders=sliders,
    )  # fmt: skip


def _moved(session: Session[Anatomy]) -> Iterator[_Moved]:
    view, catalogue = session.view, session.catalogue
    most = _MEASURED if view.part == ROOT else MOST

    def of(key: str, spec: Parameter, at: Scalar, moved: Callable[[Scalar], Anatomy]) -> _Moved:
        asked = lambda value: {STEP: anatomy.requests(moved(value), catalogue)[0]}  # noqa: E731
        return _Moved(Slider(key, spec, float(at), asked, most), moved)

    own = catalogue.scorings[view.scoring].parameters
    given = {
        "parameters": (session.key(anatomy.PARAMETERS.owner(view)), own),
        "normaliser_parameters": (
            f"{session.key('normaliser')}-{view.normaliser}",
            () if view.part == ROOT or brings_own(view, catalogue)
            else parameters_of(catalogue, view.normaliser),
        ),
    }  # fmt: skip
    for part, (key, specs) in given.items():
        held = dict(getattr(view, part))
        for spec in specs:
            if type(spec.default) in (int, float) and spec.name in held:
                moved = partial(_with, view, part, spec.name)
                yield of(f"{key}-{spec.name}", spec, held[spec.name], moved)
    others = {ROOT: [anatomy.COUNT], LANDSCAPE: [anatomy.AT_X, anatomy.AT_Y]}
    for spec in others.get(view.part, [anatomy.DROPOUT, *anatomy.looked_at(view)]):
        at = getattr(view, spec.name)
        yield of(session.key(spec.name), spec, at,
                 lambda value, spec=spec: replace(view, **{spec.name: value}))  # fmt: skip


def _with(view: Anatomy, part: str, name: str, value: Scalar) -> Anatomy:
    return replace(view, **{part: pairs({**dict(getattr(view, part)), name: value})})


def followers(walk: Walk, catalogue: Catalogue, moved: _Moved) -> Followers:
    """What a slider moves of the charts and sentences that this step has."""

    def at(make: Callable[[Walk], Made]) -> Callable[[Scalar, Found], Made]:
        return lambda value, found: make(walked(moved.view(value), catalogue, found[STEP]))

    drawn: dict[str, Callable[[Walk], Prepared]] = {
        name: lambda one, name=name: prepare_matrix(step.drawn(one, name))
        for name in _DRAWN
        if name == COUNTED or (name in walk.tensors and (name != "dropped" or walk.view.dropout))
    }  # fmt: skip
    said = dict(WORDS)
    if "features" in walk.tensors:
        drawn["traced"] = lambda one: prepare_matrix(moves.traced(one.view, one.tensors))
        said["traced"] = lambda one: moves.traced_words(one.view, one.tensors)
    if fits(step.lineage(walk)[0]):
        drawn["lineage"] = lambda one: prepare_walk(*step.lineage(one))
    view = walk.view
    more = f"{view.row} {view.head} {view.query} {view.key} {view.column} {view.dropout}"
    return Followers(
        moved.slider, {name: at(make) for name, make in drawn.items()},
        {name: at(make) for name, make in said.items()}, more,
    )  # fmt: skip
