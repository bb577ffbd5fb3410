"""What determines one step: the example, the scoring, the way there, and what is looked at."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.features.anatomy import numbers, state
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, GIVEN, HEADS
from dashboard.features.anatomy.state import Anatomy
from dashboard.features.anatomy.view import (
    DROPOUT_FIELD,
    EXAMPLE,
    HEADS_FIELD,
    HIDDEN_FIELD,
    INDICES,
    LAYOUT,
    PARAMETERS,
    SCORING,
    SEED_FIELD,
)
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import FORMULA
from dashboard.ui import layout, shown
from dashboard.ui.attending import draw_normaliser_of_view
from dashboard.ui.fields import draw_choice, draw_setting, draw_settings
from dashboard.ui.formula_field import choose_scoring, formula_field
from dashboard.ui.formula_package import package_button
from dashboard.ui.session import Session
from dashboard.ui.widgets import draw_parameter
from dashboard.ui.widgets import formula as draw_mathematics

_CHOICE_WIDTH, SLIDER_WIDTH, _FIELD_WIDTH, _INDEX_WIDTH = 230, 150, 110, 120  # px

_NAMES = {  # of formulas, as the stages call them
    "q": gettext_noop("a row of the queries"),
    "k": gettext_noop("a row of the keys"),
    "d": gettext_noop("the size of a query"),
    "i": gettext_noop("the query's row"),
    "j": gettext_noop("the key's row"),
    "h": gettext_noop("the head"),
    "H": gettext_noop("how many heads there are"),
    "n": gettext_noop("how many keys there are"),
}


def step_controls(session: Session[Anatomy], catalogue: Catalogue) -> None:
    """Everything above the stages."""
    row = layout.row("anatomy-what")
    with row:
        _example(session, catalogue)
        _layout(session, catalogue)
    scoring_controls(session, catalogue, row)
    shown.caption(gettext(EXAMPLES[session.view.example].caption))
    with layout.row("anatomy-numbers"):
        numbers.lengths(session, SLIDER_WIDTH)
        draw_setting(session, catalogue, DROPOUT_FIELD, width=SLIDER_WIDTH)
        if not _has_weights(session.view, catalogue):
            draw_setting(session, catalogue, SEED_FIELD, width=_FIELD_WIDTH)
        if session.view.example == DRAWN:
            numbers.sizes(session)
        numbers.editors(session)
    _indices(session)


def scoring_controls(session: Session[Anatomy], catalogue: Catalogue, row: DeltaGenerator) -> None:
    """Which scoring, and its parameters; the seed and size of its weights if it has some.

    Args:
        row: where they stand; a formula is typed below it.
    """
    before = session.view
    with row:
        scoring = choose_scoring(
            gettext(SCORING.title), catalogue.scorings_for(), before.scoring,
            session.key(SCORING.name), catalogue, session.fresh, width=_CHOICE_WIDTH,
        )  # fmt: skip
    if scoring == FORMULA:
        with layout.controls("anatomy-typed"):
            scoring = _typed(session, catalogue)
    session.update(scoring=scoring)
    if scoring not in catalogue.scorings:
        return
    if scoring != before.scoring:
        session.update(parameters=PARAMETERS.default(session.view, catalogue))
    with row:
        _parameters(session, catalogue)


def _typed(session: Session[Anatomy], catalogue: Catalogue) -> str:
    """The name of the formula; the scoring as it was while the formula cannot be used."""
    scoring = session.view.scoring
    formula = formula_field(
        session, catalogue, "", scoring, label=gettext("Formula of the scoring"),
        names={name: gettext(meaning) for name, meaning in _NAMES.items()},
    )  # fmt: skip
    if not formula or not formula.entry:
        return scoring
    if session.view.part == state.ROOT:  # the others write the formula beside what comes of it
        draw_mathematics(formula.entry.formula)
    package_button("anatomy", formula)
    return formula.entry.name


def _parameters(session: Session[Anatomy], catalogue: Catalogue) -> None:
    draw_settings(session, catalogue, PARAMETERS, width=SLIDER_WIDTH)
    if session.view.part != state.ROOT:
        draw_normaliser_of_view(
            session, catalogue, width=_CHOICE_WIDTH, parameters={"width": SLIDER_WIDTH}
        )
    if _has_weights(session.view, catalogue):
        draw_setting(session, catalogue, HIDDEN_FIELD, width=_FIELD_WIDTH)
        draw_setting(session, catalogue, SEED_FIELD, width=_FIELD_WIDTH)


def _has_weights(view: Anatomy, catalogue: Catalogue) -> bool:
    learns = view.scoring in catalogue.scorings and catalogue.scorings[view.scoring].learns
    return learns or (view.part == state.STEP and view.layout != GIVEN)


def _example(session: Session[Anatomy], catalogue: Catalogue) -> None:
    before = session.view
    chosen = draw_choice(session, catalogue, EXAMPLE, width=_CHOICE_WIDTH)
    if chosen != before.example:
        session.change(replace(state.default_view(catalogue, chosen), part=before.part))


def _layout(session: Session[Anatomy], catalogue: Catalogue) -> None:
    """How queries and keys reach the scoring."""
    before = session.view
    chosen = draw_choice(session, catalogue, LAYOUT, width=_CHOICE_WIDTH)
    if chosen != before.layout:
        numbers.refit(session, before)
    if chosen == HEADS:
        draw_setting(session, catalogue, HEADS_FIELD, width=_FIELD_WIDTH)


def _indices(session: Session[Anatomy]) -> None:
    """Which of everything is drawn and framed."""
    session.update(**state.indices_inside(session.view))
    counts = state.counts(session.view)
    if session.view.layout != HEADS:
        del counts["column"]
    with layout.row("anatomy-picks"):
        st.caption(gettext("Look at"), width="content")
        for each in INDICES:
            if counts.get(each.name, 1) > 1:
                index = draw_parameter(
                    replace(each, high=counts[each.name] - 1),
                    getattr(session.view, each.name), session.key(each.name), session.fresh,
                    width=_INDEX_WIDTH,
                )  # fmt: skip
                session.update(**{each.name: index})
