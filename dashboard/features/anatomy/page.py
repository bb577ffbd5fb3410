"""Anatomy: one attention step taken apart, and three looks at why it is made as it is."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.features.anatomy import mask, plots, state, step
from dashboard.features.anatomy.controls import SLIDER_WIDTH, scoring_controls, step_controls
from dashboard.features.anatomy.requests import requests
from dashboard.features.anatomy.state import LANDSCAPE, MASK, ROOT, STEP, Anatomy
from dashboard.features.anatomy.view import (
    COUNT_FIELD,
    LINK,
    PART,
    X_FIELD,
    Y_FIELD,
    formulas,
)
from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import Setting
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.ui import layout, results, shown
from dashboard.ui.fields import draw_setting
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_TITLES = {
    STEP: gettext_noop("One step"),
    MASK: gettext_noop("Masked softmax"),
    ROOT: gettext_noop("Why divide by √d"),
    LANDSCAPE: gettext_noop("Landscape"),
}
_PLACES, _HEIGHT = 3, 300  # of a page in waiting
_PLOTTED: dict[str, tuple[Setting[Anatomy], ...]] = {
    ROOT: (COUNT_FIELD,), LANDSCAPE: (X_FIELD, Y_FIELD),
}  # fmt: skip
_DRAW: dict[str, Callable[[Session[Anatomy], Catalogue, tuple[Request, ...]], None]] = {
    STEP: step.draw, MASK: mask.draw, ROOT: plots.draw_root, LANDSCAPE: plots.draw_landscape,
}  # fmt: skip


def _controls(session: Session[Anatomy], catalogue: Catalogue) -> None:
    _part(session)
    if session.view.part == STEP:
        step_controls(session, catalogue)
    elif session.view.part == MASK:
        mask.controls(session)
    else:
        row = layout.row("anatomy-plot")
        scoring_controls(session, catalogue, row)
        with row:
            for field in _PLOTTED[session.view.part]:
                draw_setting(session, catalogue, field, width=SLIDER_WIDTH)


def _part(session: Session[Anatomy]) -> None:
    chosen = st.segmented_control(
        gettext(PART.title),
        state.PARTS,
        format_func=lambda part: gettext(_TITLES[part]),
        key=place(session.key(PART.name), session.view.part, session.fresh),
        label_visibility="collapsed",
    )
    # Pressed once more, a choice is taken back: the part stays.
    session.update(part=chosen or session.view.part)
    shown.setting(gettext(PART.title), gettext(_TITLES[session.view.part]))


def _results(session: Session[Anatomy], catalogue: Catalogue, _: None) -> None:
    if sentence := state.missing(catalogue, session.view):
        results.absent(sentence, _HEIGHT, "anatomy-absent")
        return
    _DRAW[session.view.part](session, catalogue, requests(session.view, catalogue))


PAGE = Page(
    name="anatomy",
    title="Anatomy",
    explanation="One attention step taken apart: what happens to queries, keys and values on "
    "their way to the output, number by number.",
    link=LINK,
    controls=_controls,
    requests=requests,
    formulas=formulas,
    results=_results,
    panels=_PLACES,
    height=_HEIGHT,
)
