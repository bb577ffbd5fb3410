"""One panel of the page *Kernel regression*: its scoring, its formula, its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.features.regression.view import Regression
from dashboard.language import gettext, gettext_noop
from dashboard.links.attending import learns
from dashboard.links.fits import (
    TASK,
    Fit,
    default_fit,
    fit_parameters,
    fitting_parameters,
    learning,
)
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import defaults, pairs
from dashboard.records.request import FORMULA, Pairs
from dashboard.ui import layout, shown
from dashboard.ui.fields import draw_normaliser
from dashboard.ui.formula_field import (
    choice_title,
    choose_scoring,
    formula_field,
)
from dashboard.ui.formulas import package_button
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, draw_parameter, draw_parameters

_NAMES = {
    "q": gettext_noop("the point to predict at"),
    "k": gettext_noop("a training point"),
    "d": gettext_noop("how many numbers a point has"),
    "h": "1",
    "H": gettext_noop("1, as there are no heads"),
    "n": gettext_noop("how many training points there are"),
}


class PanelPlaces(NamedTuple):
    """Where in a panel things go that come after its controls were read.

    Args:
        whole: the panel itself.
        remarks: below the result.
    """

    whole: shown.Place
    export: DeltaGenerator
    result: shown.Place
    remarks: shown.Place
    learning: shown.Place


def panel_controls(
    session: Session[Regression], letter: str, panel: Fit
) -> tuple[PanelPlaces, Fit]:
    """Draw the scoring above the result's place, and its parameters below it.

    Returns:
        The places of the export menu, the result and the learning curve; the fit as the widgets
        say.
    """
    with shown.container(key=f"panel-{letter}", gap="small") as whole:
        chosen, menu, is_typed = _scoring(session, letter, panel)
        if is_typed:
            with layout.controls(f"panel-{letter}-typed"):
                chosen = _typed(session, letter, chosen)
            shown.title(choice_title(chosen.scoring, session.catalogue))
        if chosen.scoring not in session.catalogue.scorings:
            below = shown.container(), shown.container(), shown.container()
            return PanelPlaces(whole, menu, *below), chosen
        layout.formula_of(letter, session.catalogue.scorings[chosen.scoring])
        result, remarks = shown.container(), shown.container()
        formula = session.catalogue.formulas.get(chosen.scoring.removeprefix(FORMULA))
        # One key for all formulas: while one is typed, its widgets stay as they are.
        key = f"panel-{letter}-{'typed' if formula else chosen.scoring}"
        with layout.controls(f"panel-{letter}-parameters"):
            chosen = _parameters(session, key, chosen)
            if formula:
                package_button(f"panel-{letter}", formula)
        return PanelPlaces(whole, menu, result, remarks, shown.container()), chosen


def _scoring(
    session: Session[Regression], letter: str, panel: Fit
) -> tuple[Fit, DeltaGenerator, bool]:
    """What the panel shows; the place for its export menu; whether its scoring is typed."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        layout.badge(letter)
        with st.container(horizontal=True, width="content", gap="xsmall"):
            menu = st.container(width="content")
            if len(session.view.panels) > 1:
                layout.remove(letter, _remove, session, letter)
    # As wide as its panel: beside buttons, a long title would be cut off.
    scoring = choose_scoring(
        gettext("Scoring of panel {letter}", letter=letter),
        session.catalogue.scorings_for(TASK), panel.scoring, f"panel-{letter}-scoring",
        session.catalogue,
        session.fresh, label_visibility="collapsed",
    )  # fmt: skip
    if scoring in (panel.scoring, FORMULA):
        return panel, menu, scoring == FORMULA
    fit = default_fit(
        session.catalogue, scoring, model=panel.model, learn=panel.learn, normalised=panel
    )
    return fit, menu, False


def _typed(session: Session[Regression], letter: str, panel: Fit) -> Fit:
    """The panel with the formula as its scoring; as it was while the formula cannot be used."""
    names = {name: gettext(meaning) for name, meaning in _NAMES.items()}
    formula = formula_field(
        session, letter, panel.scoring,
        label=gettext("Formula of panel {letter}", letter=letter), names=names, task=TASK,
    )  # fmt: skip
    if not formula or not formula.entry or formula.entry.name == panel.scoring:
        return panel
    # A letter that the formula before had too keeps its value, since it keeps its slider.
    return default_fit(
        session.catalogue,
        formula.entry.name,
        model=panel.model,
        learn=panel.learn,
        normalised=panel,
    )


def _remove(session: Session[Regression], letter: str) -> None:
    kept = {own: fit for own, fit in session.view.by_letter.items() if own != letter}
    session.change(session.view.with_panels(kept))


def _parameters(session: Session[Regression], key: str, panel: Fit) -> Fit:
    # Names hold no dash, so a parameter called "learn" cannot meet our own "--learn".
    panel = draw_normaliser(panel, session.catalogue, f"{key}--normaliser", session.fresh)
    offer = session.catalogue.scorings[panel.scoring]
    values = dict(panel.parameters) | dict(
        draw_parameters(offer.parameters, panel.parameters, key, session.fresh)
    )
    learn = learns(panel, session.catalogue) and bool(
        draw_parameter(learning(session.catalogue), panel.learn, f"{key}--learn", session.fresh)
    )
    model, fitting = panel.model, panel.fitting or defaults(fitting_parameters(session.catalogue))
    models = session.catalogue.of_task("models", "regression")
    if learn or len(models) > 1:
        more = st.popover(
            gettext("More"),
            icon=":material/tune:",
            type="tertiary",
            key=f"{key}--more",
            on_change="rerun",
        )
        if more.open:
            with more:
                if len(models) > 1:
                    model = choose(
                        gettext("Model"), list(models), model, f"{key}--model", session.fresh,
                        title=lambda name: models[name].title,
                    )  # fmt: skip
                panel = replace(panel, model=model)
                own = [
                    k
                    for k in fit_parameters(session.catalogue, panel)
                    if k not in offer.parameters
                ]
                values |= dict(
                    draw_parameters(own, pairs(values), f"{key}-{model}", session.fresh)
                )
                if learn:
                    fitting = draw_parameters(
                        fitting_parameters(session.catalogue),
                        fitting,
                        f"{key}--fit",
                        session.fresh,
                    )
    return replace(
        panel,
        parameters=_settled(session.catalogue, panel, values),
        learn=learn,
        fitting=fitting if learn else (),
    )


def _settled(catalogue: Catalogue, panel: Fit, values: dict) -> Pairs:
    """A value for every parameter that the panel has now, and for no other."""
    return pairs({k.name: values.get(k.name, k.default) for k in fit_parameters(catalogue, panel)})
