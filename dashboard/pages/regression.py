"""Kernel regression: up to four scorings on one problem, each a curve over its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.controls import choose, knob, knobs, plain
from dashboard.pages import export, figures, parts, upload
from dashboard.pages.regression_panel import Places, panel_controls
from dashboard.runs.link_parts import LETTERS, MOST_PANELS, SEED, defaults
from dashboard.runs.offers import Catalogue, Offer
from dashboard.runs.regression_link import (
    Regression,
    RegressionPanel,
    data_knobs,
    format_regression,
    is_upload,
    missing,
    parse_regression,
    regression_panel,
    regression_request,
)
from dashboard.runs.request import Request
from dashboard.state import Visit, read_link, visit, write_link

_CHOICE_WIDTH, _SLIDER_WIDTH, _FIELD_WIDTH = 220, 170, 110  # px


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Kernel regression",
        "Every prediction is the mean of the training values, weighted by attention. "
        "The scoring decides which points count.",
    )
    catalogue = parts.catalogue_or_wait(MOST_PANELS, figures.PANEL_HEIGHT)
    if catalogue is None:
        return
    here = visit("regression")
    read_link(here, catalogue, parse_regression, format_regression)
    problems = st.empty()
    view = _data(here, catalogue)
    scale = _about(catalogue.datasets.get(view.data))
    slots, panels = _panels(here, catalogue)
    view = replace(view, panels=panels)
    here.settle(view)
    link = format_regression(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    requests = {
        letter: regression_request(view, panel)
        for letter, panel in zip(LETTERS, panels, strict=False)
        if not missing(catalogue, panel)
    }
    below = st.container()
    here.jobs.want(requests.values())
    here.jobs.wait(parts.PATIENCE)
    vmax = figures.shared_scale(here.jobs.done())
    for letter, slot, panel in zip(LETTERS, slots, panels, strict=False):
        request = requests.get(letter)
        if request:
            with slot.export:
                title = f"Kernel regression, {catalogue.scorings[panel.scoring].title}"
                alone = format_regression(replace(view, panels=(panel,)), catalogue)
                export.panel_menu(request, here.jobs.final(request), letter, title, alone, vmax)
        with slot.result:
            _result(here, letter, request, missing(catalogue, panel))
        with slot.learning:
            if request and panel.learn:
                _learning(here, letter, request)
    with scale:
        figures.legend(vmax)
    with below:
        _comparison(here, catalogue, dict(zip(LETTERS, panels, strict=False)), requests)


def _data(here: Visit, catalogue: Catalogue) -> Regression:
    """The strip above the panels: which problem, and what may be set about it."""
    view: Regression = here.view
    offered = catalogue.of_task("datasets", "regression")
    with parts.row("regression-data"):
        data = choose(
            "Problem",
            [*offered, *upload.known(view.data)],
            view.data,
            "regression-problem",
            here.fresh,
            title=lambda name: offered[name].title if name in offered else upload.title(name),
            width=_CHOICE_WIDTH,
        )
        specs = data_knobs(catalogue, data)
        held = view.settings if data == view.data else defaults(specs)
        key = "regression-table" if is_upload(data) else f"regression-{data}"
        settings = knobs(specs, held, key, here.fresh, width=_SLIDER_WIDTH)
        seed = knob(SEED, view.seed, "regression-seed", here.fresh, width=_FIELD_WIDTH)
        device = parts.device(catalogue, view.device, "regression-device", here.fresh)
        upload.button(lambda table: _use_table(here, catalogue, table))
    return replace(view, data=data, settings=settings, seed=seed, device=device)


def _use_table(here: Visit, catalogue: Catalogue, table: str) -> None:
    settings = defaults(data_knobs(catalogue, table))
    here.change(replace(here.view, data=table, settings=settings))


def _about(problem: Offer | None) -> Any:
    """The problem in a sentence, its formula too where it can be set safely.

    Returns:
        The place beside it, for the colour scale.
    """
    words, scale = st.columns([5, 1], vertical_alignment="center", gap="medium")
    if problem is None:
        words.caption("A table: its last column is predicted from the columns before it.")
    else:
        safe = problem.formula and not {"$", "`", "\n"} & {*problem.formula}
        words.caption((f"${problem.formula}$ · " if safe else "") + plain(problem.description))
    return scale


def _panels(here: Visit, catalogue: Catalogue) -> tuple[list[Places], tuple[RegressionPanel, ...]]:
    """Each panel's controls; the places for their results, and what the controls say."""
    letters = LETTERS[: len(here.view.panels)]
    with parts.grid(len(letters)):
        drawn = [
            panel_controls(here, catalogue, letter, panel, remove=len(letters) > 1)
            for letter, panel in zip(letters, here.view.panels, strict=True)
        ]
    if len(letters) < MOST_PANELS:
        st.button("Add a panel", icon=":material/add:", on_click=_add, args=(here, catalogue))
    return [slot for slot, _ in drawn], tuple(panel for _, panel in drawn)


