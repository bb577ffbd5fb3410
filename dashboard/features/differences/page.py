"""Differences: several models read one sentence and one target, and where do they look apart?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard.charts.template import chart_of
from dashboard.features.differences.chart_linked import draw_linked
from dashboard.features.differences.pair import (
    Asked,
    Compared,
    asked,
    compared,
    follow_ups,
    prepare_sides,
)
from dashboard.features.differences.panel import head_matching, panel, target_missing, target_said
from dashboard.features.differences.view import (
    CORPUS,
    DEVICE,
    LINK,
    TARGET,
    TEXT,
    Differences,
    pairs_of,
    without_panel,
)
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop
from dashboard.links.fits import usual_panels
from dashboard.links.panels import checkpoints_of, examples_of, following, sides_of
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request, Result
from dashboard.ui import charts, export, layout, results, shown
from dashboard.ui.checkpoints import (
    PanelPlaces,
    add_panel,
    draw_corpus,
    draw_examples,
    draw_panels,
    nothing_trained,
)
from dashboard.ui.fields import draw_device
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.translations import AXES, draw_kind, draw_sentences, show_sentences
from dashboard.ui.widgets import place, plain

_USUAL_PANELS = 3
_CHART = 420  # px, of a chart to come
_POINT = gettext_noop(
    "Point at a row, or tap it: every map shows that row, and the words under each map are shaded "
    "by how much it looks at them."
)


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    target: shown.Place
    panels: dict[str, PanelPlaces]
    kind: shown.Place
    export: shown.Place


def _controls(session: Session[Differences]) -> _Places:
    with layout.row("differences-sentence"):
        before = session.view.corpus
        sides = sides_of(
            session.catalogue, checkpoints_of(session.view, session.catalogue).values()
        )
        draw_sentences(session, sides, TEXT, TARGET, placeholder=TARGET.placeholder)
        moved = draw_corpus(session, CORPUS)
        draw_device(session, DEVICE)
    draw_examples(session, TEXT, TARGET, examples_of(session.catalogue, session.view.corpus))
    if moved:
        view = session.view
        panels = usual_panels(session.catalogue, view.corpus)
        text, target = following(session.catalogue, before, view.corpus, view.text, view.target)
        usual = replace(view, panels=panels, letters="", selected=(), kind=KINDS[0], pair="")
        show_sentences(session, replace(usual, text=text, target=target))
    target = shown.container(key="differences-target-said")
    places = draw_panels(session, formulas=False, without=without_panel)
    with layout.row("differences-choices"):
        _choose_pair(session)
        kind = shown.container(width="content")
        add_panel(session)
        return _Places(target, places, kind, shown.container(width="content"))


def _choose_pair(session: Session[Differences]) -> None:
    """Whose difference is drawn, where there are several pairs."""
    view, offered = session.view, pairs_of(session.view)
    if len(offered) < 2:
        session.update(pair="")
        return
    drawn = view.pair if view.pair in offered else offered[0]
    key = session.key("pair")
    # None where the chosen one was clicked again.
    place(key, drawn, session.fresh or st.session_state.get(key) not in offered)
    chosen = st.segmented_control(
        gettext("Difference"),
        offered,
        key=key,
        format_func=lambda pair: pair.replace("-", " − "),
        label_visibility="collapsed",
    )
    session.update(pair="" if chosen == offered[0] else chosen or view.pair)


def _results(session: Session[Differences], places: _Places) -> None:
    view = session.view
    what = asked(view, session.catalogue, session.jobs)
    seen = compared(view, session.catalogue, what, session.jobs)
    with places.target:
        target_missing(session, what)
    for letter, name in view.by_letter.items():
        with places.panels[letter].result:
            panel(session, letter, name, what, seen)
    with places.kind:
        draw_kind(session, session.jobs.done())
    request = seen.pair.request(view, what.target) if seen.pair else None
    event = session.jobs.final(request) if request else None
    if seen.waiting or (request and event is None):
        _wait_for_more(session, seen)
    if request and event and event.result is None:
        _failed(session, request, event)
    if seen.sides:
        _comparison(session, what, seen, event.result if event else None, places.export)
    else:
        target_said(session, what)


def _failed(session: Session[Differences], request: Request, event: Event) -> None:
    """Why there is no comparison."""
    if results.failure(event, "differences-pair"):
        session.jobs.retry(request)
        st.rerun()


def _wait_for_more(session: Session[Differences], seen: Compared) -> None:
    """Draws the page again as soon as there is another panel's result, or the comparison."""
    known = len(session.jobs.done())

    def look() -> None:
        if len(session.jobs.done()) > known or session.jobs.settled():
            st.rerun()
        if not seen.sides:
            st.skeleton(_CHART)

    st.fragment(run_every=session.jobs.pace(results.POLL))(look)()


def _comparison(
    session: Session[Differences], what: Asked, seen: Compared, result: Result | None,
    menu: shown.Place,
) -> None:  # fmt: skip
    """The linked chart, and what sets its pair apart once a worker has said it."""
    sides, pair = seen.sides, seen.pair
    if sentence := _verdict(session, seen, result):
        shown.caption(sentence)
    keys = ["linked", *(f"{side.key} {side.selected}" for side in sides)]
    if pair and result:
        keys += [pair.name, result.digest]
    try:
        charts.show_filled(
            " ".join(keys), draw_linked, partial(prepare_sides, sides, pair, result),
            gettext("Maps of panels, rows linked.") + f" {gettext(_POINT)}",
        )  # fmt: skip
    except ValueError as error:
        sentence = gettext("These maps are too large to lay beside each other: {why}", why=error)
        shown.caption(f":material/grid_off: {sentence}")
        target_said(session, what)
        return
    target_said(session, what)
    shown.caption(f"{gettext(_POINT)} {gettext(AXES[session.view.kind])}")
    if pair and result:
        with menu:
            drawn = {
                gettext("linked maps"): lambda: chart_of(
                    draw_linked, prepare_sides(sides, pair, result)
                ),
                gettext("difference {pair}", pair=pair.name): lambda: chart_of(
                    draw_linked, prepare_sides((), pair, result)
                ),
            }
            tables = Result(tables=pair.tables(result))
            export.menu(None, tables, drawn, "differences", title=gettext("Differences"))
        head_matching(session, pair, result)


def _verdict(session: Session[Differences], seen: Compared, result: Result | None) -> str:
    if seen.pair:
        return plain(seen.pair.verdict(result)) if result else ""
    if seen.waiting:
        return ""
    if len(session.view.panels) < 2:
        return gettext("Add a second panel to see a difference.")
    return gettext("No difference to show: one of the two panels has no map of this kind.")


PAGE = Page(
    name="differences",
    title="Differences",
    explanation="Several models read one sentence and the same translation of it. Where do their "
    "maps differ?",
    link=LINK,
    controls=_controls,
    follow_ups=follow_ups,
    results=_results,
    empty=nothing_trained,
    panels=_USUAL_PANELS,
    height=_CHART,
)
