"""The upper part of the page *Train*: what to train, how, and the button that starts it."""

from __future__ import annotations

import math

import streamlit as st

from dashboard.features.training.view import DEVICE, SEED_FIELD, Train, missing, requests
from dashboard.language import gettext, gettext_noop, ngettext, translated
from dashboard.links.recipes import (
    BATCH,
    CORPORA,
    HELD_OUT,
    PAIRS,
    PARAMETERS,
    TASK,
    own_metric,
)
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import about
from dashboard.records.training import EPOCHS
from dashboard.ui import layout, owner, recipes, upload
from dashboard.ui.fields import draw_device, draw_setting, draw_settings
from dashboard.ui.layout import data_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_PROBE_HELP = gettext_noop(
    "Translated after every epoch, so that you see the words and the map come right."
)
_REFUSED = "train refused"


def setup(session: Session[Train]) -> None:
    """Draw the controls."""
    with layout.row("train-what"):
        recipes.draw_made_of(session)
        draw_device(session, DEVICE)
        upload.button(lambda file: recipes.use_file(session, file), upload.SENTENCES)
    title = gettext("Scorings: each becomes a training of its own")
    recipes.draw_scorings(session, title, CORPORA)
    with layout.row("train-normaliser"):
        recipes.draw_normaliser(session)
    with layout.row("train-main"):
        recipes.draw_main(session, gettext(_PROBE_HELP))
    with st.expander(
        gettext("More: schedule, vocabulary, the model's parts, seed"), icon=":material/tune:"
    ):
        with layout.row("train-recipe"):
            recipes.draw_rest(session, of_model=False)
        with layout.row("train-model"):
            recipes.draw_rest(session, of_model=True)
        with layout.row("train-parameters"):
            draw_settings(session, PARAMETERS, digits=recipes.DIGITS, width=recipes.FIELD_WIDTH)
            draw_setting(session, SEED_FIELD, width=recipes.FIELD_WIDTH)


def start(view: Train, catalogue: Catalogue) -> bool:
    """What will be done, and the button that does it; whether trainings were started."""
    absent = missing(view, catalogue, upload.rows(view.data)) or owner.refusal("Training")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-go"):
        go = st.button(
            gettext("Train"),
            icon=":material/play_arrow:",
            type="primary",
            key="train-start",
            disabled=bool(absent),
        )
        with st.container(width="stretch"):
            st.caption(plain(translated(absent) or _plan(view, catalogue)))
    started = False
    if go and not absent:
        st.session_state[_REFUSED] = ""
        try:
            for request in requests(view):
                owner.trainings().start(request)
                started = True
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="train-refused", gap="xsmall"):
            st.markdown(gettext(":material/error: **This training was not started**"))
            st.text(translated(refused))
    return started


def _plan(view: Train, catalogue: Catalogue) -> str:
    """What pressing the button will do, as far as it is known beforehand."""
    return gettext(
        "{trained} {scored} {time}",
        trained=_trained(view, catalogue), scored=_scored(view, catalogue), time=_time(view),
    ).strip()  # fmt: skip


def _trained(view: Train, catalogue: Catalogue) -> str:
    """How many trainings of how many epochs, on which pairs."""
    settings, count = dict(view.settings), len(view.scorings)
    epochs, size = int(settings.get(EPOCHS, 0)), int(settings.get(PAIRS, 0))
    said = {
        "trainings": ngettext("{count} training", "{count} trainings", count),
        "epochs": ngettext("{count:,} epoch", "{count:,} epochs", epochs),
        "pairs": gettext("up to {size:,} pairs", size=size) if size else gettext("all pairs"),
        "corpus": data_title(view.data, catalogue),
    }
    plan = (
        gettext("{trainings} of {epochs} on {pairs} of {corpus}", **said)
        if epochs
        else gettext("{trainings} on {pairs} of {corpus}", **said)
    )
    batch = int(settings.get(BATCH, 0))
    if size and batch:
        steps = math.ceil(size / batch)
        return gettext("{plan}, at most {steps:,} steps an epoch.", plan=plan, steps=steps)
    return gettext("{plan}.", plan=plan)


def _scored(view: Train, catalogue: Catalogue) -> str:
    """What is held out, and what it is scored by."""
    held_out = dict(view.settings).get(HELD_OUT)
    if not held_out:
        return gettext("Nothing is held out, so there will be no score.")
    own = own_metric(view.data, catalogue)
    return gettext(
        "The pairs of {count:,} of their source sentences are held out: no step learns "
        "from them, and {metric} is measured on them after every epoch.",
        count=held_out, metric=translated((own or catalogue.metric(TASK, "bleu")).title),
    )  # fmt: skip


def _time(view: Train) -> str:
    """How long it takes, or when that will be known where no such training was measured here."""
    seconds = owner.trainings().expected(requests(view))
    if seconds is None:
        return gettext("How long it takes is known after the first steps.")
    time = translated(about(seconds))
    if len(view.scorings) == 1:
        return gettext("Such a training takes {time} here, as those before it did.", time=time)
    return gettext("Such trainings take {time} each here, as those before them did.", time=time)
