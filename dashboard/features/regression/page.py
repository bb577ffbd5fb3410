"""Kernel regression: up to four scorings on one problem, each a curve over its weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st

from dashboard.features.regression import elsewhere, figures, following, validation
from dashboard.features.regression import panel as fit_panels
from dashboard.features.regression import view as regression
from dashboard.features.regression.view import Regression
from dashboard.language import gettext, listed, ngettext, translated
from dashboard.links.fields import MOST_PANELS
from dashboard.links.fits import DATA, LEAVE_ONE_OUT, TASK, default_fit
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.request import Request, Result, is_upload
from dashboard.records.text import can_be_set
from dashboard.ui import export, layout, live, maps, results, shown, table_columns, upload
from dashboard.ui.fields import draw_choice, draw_device, draw_setting, draw_settings
from dashboard.ui.layout import attending_title, lettered
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import letters, plain

_SAID = beside(__file__, "words.toml")["page"]

_CHOICE_WIDTH, _SETTING_WIDTH, _FIELD_WIDTH = 220, 170, 110  # px
_CELL, _SIGN = 24, 7  # px, of a table: what surrounds a text, and what a letter needs
_SHORT = 22  # letters of a name that leave room for the figures beside it


class _Places(NamedTuple):
    about: shown.Place
    refused: shown.Place
    comparison: shown.Place
    besides: Mapping[Callable[[Session[Regression], Mapping[str, Request]], None], shown.Place]
    scale: shown.Place
    panels: dict[str, fit_panels.PanelPlaces]


def _controls(session: Session[Regression]) -> _Places:
    _problem(session)
    about = _about(session.view, session.catalogue)
    refused = shown.container()
    comparison = shown.container(key="side-by-side")
    parts = (validation, elsewhere) if is_upload(session.view.data) else ()
    drawn = {part.draw: part.controls(session) for part in parts}
    return _Places(about, refused, comparison, drawn, _maps(session), _panels(session))


def _results(session: Session[Regression], places: _Places) -> None:
    view = session.view
    asked = regression.requests(view, session.catalogue)
    is_table = is_upload(view.data)
    if is_table and (refused := table_columns.refusal(session.jobs, asked.values())):
        with places.refused:
            table_columns.draw_refusal(
                refused, upload.title(view.data), session.catalogue.datasets[DATA].title,
                lambda: _use_table(session, DATA),
            )  # fmt: skip
        return
    done = session.jobs.done()
    scale = fit_panels.Scale(
        maps.shared_scale(done) if view.one_scale else None, maps.are_signed(done)
    )
    found = session.jobs.ended(asked)
    sliders = following.sliders(view, session.catalogue)
    standing = live.standing(*sliders.values())
    titles = fit_panels.panel_titles(view.by_letter, found, session.catalogue)
    for letter, fit in view.by_letter.items():
        place, request = places.panels[letter], asked.get(letter)
        final = session.jobs.final(request) if request else None
        result = found.get(letter)
        follows = standing if view.one_scale else live.standing(sliders[letter])
        vmax = scale.shared
        if vmax is None and result is not None:
            vmax = figures.own_scale(result)
        if request is None:
            with place.result:
                sentence = regression.missing(session.catalogue, fit)
                results.absent(sentence, fit_panels.PANEL_HEIGHT, f"panel-{letter}-result")
            continue
        with place.whole:
            shown.title(titles[letter])
        with place.export:
            title = gettext("Kernel regression, {scoring}", scoring=titles[letter])
            own = replace(view, panels=(fit,), letters="")
            alone = regression.LINK.format(own, session.catalogue)
            export.panel_menu(export.Asked(request, alone), final, letter, title, vmax)
        with place.result:
            results.results(
                session.jobs, request,
                lambda one, letter=letter, follows=follows: fit_panels.regression_panel(
                    one, letter, scale, follows
                ),
                fit_panels.PANEL_HEIGHT, f"panel-{letter}-result",
            )  # fmt: skip
        if result:
            with place.whole:
                said = fit_panels.panel_description(
                    letter, view.by_letter, result.facts, session.catalogue
                )
                shown.described(said)
            with place.remarks:
                said = following.sentences(letter, view, found, session.catalogue)
                live.words(f"panel {letter}", said, sliders[letter])
        if fit.learn:
            with place.learning:
                _learning(session, letter, request)
    with places.scale:
        figures.colours(*scale, standing)
    if is_table and found:
        with places.about:
            if sentence := table_columns.skipped(next(iter(found.values()))):
                shown.caption(sentence)
    for draw, place in places.besides.items():
        with place:
            draw(session, asked)
    # Last, though it stands first: what it leaves out, a panel above still waits for.
    with places.comparison:
        _comparison(session, asked, standing)
    live.follow(session, following.followers(view, found, scale, session.catalogue))


def _problem(session: Session[Regression]) -> None:
    offered = session.catalogue.of_task("datasets", "regression")
    before = session.view.data
    uploads = upload.known(before)
    with layout.row("regression-controls"):
        draw_choice(
            session, regression.PROBLEM, more=uploads, width=_CHOICE_WIDTH,
            titles=lambda name: offered[name].title if name in offered else upload.title(name),
        )  # fmt: skip
        if session.view.data != before:
            session.update(columns=table_columns.suggested(session.view.data))
        if is_upload(session.view.data):
            table_columns.draw_columns(session)
        draw_settings(session, regression.SETTINGS, width=_SETTING_WIDTH)
        draw_setting(session, regression.SEED_FIELD, width=_FIELD_WIDTH)
        draw_device(session, regression.DEVICE)
        upload.button(lambda table: _use_table(session, table))


def _use_table(session: Session[Regression], table: str) -> None:
    view = replace(session.view, data=table, columns=table_columns.suggested(table))
    session.change(replace(view, settings=regression.SETTINGS.default(view, session.catalogue)))


def _about(view: Regression, catalogue: Catalogue) -> shown.Place:
    """The problem in a sentence, its formula too where it can be set safely; its place."""
    words = shown.container()
    problem = catalogue.datasets.get(view.data)
    if problem is None:
        text = table_columns.described(view.data, view.columns)
    else:
        safe = problem.formula and can_be_set(problem.formula) and "\n" not in problem.formula
        text = (f"${problem.formula}$ · " if safe else "") + plain(problem.description)
    with words:
        shown.caption(text)
        form = table_columns.table_format(view.data)
        if problem is None and (sentence := table_columns.left_out(form, view.columns)):
            shown.caption(sentence)
    return words


def _maps(session: Session[Regression]) -> shown.Place:
    """The head of the panels: how their maps are coloured; the place for the colour scale."""
    view = session.view
    if is_upload(view.data) and table_columns.inputs(view.data, view.columns) > 1:
        shown.header(gettext("Predictions and weights of each panel"))
        shown.caption(gettext(_SAID["rows_and_columns"]))
    else:
        shown.header(gettext("Curve and weights of each panel"))
    switch, scale = shown.columns([5, 1], vertical_alignment="center", gap="medium")
    with switch, layout.row("regression-maps"):
        draw_setting(session, regression.ONE_SCALE)
    return scale


def _panels(session: Session[Regression]) -> dict[str, fit_panels.PanelPlaces]:
    fits = session.view.by_letter
    places: dict[str, fit_panels.PanelPlaces] = {}
    with layout.grid(len(fits)):
        for letter, fit in fits.items():
            places[letter], fits[letter] = fit_panels.panel_controls(session, letter, fit)
    session.update(panels=tuple(fits.values()))
    if len(fits) < MOST_PANELS:
        st.button(gettext("Add a panel"), icon=":material/add:", on_click=_add, args=(session,))
    return places


def _add(session: Session[Regression]) -> None:
    view = session.view
    taken = {fit.scoring for fit in view.panels}
    name = next(
        (name for name in session.catalogue.scorings_for(TASK) if name not in taken),
        view.panels[0].scoring,
    )
    fit = default_fit(session.catalogue, name)
    session.change(view.with_panels({**view.by_letter, view.free_letter: fit}))


def _learning(session: Session[Regression], letter: str, request: Request) -> None:
    folded = st.expander(
        gettext("Learning curve"), key=f"panel-{letter}-learning-folded", on_change="rerun"
    )
    if not folded.open:
        return
    with folded:
        results.results(
            session.jobs, request, lambda result: fit_panels.learning_curve(result, letter),
            fit_panels.LEARNING_HEIGHT, f"panel-{letter}-learning",
            meanwhile=lambda events: fit_panels.live_learning(events, letter),
        )  # fmt: skip


def _comparison(
    session: Session[Regression], asked: Mapping[str, Request], standing: Mapping[str, float]
) -> None:
    """All curves in one plot, all figures in one table, as far as they are there."""
    found = session.jobs.ended(asked)
    jobs = session.jobs
    waits = not all(jobs.holds(one) or jobs.final(one) for one in asked.values())
    if not waits and not found:
        return
    if found and not figures.has_curve(next(iter(found.values()))):
        shown.header(gettext("Side by side: predicted against measured"))
        alone = dict(session.view.validation).get("method", LEAVE_ONE_OUT) == LEAVE_ONE_OUT
        shown.caption(gettext(_SAID["diagonal" if alone else "not_folds"]))
    else:
        shown.header(gettext("Side by side"))
    if not found:
        st.skeleton(figures.OVERLAY_HEIGHT)
        return
    fits = session.view.by_letter
    names = following.names(session.view, found, session.catalogue)
    # Short: the legend beside it says what tells panels apart, and what they learned.
    short = [lettered(each, attending_title(fits[each], session.catalogue)) for each in found]
    long = max(map(letters, short)) > _SHORT
    curves, table = shown.columns([4, 8 if long else 5], gap="medium")
    with curves:
        figures.compared(found, names, standing)
    with table:
        _figures(found, short, session.catalogue.metrics.get(TASK, ()))
        told = {letter: one.facts["notes"] for letter, one in found.items()}
        for note in dict.fromkeys(chain.from_iterable(told.values())):
            of = [letter for letter, notes in told.items() if note in notes]
            said = translated(note)
            shown.caption(plain(said if len(of) == len(told) else lettered(listed(of), said)))
        validation.left_out(session, asked)
        if waits:
            st.caption(gettext("Other panels are still being computed."))


def _figures(found: Mapping[str, Result], names: Sequence[str], metrics: Sequence[Metric]) -> None:
    panel = gettext("Panel")
    held: dict[str, Sequence[Any]] = {panel: names}
    columns: dict[str, Any] = {}
    for one in metrics:
        columns[one.label] = st.column_config.NumberColumn(one.label, help=one.help, format="%.3g")
        held[one.label] = [result.facts["metrics"].get(one.name) for result in found.values()]
        # Some panels may estimate it on a sample of the rows.
        sampled = [figures.estimate(result, one.name) for result in found.values()]
        rows, errors = zip(*sampled, strict=True)
        held[gettext("± standard error of “{figure}”", figure=one.title)] = errors
        held[gettext("rows of “{figure}”", figure=one.title)] = rows
    known = {name: values for name, values in held.items() if values.count(None) < len(values)}
    # Names stand whole; where there is no room the table scrolls.
    columns[panel] = st.column_config.TextColumn(width=_CELL + _SIGN * max(map(letters, names)))
    shown.table(
        pa.table(known), hide_index=True, column_config=columns, placeholder="–",
        alt=gettext("Figures of every panel"),
    )  # fmt: skip


PAGE = Page(
    name="regression", **beside(__file__, "words.toml")["heading"], link=regression.LINK,
    controls=_controls, work=upload.fit_work, formulas=regression.formulas,
    requests=lambda view, catalogue: regression.requests(view, catalogue).values(),
    follow_ups=lambda view, catalogue, _: chain.from_iterable(
        regression.validations(view, catalogue, also).values()
        for also in ("", regression.NEW_ROWS.name, regression.ALONG.name)
    ),
    offer=lambda held: ngettext("Compute {count} result", "Compute {count} results", len(held)),
    results=_results, panels=MOST_PANELS, height=fit_panels.PANEL_HEIGHT,
)  # fmt: skip
