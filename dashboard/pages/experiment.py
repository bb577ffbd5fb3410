"""Experiment: one model, one data set, and only the scoring is another one.

The link names every run. What is computed in a moment is computed at once; trainings are looked
up among those that exist, whoever began them, and only a button starts those that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.controls import plain
from dashboard.pages import experiment_maps, experiment_table, parts, train
from dashboard.pages.experiment_cells import AT_WORK, MISSING, Cell, fits, summary, trainings
from dashboard.pages.experiment_setup import setup
from dashboard.runs.experiment_link import format_experiment, parse_experiment
from dashboard.runs.experiment_view import (
    TRANSLATION,
    Experiment,
    Place,
    experiment_requests,
    obstacle,
)
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.runs.train_link import MOST_SHOWN, SHORT
from dashboard.state import Visit, read_link, visit, workbench, write_link

_HEIGHT = 420  # px, of the page in waiting
_POLL = 1.0  # seconds between two looks at trainings
_REFUSED = "experiment refused"
_FAIR = {
    "regression": "Every row sees the same problems: a seed draws points, noise and starting "
    "weights anew, alike for all scorings. Only the scoring differs, and with it the number of "
    "weights.",
    "translation": "Every row sees the same sentences, held-out sentences and recipe; a seed "
    "draws starting weights, the order of the sentences and dropout. Only the scoring differs, "
    "and with it the number of weights.",
}
_SAME_DATA = "These data are the same for every seed, so the spread is of starting weights alone."


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Experiment",
        "What does another scoring change, and what is chance? One model, one data set, several "
        "scorings, each with several seeds.",
    )
    catalogue = parts.catalogue_or_wait(2, _HEIGHT)
    if catalogue is None:
        return
    here = visit("experiment")
    read_link(here, catalogue, parse_experiment, format_experiment)
    problems = st.empty()
    here.settle(setup(here, catalogue))
    view: Experiment = here.view
    link = format_experiment(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    requests = experiment_requests(view, catalogue)
    fitted = view.task != TRANSLATION
    here.jobs.want(requests.values() if fitted else ())
    if sentence := obstacle(view, catalogue):
        with st.container(border=True, key="experiment-obstacle"):
            st.text(sentence)
        return
    here.jobs.wait(parts.PATIENCE)
    polling = _busy(_cells(here, requests))

    def below() -> None:
        cells = _cells(here, requests)
        # A choice made below belongs into the link and the rest of the page.
        if here.fresh or _busy(cells) != polling:
            st.rerun()
        _results(here, catalogue, requests, cells)

    poll = parts.POLL if fitted else _POLL
    st.fragment(run_every=poll if polling else None)(below)()


def _cells(here: Visit, requests: Mapping[Place, Request]) -> list[Cell]:
    if here.view.task == TRANSLATION:
        return trainings(here.view, requests, workbench().trainings.list())
    return fits(here.view, requests, here.jobs)


def _busy(cells: Sequence[Cell]) -> bool:
    return any(cell.state in AT_WORK for cell in cells)


def _results(
    here: Visit, catalogue: Catalogue, requests: Mapping[Place, Request], cells: Sequence[Cell]
) -> None:
    view: Experiment = here.view
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="experiment-go"
    ):
        if view.task == TRANSLATION:
            _steering(requests, cells)
        with st.container(width="stretch"):
            st.caption(plain(summary(cells) + "."))
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="experiment-refused", gap="xsmall"):
            st.markdown(":material/error: **Not everything was started**")
            st.text(refused)
    experiment_table.table(view, cells, catalogue)
    st.caption(_FAIR[view.task])
    if _same_data(cells):
        st.caption(_SAME_DATA)
    # Not right above the table, whose own tools appear there.
    st.download_button(
        "Every run as CSV",
        experiment_table.file(view, cells),
        file_name=f"experiment-{view.task}.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        key="experiment-csv",
        on_click="ignore",
    )
    experiment_table.failures(cells, catalogue)
    st.subheader("Every seed", anchor=False)
    experiment_table.chart(
        view, cells, catalogue, lambda name: here.change(replace(here.view, figure=name))
    )
    st.subheader("Where each scoring looks", anchor=False)
    experiment_maps.show(
        view, cells, requests, catalogue, lambda seed: here.change(replace(here.view, maps=seed))
    )
    _curves(cells, view.maps)


def _curves(cells: Sequence[Cell], seed: int) -> None:
    """The way to the page that shows how these trainings went, epoch by epoch."""
    found = [cell.training.id for cell in cells if cell.training and cell.seed == seed]
    if found:
        page = st.Page(train.show, title="Train", url_path="train")
        shown = ",".join(id[:SHORT] for id in found[:MOST_SHOWN])
        st.page_link(
            page, label="Their learning curves", icon=":material/model_training:",
            query_params={"show": shown},
        )  # fmt: skip


def _same_data(cells: Sequence[Cell]) -> bool:
    """Whether several seeds were given one and the same data, as of a file."""
    own = {cell.seed: cell.result.facts.get("data_sha256") for cell in cells if cell.result}
    return len(own) > 1 and None not in own.values() and len(set(own.values())) == 1


def _steering(requests: Mapping[Place, Request], cells: Sequence[Cell]) -> None:
    """The buttons that start, go on and stop; opening a link does none of it."""
    service = workbench().trainings
    state = {(cell.scoring, cell.seed): cell for cell in cells}
    # In the order of the requests: the first seed of every scoring first.
    absent = [request for place, request in requests.items() if state[place].state == MISSING]
    count = len(absent)
    words = "Nothing is missing"
    if count:
        are = "are" if count > 1 else "is"
        words = f"Train the {count} that {are} missing"
    st.button(
        words, icon=":material/play_arrow:", type="primary", key="experiment-start",
        disabled=not count, on_click=_each, args=(service.start, absent),
    )  # fmt: skip

    def button(label: str, icon: str, states: Sequence[str], action: Callable[[str], object]):
        ids = [cell.training.id for cell in cells if cell.training and cell.state in states]
        if ids:
            st.button(
                label.format(len(ids)), icon=f":material/{icon}:", type="tertiary",
                key=f"experiment-{icon}", on_click=_each, args=(action, ids),
            )  # fmt: skip

    button("Go on with {} paused", "resume", ("paused",), service.resume)
    button("Try {} failed again", "refresh", ("failed",), service.resume)
    button("Cancel all {}", "stop", (*AT_WORK, "paused"), service.cancel)


def _each(action: Callable[[object], object], ones: Sequence[object]) -> None:
    """Do it with each; the first that is refused says why, and the rest are left."""
    st.session_state[_REFUSED] = ""
    for one in ones:
        try:
            action(one)
        except KeyError:  # removed in another tab meanwhile
            continue
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
            return
