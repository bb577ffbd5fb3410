"""The controls of the page *Experiment*: what is compared, and the buttons that train it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import streamlit as st

from dashboard.features.experiment import view as fields
from dashboard.features.experiment.cells import AT_WORK, MISSING, Cell
from dashboard.features.experiment.view import TRANSLATION, Experiment, Place
from dashboard.language import gettext, gettext_noop, ngettext, translated
from dashboard.links.fields import MOST_SCORINGS
from dashboard.records.request import Request, is_formula, is_upload
from dashboard.ui import layout, owner, recipes, table_columns, upload
from dashboard.ui.fields import draw_choice, draw_device, draw_setting, draw_settings
from dashboard.ui.session import Session
from dashboard.ui.widgets import place, plain

_TITLES = {
    fields.REGRESSION: gettext_noop("Kernel regression"), TRANSLATION: gettext_noop("Translation"),
}  # fmt: skip
_SETTING_WIDTH = 170  # px
_PROBE_HELP = gettext_noop("Translated after every epoch; its maps are those compared below.")


def setup(session: Session[Experiment]) -> None:
    """Draw the controls."""
    task = st.segmented_control(
        gettext(fields.TASK.title), fields.TASKS,
        key=place(session.key(fields.TASK.name), session.view.task, session.fresh),
        format_func=lambda name: gettext(_TITLES[name]), label_visibility="collapsed",
        required=True,
    )  # fmt: skip
    if task and task != session.view.task:
        session.change(fields.switched(session.view, task, session.catalogue))
    trains = session.view.task == TRANSLATION
    what = layout.row("experiment-what")
    with what:
        if trains:
            recipes.draw_made_of(session)
        else:
            _model_and_problem(session)
    before = session.view
    title = gettext("Scorings: a row each, at most {most}", most=MOST_SCORINGS)
    recipes.draw_scorings(session, title, before.task)
    if (followed := before.changed(scorings=session.view.scorings).seeds) != before.seeds:
        st.session_state[session.key(fields.SEEDS.name)] = followed
    with what:
        draw_setting(session, fields.SEEDS, width=_SETTING_WIDTH)
        draw_device(session, fields.DEVICE)
        use = recipes.use_file if trains else use_table
        wanted = upload.SENTENCES if trains else upload.TABLE
        upload.button(lambda file: use(session, file), wanted)
    with layout.row("experiment-normaliser"):
        recipes.draw_normaliser(session)
        if len(session.view.scorings) > 1:
            session.update(reference=fields.reference_of(session.view))
            draw_choice(
                session, fields.REFERENCE, width=recipes.CHOICE_WIDTH,
                titles=lambda name: layout.scoring_title(name, session.catalogue),
            )  # fmt: skip
    if trains:
        _recipe(session)
    else:
        _problem(session)


def _model_and_problem(session: Session[Experiment]) -> None:
    before = session.view
    models = fields.MODEL.options(before, session.catalogue)
    if len(models) > 1 or before.model not in models:
        draw_choice(
            session, fields.MODEL, titles=lambda name: layout.model_title(name, session.catalogue),
            width=recipes.CHOICE_WIDTH,
        )  # fmt: skip
    data = draw_choice(
        session, fields.PROBLEM, more=upload.known(before.data),
        titles=lambda name: layout.data_title(name, session.catalogue, upload.TABLE),
        width=recipes.CHOICE_WIDTH,
    )  # fmt: skip
    if data != before.data:
        session.update(data=before.data)  # by which the seeds are judged
        use_table(session, data)
    table_columns.draw_columns(session)


def use_table(session: Session[Experiment], data: str) -> None:
    """Show another problem, with its usual settings."""
    view = session.view.changed(data=data, columns=table_columns.suggested(data))
    session.change(replace(view, settings=fields.SETTINGS.default(view, session.catalogue)))


def _problem(session: Session[Experiment]) -> None:
    with layout.row("experiment-problem"):
        draw_settings(session, fields.SETTINGS, width=_SETTING_WIDTH)
        learn = draw_setting(session, fields.LEARNS)
        tune = not is_upload(session.view.data) and draw_setting(session, fields.TUNE)
    if not learn:
        session.update(fitting=())
    parameters = fields.PARAMETERS.parameters(session.view, session.catalogue)
    by_hand = parameters and (learn or not tune)
    typed = _typed(session)
    if typed and not by_hand:
        st.caption(gettext(
            "The formula's parameters are tuned. Switch “Tune every scoring” off to set them here."
        ))  # fmt: skip
    if not learn and not by_hand:
        return
    more = gettext("More: the scorings' parameters, how they learn")
    with st.expander(more, icon=":material/tune:", expanded=typed):
        if by_hand:
            with layout.row("experiment-parameters"):
                draw_settings(session, fields.PARAMETERS, width=_SETTING_WIDTH)
        if learn:
            with layout.row("experiment-fitting"):
                draw_settings(session, fields.FITTING, width=_SETTING_WIDTH)


def _typed(session: Session[Experiment]) -> bool:
    """Whether a typed formula has parameters: whoever wrote them looks for them."""
    known, names = session.catalogue.scorings, filter(is_formula, session.view.scorings)
    return any(known[name].parameters for name in names if name in known)


def _recipe(session: Session[Experiment]) -> None:
    with layout.row("experiment-recipe"):
        recipes.draw_main(session, gettext(_PROBE_HELP))
    more = gettext("More: schedule, vocabulary, parts and parameters")
    with st.expander(more, icon=":material/tune:", expanded=_typed(session)):
        with layout.row("experiment-more"):
            recipes.draw_rest(session, of_model=False)
            recipes.draw_rest(session, of_model=True)
        with layout.row("experiment-parameters"):
            draw_settings(session, fields.PARAMETERS, width=_SETTING_WIDTH)


_REFUSED = "experiment refused"
_One = TypeVar("_One")


def buttons(asked: Mapping[Place, Request], cells: Sequence[Cell]) -> None:
    """The buttons that start, go on and stop; opening a link does none of it."""
    service, refused = owner.trainings(), owner.refusal("Training")
    state = {(cell.scoring, cell.seed): cell for cell in cells}
    # In the order of the requests: the first seed of every scoring first.
    absent = [request for place, request in asked.items() if state[place].state == MISSING]
    count = len(absent)
    words = (
        ngettext("Train the {count} that is missing", "Train the {count} that are missing", count)
        if count
        else gettext("Nothing is left to start")
    )
    st.button(
        words, icon=":material/play_arrow:", type="primary" if count else "secondary",
        key="experiment-train", disabled=bool(refused) or not count,
        help=plain(translated(refused)) or None, on_click=_each, args=(service.start, absent),
    )  # fmt: skip

    def button(label: str, icon: str, states: Sequence[str], action: Callable[[str], object]):
        own = [one.training for one in cells if one.training and one.state in states]
        ids = [training.id for training in own if service.owns(training)]
        if ids:
            st.button(
                gettext(label, count=len(ids)), icon=f":material/{icon}:", type="tertiary",
                key=f"experiment-{icon}", on_click=_each, args=(action, ids),
            )  # fmt: skip

    button(gettext_noop("Go on with {count} paused"), "resume", ("paused",), service.resume)
    button(gettext_noop("Try {count} failed again"), "refresh", ("failed",), service.resume)
    button(gettext_noop("Cancel all {count}"), "stop", (*AT_WORK, "paused"), service.cancel)


def refusal() -> None:
    """Why the last press of a button did not do all that it should."""
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="experiment-refused", gap="xsmall"):
            st.markdown(f":material/error: **{gettext('Not everything was started')}**")
            st.text(translated(refused))


def _each(action: Callable[[_One], object], ones: Sequence[_One]) -> None:
    st.session_state[_REFUSED] = ""
    for one in ones:
        try:
            action(one)
        except KeyError:  # removed in another tab meanwhile
            continue
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
            return