def _add(here: Visit, catalogue: Catalogue) -> None:
    taken = {panel.scoring for panel in here.view.panels}
    name = next((name for name in catalogue.scorings if name not in taken), next(iter(taken)))
    panels = (*here.view.panels, regression_panel(catalogue, name))
    here.change(replace(here.view, panels=panels))


def _result(here: Visit, letter: str, request: Request | None, absent: str) -> None:
    key = f"panel-{letter}-result"
    if request is None:
        parts.absent(absent, figures.PANEL_HEIGHT, key)
        return
    parts.results(
        here.jobs,
        request,
        lambda result: figures.regression_panel(request, result, letter, here.jobs.done()),
        figures.PANEL_HEIGHT,
        key,
    )


def _learning(here: Visit, letter: str, request: Request) -> None:
    parts.results(
        here.jobs,
        request,
        lambda result: figures.learning(request, result, letter),
        figures.LEARNING_HEIGHT,
        f"panel-{letter}-learning",
        meanwhile=lambda events: figures.live_learning(events, letter),
    )


def _comparison(
    here: Visit,
    catalogue: Catalogue,
    panels: dict[str, RegressionPanel],
    requests: dict[str, Request],
) -> None:
    """All curves in one plot, all figures in one table; once everything has ended."""
    results = {
        letter: event.result
        for letter, request in requests.items()
        if (event := here.jobs.final(request)) and event.result
    }
    waits = not here.jobs.settled()
    if not waits and not results:
        return
    st.subheader("Side by side", anchor=False)
    if waits:
        st.skeleton(figures.OVERLAY_HEIGHT)
        return
    titles = {
        letter: f"{letter} {catalogue.scorings[panels[letter].scoring].title}"
        + (", learned" if panels[letter].learn else "")
        for letter in results
    }
    curves, table = st.columns(2, gap="medium")
    with curves:
        figures.overlay(requests, results, titles)
    with table:
        _figures(results, titles)
    for note in dict.fromkeys(note for one in results.values() for note in one.facts["notes"]):
        st.caption(plain(note))


_COLUMNS = {
    "truth_mse": ("Error to truth", "Mean squared error against the noise-free function."),
    "leave_one_out_mse": (
        "Left out",
        "Mean squared error at training points, each predicted from all others.",
    ),
    "effective_neighbours": (
        "Neighbours",
        "How many training points a query rests on: the exponential of its weights' entropy.",
    ),
}


def _figures(results: dict[str, Any], titles: dict[str, str]) -> None:
    rows: Sequence[dict[str, Any]] = [
        {
            "Panel": titles[letter],
            **{title: result.facts["metrics"].get(name) for name, (title, _) in _COLUMNS.items()},
            "Learned": _learned(result.facts["learned"]),
        }
        for letter, result in results.items()
    ]
    frame = pd.DataFrame(rows).dropna(axis="columns", how="all")
    columns = {
        title: st.column_config.NumberColumn(title, help=words, format="%.3g")
        for title, words in _COLUMNS.values()
    }
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        alt="Figures of every panel",
    )


def _learned(values: dict[str, float]) -> str | None:
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items()) or None
