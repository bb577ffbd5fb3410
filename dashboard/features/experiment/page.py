"""Experiment: one model, one data set, and only the scoring is another one.

The link names every run. What is computed in a moment is computed at once; trainings are looked
up among those that exist, whoever began them, and only a button starts those that are missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import streamlit as st

from dashboard.charts import MapFrame, label_room, maps, top_weight
from dashboard.charts.frames import any_signed
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.regression import draw_regression
from dashboard.charts.run_charts import prepare_curve
from dashboard.features.experiment import cells as run_cells
from dashboard.features.experiment import seeds, table
from dashboard.features.experiment import view as experiments
from dashboard.features.experiment.cells import AT_WORK, Cell, Tuned, fits, trainings, tuned
from dashboard.features.experiment.setup import buttons, refusal, setup, use_table
from dashboard.features.experiment.view import TRANSLATION, Experiment, Place, requests
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, ngettext, together, translated
from dashboard.links import fits as fits_link
from dashboard.links.attending import short_name
from dashboard.links.recipes import formulas, in_charts
from dashboard.records.attending import SOFTMAX
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import charts, layout, navigation, owner, results, shown, table_columns, upload
from dashboard.ui.maps import frames
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, place, plain
from dashboard.ui.workbench import workbench

_HEIGHT = 420  # px, of the page in waiting
_POLL = 1.0  # seconds between two looks at trainings
_LAST = "experiment summary"
_FAIR = beside(__file__, "words.toml")["fair"]
_SAID = beside(__file__, "words.toml")["page"]
_SIDE, _LARGEST_CELL = 260, 34  # px
_NAME, _WORDS, _BELOW = 44, 76, 20  # px, above a map its scoring and its translation, and below
_CURVE_AND_MAP = 430  # px, of a regression's chart
_ABSENT = beside(__file__, "words.toml")["absent"]


class Drawn(NamedTuple):
    """A map, what it is, and the digest of the result that it is from."""

    frame: MapFrame
    words: str
    digest: str


def _maps(session: Session[Experiment], cells: Sequence[Cell]) -> None:
    """One map per scoring, side by side."""
    view, seed = session.view, shown_seed(session.view)
    words, scale = shown.columns([5, 1], vertical_alignment="bottom", gap="medium")
    with words:
        _seeds(session, seed)
    chosen = [cell for cell in cells if cell.seed == seed]
    drawn = {cell.scoring: _map_of(view, cell) for cell in chosen}
    found = [one.frame for one in drawn.values() if one]
    trained = view.task == TRANSLATION
    vmax = 1.0 if trained else top_weight([frame.weights for frame in found])
    with scale:
        charts.legend(vmax, signed=any_signed(found))
    rows = max((len(frame.query_labels) for frame in found), default=1)
    sizes = {
        "vmax": vmax,
        "signed": any_signed(found),
        # Cells of one size, and equal room for the labels of all maps; px.
        "cell": max(1, min(_LARGEST_CELL, _SIDE // rows)),
        "query_room": max((label_room(frame.query_labels) for frame in found), default=0),
        "key_room": max((label_room(frame.key_labels) for frame in found), default=0),
    }
    # With all that belongs to a map, so that nothing moves when it comes.
    below = _WORDS + sizes["key_room"] + _SIDE if trained else _CURVE_AND_MAP
    height: int | Literal["content"] = _NAME + below + _BELOW
    if not found and not any(cell.state in AT_WORK for cell in chosen):
        height = "content"  # nothing is on its way
    with layout.grid(len(chosen)):
        for cell in chosen:
            key = f"experiment-map-{short_name(cell.scoring)}"
            with shown.container(height=height, border=False, key=key):
                title = layout.scoring_title(cell.scoring, session.catalogue)
                shown.markdown(f"**{plain(title)}**")
                _panel(cell, title, drawn[cell.scoring], sizes)


def shown_seed(view: Experiment) -> int:
    """The seed whose maps are shown; the last one where the view asks for a later one."""
    return min(view.maps, view.seeds - 1)


def _seeds(session: Session[Experiment], seed: int) -> None:
    if session.view.seeds == 1:
        return
    key = "experiment-maps"
    st.segmented_control(
        gettext("Seed of the maps"), list(range(session.view.seeds)),
        key=place(key, seed, fresh=st.session_state.get(key) != seed),
        on_change=picked(key, lambda seed: session.change(maps=seed)), required=True,
    )  # fmt: skip


def _map_of(view: Experiment, cell: Cell) -> Drawn | None:
    if view.task == TRANSLATION:
        return _probe(cell)
    if cell.result and (found := frames(cell.result)):
        return Drawn(found[0], "", cell.result.digest)
    return None


def _probe(cell: Cell) -> Drawn | None:
    training = cell.training
    if training is None or not training.epochs:
        return None
    last = training.epochs[-1]
    try:
        probe = workbench().trainings.probe(training.id, last.epoch)
    except KeyError:
        return None
    cross = [frame for frame in maps(probe) if frame.kind == "cross"]
    if not cross:
        return None
    frame = max(cross, key=lambda frame: frame.layer)
    heads = len(frame.weights)
    told = gettext_noop("After epoch {epoch:,}: {words}")
    if heads > 1:
        told = gettext_noop("After epoch {epoch:,}, layer {layer}, mean of {heads} heads: {words}")
    words = gettext(
        told, epoch=last.epoch, words=last.probe or "—", layer=frame.layer + 1, heads=heads
    )
    return Drawn(frame, words, Result(tables={"maps": probe}).digest)


def _panel(cell: Cell, title: str, drawn: Drawn | None, sizes: Mapping[str, Any]) -> None:
    if drawn is None:
        if cell.state == "running":
            st.skeleton(_SIDE)
        else:
            absent = translated(_ABSENT.get(cell.state) or cell.note)
            shown.caption(plain(absent or gettext("No map is kept.")))
        return
    if cell.training is None:
        _curve(cell, title, drawn, sizes["vmax"], sizes["signed"])
        return
    if drawn.words:
        shown.caption(plain(drawn.words))

    frame = drawn.frame
    charts.show_filled(
        f"experiment {drawn.digest} {tuple(sizes.values())}", draw_heatmap,
        lambda: prepare_heatmap(
            frame.weights.mean(axis=0), frame.query_labels, frame.key_labels, **sizes
        ),
        gettext(_SAID["attention"], scoring=title, seed=cell.seed),
    )  # fmt: skip


def _curve(cell: Cell, title: str, drawn: Drawn, vmax: float, signed: bool) -> None:
    assert cell.result is not None
    charts.show_filled(
        f"experiment {drawn.digest} {vmax} {signed}", draw_regression,
        partial(prepare_curve, cell.result, vmax=vmax, signed=signed),
        gettext(_SAID["curve"], scoring=title, seed=cell.seed),
    )  # fmt: skip


class _State(NamedTuple):
    requests: Mapping[Place, Request]
    cells: list[Cell]
    tuning: Tuned | None
    pending: bool  # whether any of it is still on its way
    request: Request | None = None  # for the statistics of the runs that are done
    event: Event | None = None  # how that job ended
    result: Result | None = None  # the statistics, while the job has not ended those before


def _fits(view: Experiment, catalogue: Catalogue) -> Iterable[Request]:
    """What is computed at once; a training waits for the button."""
    if view.task == TRANSLATION:
        return ()
    if experiments.tunes(view):
        return run_cells.tuning_requests(view, catalogue).values()
    return requests(view, catalogue).values()


def _results(session: Session[Experiment], _: None) -> None:
    view = session.view
    if sentence := experiments.obstacle(view, session.catalogue):
        with shown.container(border=True, key="experiment-obstacle"):
            shown.text(sentence)
        return
    first = [_look(session)]
    polling = first[0].pending
    if polling:
        shown.incomplete()

    def below() -> None:
        state = first.pop() if first else _look(session)
        # A choice made below belongs into the link and the rest of the page.
        if session.fresh or state.pending != polling:
            st.rerun()
        _draw(session, state)

    poll = _POLL if view.task == TRANSLATION else results.POLL
    st.fragment(run_every=poll if polling else None)(below)()


def _look(session: Session[Experiment]) -> _State:
    view = session.view
    tuning = tuned(view, session.catalogue, session.jobs) if experiments.tunes(view) else None
    asked = requests(view, session.catalogue, tuning.values if tuning else None)
    wanted: list[Request] = []
    if view.task == TRANSLATION:
        cells = trainings(view, asked, owner.trainings().every(), session.catalogue)
    else:
        wanted = [*_fits(view, session.catalogue), *asked.values()]
        session.jobs.want(wanted)
        cells = fits(view, asked, session.jobs, tuning)
    busy = any(cell.state in AT_WORK for cell in cells)
    compared = experiments.metrics(view, session.catalogue), experiments.reference_of(view)
    request = table.summary_request(cells, *compared, run_cells.same_data(view, cells))
    if request is None:
        return _State(asked, cells, tuning, busy)
    session.jobs.want([*wanted, request])
    # Behind fits that still wait for a worker it would wait in vain.
    queued = busy and view.task != TRANSLATION
    event = session.jobs.final(request, 0.0 if queued else results.PATIENCE)
    # A reloaded plugin may have another formula under the same name.
    keys = [workbench().generation, view.scorings, view.seeds, experiments.reference_of(view),
            *(one.key for one in asked.values())]  # fmt: skip
    last_keys, result = st.session_state.get(_LAST, (keys, None))
    if event and event.result:
        result = event.result
        st.session_state[_LAST] = (keys, result)
    elif keys != last_keys:
        result = None
    return _State(asked, cells, tuning, busy or event is None, request, event, result)


def _draw(session: Session[Experiment], state: _State) -> None:
    view, cells = session.view, state.cells
    if refused := table_columns.refusal(session.jobs, state.requests.values()):
        table_columns.draw_refusal(
            refused, upload.title(view.data), layout.data_title(fits_link.DATA, session.catalogue),
            lambda: use_table(session, fits_link.DATA),
        )  # fmt: skip
        return
    found, columns = table.spreads(state.result), experiments.metrics(view, session.catalogue)
    spread = {one.deviation for (name, _), one in found.items() if name != "seconds"} - {None}
    same = run_cells.same_data(view, cells)
    fixed = same and spread == {0}
    with shown.container(
        horizontal=True, vertical_alignment="center", gap="small", key="experiment-go"
    ):
        if view.task == TRANSLATION:
            buttons(state.requests, cells)
        costs = "" if fixed else run_cells.cost(view, state.tuning, session.catalogue)
        with shown.container(width="stretch"):
            shown.caption(
                plain(together([run_cells.summary(cells), costs, *run_cells.outdated(cells)]))
            )
    refusal()
    for training in (cell.training for cell in cells):
        if training:
            shown.result(training.request, training.result())
    measured = table.measured(cells, columns)
    table.table(view, cells, measured, found, session.catalogue)
    _failure(session, state.request, state.event)
    shown.caption(gettext(_FAIR["same_data" if same else view.task]))
    shown.caption(plain(run_cells.set_by(view, state.tuning, session.catalogue)))
    if view.normaliser != SOFTMAX:
        words = gettext(
            "Every row makes weights of its scores by the normaliser {normaliser}.",
            normaliser=layout.normaliser_title(view.normaliser, session.catalogue),
        )
        shown.caption(plain(words))
    if sentence := run_cells.sampled(cells):
        shown.caption(sentence)
    elif same:
        said = _SAID["one_seed"] if view.seeds == 1 else _SAID["same_data"]
        shown.caption(gettext(_SAID["fixed"] if fixed else said))
    # Not right above the table, whose own tools appear there.
    st.download_button(
        gettext("Every run as CSV"), partial(seeds.file, view, cells, columns), mime="text/csv",
        file_name=f"experiment-{view.task}.csv", icon=":material/download:", type="tertiary",
        key="experiment-csv", on_click="ignore",
    )  # fmt: skip
    seeds.failures(cells, session.catalogue)
    shown.header(gettext("Every seed"))
    seeds.chart(session, cells, measured, found)
    table.differences(view, session.catalogue, measured, table.gains(state.result))
    shown.header(gettext("Where each scoring looks"))
    _maps(session, cells)
    seed = shown_seed(view)
    ids = [cell.training.id for cell in cells if cell.training and cell.seed == seed]
    if ids:
        navigation.link_to("training", in_charts(ids), gettext("Their learning curves"))


def _failure(session: Session[Experiment], request: Request | None, event: Event | None) -> None:
    if not request or not event or event.result:
        return
    if results.failure(event, "experiment-summary"):
        session.jobs.retry(request)
        st.rerun()


def _work(request: Request) -> float:
    """A tuning costs as much as its fits; statistics cost nothing."""
    if request.task != table.TASK or not request.scoring:
        return upload.fit_work(request)
    fit = replace(request, task=fits_link.TASK)
    return run_cells.tuning_fits(request) * upload.fit_work(fit)


PAGE = Page(
    name="experiment", **beside(__file__, "words.toml")["heading"], link=experiments.LINK,
    controls=setup, requests=_fits, work=_work,
    follow_ups=lambda view, catalogue, jobs: (
        requests(view, catalogue, tuned(view, catalogue, jobs).values).values()
        if experiments.tunes(view) else ()
    ),
    offer=lambda fits: ngettext("Make {count} fit", "Make {count} fits", len(fits)),
    formulas=formulas, results=_results, panels=2, height=_HEIGHT, folds=True,
)  # fmt: skip
