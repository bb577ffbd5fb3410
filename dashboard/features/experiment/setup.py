"""The upper part of the page *Experiment*: what is compared, on what, with how many seeds."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.features.experiment.view import (
    DEVICE,
    FITTING,
    LEARNS,
    MODEL,
    PARAMETERS,
    PROBLEM,
    REFERENCE,
    SEEDS,
    SETTINGS,
    TASK,
    TASKS,
    TRANSLATION,
    TUNE,
    Experiment,
    enough_seeds,
    reference_of,
    usual_view,
)
from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import MOST_SCORINGS
from dashboard.records.request import FORMULA, is_upload
from dashboard.ui import layout, recipes, table_columns, upload
from dashboard.ui.fields import draw_choice, draw_device, draw_setting, draw_settings
from dashboard.ui.layout import data_title, model_title, scoring_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_TITLES = dict(
    zip(TASKS, (gettext_noop("Kernel regression"), gettext_noop("Translation")), strict=True)
)
_SLIDER_WIDTH = 170  # px
_PROBE_HELP = gettext_noop("Translated after every epoch; its maps are those compared below.")


def setup(session: Session[Experiment]) -> None:
    """Draw the controls."""
    task = st.segmented_control(
        gettext(TASK.title),
        TASKS,
        key=place(session.key(TASK.name), session.view.task, session.fresh),
        format_func=lambda name: gettext(_TITLES[name]),
        label_visibility="collapsed",
        required=True,
    )
    if task and task != session.view.task:
        session.change(usual_view(task, session.catalogue))
    trains = session.view.task == TRANSLATION
    with layout.row("experiment-what"):
        if trains:
            recipes.draw_made_of(session)
        else:
            _model_and_problem(session)
        before = session.view.seeds
        _follow_scorings(session)
        seeds = draw_setting(session, SEEDS, width=_SLIDER_WIDTH)
        if seeds != before:
            session.update(maps=min(session.view.maps, seeds - 1))
        draw_device(session, DEVICE)
        upload.button(
            lambda file: _use_file(session, file),
            upload.SENTENCES if trains else upload.TABLE,
        )
    title = gettext("Scorings: a row each, at most {most}", most=MOST_SCORINGS)
    recipes.draw_scorings(session, title, session.view.task)
    with layout.row("experiment-normaliser"):
        recipes.draw_normaliser(session)
        _reference(session)
    if trains:
        _recipe(session)
    else:
        _problem(session)


def _follow_scorings(session: Session[Experiment]) -> None:
    """Where the seeds are just enough, keep them so when other scorings are chosen."""
    key, view = session.key("scorings"), session.view
    if session.fresh or key not in st.session_state:
        return
    chosen = min(sum(name != FORMULA for name in st.session_state[key]), MOST_SCORINGS)
    if chosen != len(view.scorings) and view.seeds == enough_seeds(len(view.scorings)):
        seeds = enough_seeds(chosen)
        st.session_state[session.key(SEEDS.name)] = seeds
        session.update(seeds=seeds)


def _reference(session: Session[Experiment]) -> None:
    """With which scoring the others are compared."""
    if len(session.view.scorings) < 2:
        return
    session.update(reference=reference_of(session.view))
    draw_choice(
        session, REFERENCE, titles=lambda name: scoring_title(name, session.catalogue),
        width=recipes.CHOICE_WIDTH,
    )  # fmt: skip


def _model_and_problem(session: Session[Experiment]) -> None:
    before = session.view
    models = MODEL.options(before, session.catalogue)
    if len(models) > 1 or before.model not in models:
        draw_choice(
            session, MODEL, titles=lambda name: model_title(name, session.catalogue),
            width=recipes.CHOICE_WIDTH,
        )  # fmt: skip
    data = draw_choice(
        session, PROBLEM, more=upload.known(before.data),
        titles=lambda name: data_title(name, session.catalogue, upload.TABLE),
        width=recipes.CHOICE_WIDTH,
    )  # fmt: skip
    if data != before.data:
        use_table(session, data)
    table_columns.draw_columns(session)


def _use_file(session: Session[Experiment], file: str) -> None:
    use = recipes.use_file if session.view.task == TRANSLATION else use_table
    use(session, file)


def use_table(session: Session[Experiment], data: str) -> None:
    """Show another problem, with its usual settings."""
    view = replace(session.view, data=data, columns=table_columns.suggested(data))
    session.change(replace(view, settings=SETTINGS.default(view, session.catalogue)))


def _problem(session: Session[Experiment]) -> None:
    """What may be set about data, learning and scorings of kernel regression."""
    with layout.row("experiment-problem"):
        draw_settings(session, SETTINGS, width=_SLIDER_WIDTH)
        learn = draw_setting(session, LEARNS)
        tune = False
        if not is_upload(session.view.data):
            tune = draw_setting(session, TUNE)
    if not learn:
        session.update(fitting=())
    by_hand = PARAMETERS.parameters(session.view, session.catalogue) and not (tune and not learn)
    if not learn and not by_hand:
        return
    more = gettext("More: the scorings' parameters, how they learn")
    with st.expander(more, icon=":material/tune:"):
        if by_hand:
            with layout.row("experiment-parameters"):
                draw_settings(session, PARAMETERS, width=_SLIDER_WIDTH)
        if learn:
            with layout.row("experiment-fitting"):
                draw_settings(session, FITTING, width=_SLIDER_WIDTH)


def _recipe(session: Session[Experiment]) -> None:
    """How the translation models are trained."""
    with layout.row("experiment-recipe"):
        recipes.draw_main(session, gettext(_PROBE_HELP))
    more = gettext("More: schedule, vocabulary, parts and parameters")
    with st.expander(more, icon=":material/tune:"):
        with layout.row("experiment-more"):
            recipes.draw_rest(session, of_model=False)
            recipes.draw_rest(session, of_model=True)
        with layout.row("experiment-parameters"):
            draw_settings(session, PARAMETERS, width=_SLIDER_WIDTH)
