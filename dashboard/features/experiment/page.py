"""Experiment: one model, one data set, and only the scoring is another one.

The link names every run. What is computed in a moment is computed at once; trainings are looked
up among those that exist, whoever began them, and only a button starts those that are missing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard.features.experiment import maps, seeds, table
from dashboard.features.experiment.cells import (
    AT_WORK,
    Cell,
    Tuned,
    cost,
    fits,
    outdated,
    sampled,
    set_by,
    summary,
    trainings,
    tuned,
    tuning_fits,
    tuning_requests,
)
from dashboard.features.experiment.setup import buttons, refusal, setup, use_table
from dashboard.features.experiment.table import TASK, gains, spreads, summary_request
from dashboard.features.experiment.view import (
    LINK,
    TRANSLATION,
    Experiment,
    Place,
    metrics,
    obstacle,
    reference_of,
    requests,
    tunes,
)
from dashboard.jobs.backend import Event
from dashboard.language import gettext, ngettext, together
from dashboard.links import fits as fits_link
from dashboard.links.fits import DATA
from dashboard.links.recipes import formulas, in_charts
from dashboard.records.attending import SOFTMAX
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import navigation, owner, results, shown, table_columns, upload
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import data_title, normaliser_title
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_HEIGHT = 420  # px, of the page in waiting
_POLL = 1.0  # seconds between two looks at trainings
_LAST = "experiment summary"
_FAIR = beside(__file__, "words.toml")["fair"]


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
    if tunes(view):
        return tuning_requests(view, catalogue).values()
    return requests(view, catalogue).values()


def _tuned_fits(view: Experiment, catalogue: Catalogue, jobs: Jobs) -> Iterable[Request]:
    if tunes(view):
        return requests(view, catalogue, tuned(view, catalogue, jobs).values).values()
    return ()


def _results(session: Session[Experiment], _: None) -> None:
    view = session.view
    if sentence := obstacle(view, session.catalogue):
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
    tuning = tuned(view, session.catalogue, session.jobs) if tunes(view) else None
    asked = requests(view, session.catalogue, tuning.values if tuning else None)
    wanted: list[Request] = []
    if view.task == TRANSLATION:
        cells = trainings(view, asked, owner.trainings().every(), session.catalogue)
    else:
        wanted = [*_fits(view, session.catalogue), *asked.values()]
        session.jobs.want(wanted)
        cells = fits(view, asked, session.jobs, tuning)
    busy = any(cell.state in AT_WORK for cell in cells)
    request = summary_request(cells, metrics(view, session.catalogue), reference_of(view))
    if request is None:
        return _State(asked, cells, tuning, busy)
    session.jobs.want([*wanted, request])
    # Behind fits that still wait for a worker it would wait in vain.
    queued = busy and view.task != TRANSLATION
    event = session.jobs.final(request, 0.0 if queued else results.PATIENCE)
    # A reloaded plugin may have another formula under the same name.
    keys = [workbench().generation, view.scorings, view.seeds, reference_of(view),
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
            refused, upload.title(view.data), data_title(DATA, session.catalogue),
            lambda: use_table(session, DATA),
        )  # fmt: skip
        return
    with shown.container(
        horizontal=True, vertical_alignment="center", gap="small", key="experiment-go"
    ):
        if view.task == TRANSLATION:
            buttons(state.requests, cells)
        costs = cost(view, state.tuning, session.catalogue)
        with shown.container(width="stretch"):
            shown.caption(plain(together([summary(cells), costs, *outdated(cells)])))
    refusal()
    for training in (cell.training for cell in cells):
        if training:
            shown.result(training.request, training.result())
    found, columns = spreads(state.result), metrics(view, session.catalogue)
    measured = table.measured(cells, columns)
    table.table(view, cells, measured, found, session.catalogue)
    _failure(session, state.request, state.event)
    shown.caption(gettext(_FAIR[view.task]))
    shown.caption(plain(set_by(view, state.tuning, session.catalogue)))
    if view.normaliser != SOFTMAX:
        words = gettext(
            "Every row makes weights of its scores by the normaliser {normaliser}.",
            normaliser=normaliser_title(view.normaliser, session.catalogue),
        )
        shown.caption(plain(words))
    data = {cell.seed: cell.result.facts.get("data_sha256") for cell in cells if cell.result}
    if sentence := sampled(cells):
        shown.caption(sentence)
    elif len(data) > 1 and None not in data.values() and len({*data.values()}) == 1:
        words = gettext(
            "These data are the same for every seed, so the spread is of starting weights alone."
        )
        shown.caption(words)
    # Not right above the table, whose own tools appear there.
    st.download_button(
        gettext("Every run as CSV"), partial(seeds.file, view, cells, columns), mime="text/csv",
        file_name=f"experiment-{view.task}.csv", icon=":material/download:", type="tertiary",
        key="experiment-csv", on_click="ignore",
    )  # fmt: skip
    seeds.failures(cells, session.catalogue)
    shown.header(gettext("Every seed"))
    seeds.chart(session, cells, measured, found)
    table.differences(view, session.catalogue, gains(state.result))
    shown.header(gettext("Where each scoring looks"))
    maps.show(session, cells)
    seed = maps.shown_seed(view)
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
    if request.task != TASK or not request.scoring:
        return upload.fit_work(request)
    fit = replace(request, task=fits_link.TASK)
    return tuning_fits(request) * upload.fit_work(fit)


PAGE = Page(
    name="experiment", **beside(__file__, "words.toml")["heading"], link=LINK, controls=setup,
    requests=_fits, follow_ups=_tuned_fits, work=_work,
    offer=lambda fits: ngettext("Make {count} fit", "Make {count} fits", len(fits)),
    formulas=formulas, results=_results, panels=2, height=_HEIGHT, folds=True,
)  # fmt: skip
