"""Draws what trainings are made of: model, corpus, preset, scorings, and all their settings."""

from dataclasses import replace

import streamlit as st

from dashboard.language import gettext, listed
from dashboard.links import recipes
from dashboard.links.fields import MOST_SCORINGS
from dashboard.links.recipes import View
from dashboard.records.beside import beside
from dashboard.records.request import FORMULA, is_formula
from dashboard.ui import layout, navigation, shown, upload
from dashboard.ui.fields import draw_choice, draw_normaliser_of_view, draw_settings, draw_text
from dashboard.ui.formulas import TYPE, formula_field, package_button
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula as formula_text
from dashboard.ui.widgets import place

CHOICE_WIDTH, FIELD_WIDTH = 220, 130  # px
_PROBE_WIDTH = 420  # px
DIGITS = "%g"  # a learning rate may be very small

NAMES = beside(__file__, "words.toml")["names"]


def draw_made_of(session: Session[View]) -> None:
    """Model, corpus and preset; the settings follow at once where another one is chosen."""
    before = session.view
    draw_choice(
        session, recipes.MODEL, titles=lambda name: layout.model_title(name, session.catalogue),
        width=CHOICE_WIDTH,
    )  # fmt: skip
    draw_choice(
        session, recipes.CORPUS, more=upload.known(before.data, upload.SENTENCES),
        titles=lambda name: layout.data_title(name, session.catalogue), width=CHOICE_WIDTH,
    )  # fmt: skip
    if len(session.catalogue.presets) > 1:
        draw_choice(session, recipes.START, width=CHOICE_WIDTH)
    if session.view != before:
        session.change(recipes.followed(before, session.view, session.catalogue))


def use_file(session: Session[View], file: str) -> None:
    """Train on a file of the user's, with the settings that there are."""
    view = session.view
    session.change(recipes.followed(view, replace(view, data=file), session.catalogue))


def draw_scorings(session: Session[View], title: str, task: str) -> None:
    """The scorings, of which several may be chosen; those that were chosen first come first.

    A field that is searched by typing: there may be hundreds. Its first choice opens a field in
    which a scoring is typed; the button beside that adds it.
    """
    before, offered = session.view.scorings, session.catalogue.scorings_for(task)
    others = [name for name in before if name not in offered]
    key = session.key("scorings")
    typing = [FORMULA] if FORMULA in st.session_state.get(key, ()) else []
    chosen = st.multiselect(
        title, [FORMULA, *offered, *others], key=place(key, [*before, *typing], session.fresh),
        placeholder=gettext("Choose scorings, or type to search"),
        select_all=False,  # else Enter adds all that match
        format_func=lambda name: (
            gettext(TYPE) if name == FORMULA else layout.scoring_title(name, session.catalogue)
        ),
    )  # fmt: skip
    kept = [name for name in before if name in chosen]
    new = (name for name in chosen if name not in kept and name != FORMULA)
    session.update(scorings=(*kept, *new)[:MOST_SCORINGS])
    titles = [layout.scoring_title(name, session.catalogue) for name in session.view.scorings]
    shown.setting(gettext("Scorings"), listed(titles))
    for name in filter(is_formula, session.view.scorings):
        navigation.link_to_race(name, session.view.data)
    if FORMULA in chosen:
        with layout.controls(session.key("typed")):
            _type_scoring(session, task)


def _type_scoring(session: Session[View], task: str) -> None:
    formula = formula_field(session, "", "", NAMES[task], task)
    if formula is None or formula.entry is None:
        return
    name, scorings = formula.entry.name, session.view.scorings
    formula_text(formula.entry.formula)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            gettext("Add this scoring"), icon=":material/add:", key=session.key("add-formula"),
            on_click=_add_formula, args=(session, name),
            disabled=name in scorings or len(scorings) >= MOST_SCORINGS,
        )  # fmt: skip
        package_button(session.page, formula)
        if name in scorings:
            st.caption(gettext("It is among the scorings above."))
        elif len(scorings) >= MOST_SCORINGS:
            said = gettext(
                "There are {count} scorings already: take one away first.", count=MOST_SCORINGS
            )
            st.caption(said)


def _add_formula(session: Session[View], name: str) -> None:
    st.session_state[session.key("scorings")] = []  # the field has done its work
    session.change(session.view.changed(scorings=(*session.view.scorings, name)))


def draw_normaliser(session: Session[View]) -> None:
    """The normaliser of all runs, and its parameters."""
    draw_normaliser_of_view(
        session, width=CHOICE_WIDTH, parameters={"width": FIELD_WIDTH, "typed": True}
    )


def draw_main(session: Session[View], help: str) -> None:
    """What most would set, and the probe, for which ``help`` says what it is."""
    known = {each.name for each in recipes.setting_parameters(session.view, session.catalogue)}
    main = [name for name in recipes.MAIN if name in known]
    draw_settings(
        session, recipes.SETTINGS, only=main, typed=True, digits=DIGITS, width=FIELD_WIDTH
    )
    draw_text(session, replace(recipes.PROBE, help=help), width=_PROBE_WIDTH)


def draw_rest(session: Session[View], *, of_model: bool) -> None:
    """Every other setting, either of the model or of corpus and recipe."""
    names = [each.name for each in recipes.setting_parameters(session.view, session.catalogue)]
    rest = [
        n for n in names if n not in recipes.MAIN and n.startswith(recipes.OF_MODEL) is of_model
    ]
    draw_settings(session, recipes.SETTINGS, only=rest, digits=DIGITS, width=FIELD_WIDTH)
