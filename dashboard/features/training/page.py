"""Train: a model with several scorings on one corpus, watched while they learn.

Trainings belong to their owner, not to a session: every tab shows the same ones, and a page that
was closed finds them again. Only the part below the setup looks at them repeatedly, while one of
them is at work; nothing else of the page is drawn again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.features.training import view as train
from dashboard.features.training.cards import card
from dashboard.features.training.curves import curves
from dashboard.features.training.probe import probes
from dashboard.features.training.view import Train
from dashboard.language import gettext, gettext_noop, ngettext, translated
from dashboard.links import recipes as link_fields
from dashboard.links.fields import LETTERS
from dashboard.records import text
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import about
from dashboard.records.training import EPOCHS, Training
from dashboard.ui import layout, owner, recipes, shown, upload
from dashboard.ui.fields import draw_device, draw_setting, draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["page"]
_PROBE_HELP = _SAID["probe"]
_REFUSED = "train refused"


def _controls(session: Session[Train]) -> None:
    with layout.row("train-what"):
        recipes.draw_made_of(session)
        draw_device(session, train.DEVICE)
        upload.button(lambda file: recipes.use_file(session, file), upload.SENTENCES)
    title = gettext("Scorings: each becomes a training of its own")
    recipes.draw_scorings(session, title, link_fields.CORPORA)
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
            draw_settings(
                session, link_fields.PARAMETERS, digits=recipes.DIGITS, width=recipes.FIELD_WIDTH
            )
            draw_setting(session, train.SEED_FIELD, width=recipes.FIELD_WIDTH)
    if _start(session.view, session.catalogue):
        session.update(shown=None, epoch=0)


def _start(view: Train, catalogue: Catalogue) -> bool:
    absent = train.missing(view, catalogue, upload.rows(view.data)) or owner.refusal("Training")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-go"):
        go = st.button(
            gettext("Train"), icon=":material/play_arrow:", type="primary", key="train-start",
            disabled=bool(absent),
        )  # fmt: skip
        with st.container(width="stretch"):
            words = translated(absent) or gettext(
                "{trained} {scored} {time}", trained=_trained(view, catalogue),
                scored=_scored(view, catalogue), time=_time(view),
            ).strip()  # fmt: skip
            st.caption(plain(words))
    started = False
    if go and not absent:
        st.session_state[_REFUSED] = ""
        try:
            for request in train.requests(view):
                owner.trainings().start(request)
                started = True
        except ValueError as error:
            st.session_state[_REFUSED] = str(error)
    if refused := st.session_state.get(_REFUSED):
        with st.container(border=True, key="train-refused", gap="xsmall"):
            st.markdown(gettext(":material/error: **This training was not started**"))
            st.text(translated(refused))
    return started


def _trained(view: Train, catalogue: Catalogue) -> str:
    settings, count = dict(view.settings), len(view.scorings)
    epochs, size = int(settings.get(EPOCHS, 0)), int(settings.get(link_fields.PAIRS, 0))
    without = gettext_noop("{trainings} on {pairs} of {corpus}")
    plan = gettext(
        gettext_noop("{trainings} of {epochs} on {pairs} of {corpus}") if epochs else without,
        trainings=ngettext("{count} training", "{count} trainings", count),
        epochs=ngettext("{count:,} epoch", "{count:,} epochs", epochs),
        pairs=gettext("up to {size:,} pairs", size=size) if size else gettext("all pairs"),
        corpus=layout.data_title(view.data, catalogue),
    )
    batch = int(settings.get(link_fields.BATCH, 0))
    if size and batch:
        steps = math.ceil(size / batch)
        return gettext("{plan}, at most {steps:,} steps an epoch.", plan=plan, steps=steps)
    return gettext("{plan}.", plan=plan)


def _scored(view: Train, catalogue: Catalogue) -> str:
    held_out = dict(view.settings).get(link_fields.HELD_OUT)
    if not held_out:
        return gettext("Nothing is held out, so there will be no score.")
    own = link_fields.own_metric(view.data, catalogue)
    return gettext(
        _SAID["scored"], count=held_out,
        metric=translated((own or catalogue.metric(link_fields.TASK, "bleu")).title),
    )  # fmt: skip


def _time(view: Train) -> str:
    """How long it takes, or when that will be known where no such training was measured here."""
    seconds = owner.trainings().expected(train.requests(view))
    if seconds is None:
        return gettext("How long it takes is known after the first steps.")
    time = translated(about(seconds))
    if len(view.scorings) == 1:
        return gettext("Such a training takes {time} here, as those before it did.", time=time)
    return gettext("Such trainings take {time} each here, as those before them did.", time=time)


_POLL = 1.0  # seconds between two looks at the trainings
_HEIGHT = 420
_CARDS = 4  # shown besides those at work; the others on demand
_NARROWEST = 400  # px of a card
_LOST = ("failed", "cancelled")


def _results(session: Session[Train], _: None) -> None:
    def look() -> tuple[list[Training], bool]:
        found = owner.trainings().list(session.view.shown or ())
        return found, any(training.state in train.ACTIVE for training in found)

    polling = look()[1]
    if polling:
        shown.incomplete()

    def below() -> None:
        trainings, busy = look()
        # A choice made below belongs into the link and the rest of the page.
        if session.fresh or busy != polling:
            st.rerun()
        _trainings(session, trainings)

    st.fragment(run_every=_POLL if polling else None)(below)()


def _trainings(session: Session[Train], trainings: Sequence[Training]) -> None:
    if not trainings:
        _empty()
        return
    st.header(gettext("Trainings"), anchor=False)
    if words := train.outlook(trainings):
        st.caption(words)
    chosen = select(trainings, session.view.shown)
    _cards(session, trainings, {one.id: letter for letter, one in chosen.items()})
    for wanted in session.view.shown or ():
        if not any(training.id.startswith(wanted) for training in trainings):
            st.caption(plain(gettext("No training {id} on this server.", id=text.shown(wanted))))
    if not chosen:
        st.caption(gettext("Choose “In the charts” on a card to see its learning curve."))
        return
    for training in chosen.values():
        shown.result(training.request, training.result())
    curves(chosen, session.catalogue)
    shown.header(gettext("The probe sentence"))
    probes(session, chosen)


def _empty() -> None:
    if not owner.visitor().makes:  # the button tells why
        return
    st.header(gettext("Trainings"), anchor=False)
    with st.container(border=True, key="nothing-trained"):
        st.markdown(gettext(":material/model_training: **Nothing trained yet**"))
        st.text(gettext(_SAID["empty"]))


def _cards(
    session: Session[Train], trainings: Sequence[Training], letters: Mapping[str, str]
) -> None:
    """The oldest first, so that none changes its place; of those at rest only the newest."""
    others = [one for one in trainings if one.state not in train.ACTIVE and one.id not in letters]
    earlier = others[max(0, _CARDS - len(trainings) + len(others)) :]
    _grid(session, [one for one in reversed(trainings) if one not in earlier], letters)
    if earlier and st.toggle(gettext("{count:,} more", count=len(earlier)), key="train-earlier"):
        _grid(session, earlier, letters)


def _grid(
    session: Session[Train], trainings: Sequence[Training], letters: Mapping[str, str]
) -> None:
    def toggle(id: str) -> None:
        ids = [one for one in letters if one != id] if id in letters else [*letters, id]
        seen = tuple(one[: link_fields.ID_DIGITS] for one in ids)
        session.change(replace(session.view, shown=seen))

    with st.grid(2, min_column_width=_NARROWEST, gap="medium"):
        for training in trainings:
            card(session, training, letters, toggle)


def select(trainings: Sequence[Training], wanted: Sequence[str] | None) -> dict[str, Training]:
    """The trainings in the charts, oldest first, by letter, of trainings newest first.

    A letter, and so a colour, stays with its training while newer ones begin. ``wanted``: the
    first digits of ids; None for the latest that have something to show.
    """
    ages = {training.id: age for age, training in enumerate(reversed(trainings))}
    if wanted is None:
        found = [one for one in trainings if one.epochs or one.state not in _LOST]
    else:
        found = [one for one in trainings if one.id.startswith(tuple(wanted))]
    free = list(LETTERS)
    letters: dict[str, Training] = {}
    for training in reversed(found[: link_fields.MOST_SHOWN]):
        usual = LETTERS[ages[training.id] % len(LETTERS)]
        letter = usual if usual in free else free[0]
        free.remove(letter)
        letters[letter] = training
    return dict(sorted(letters.items()))


PAGE = Page(
    name="training", **beside(__file__, "words.toml")["heading"], link=train.LINK, folds=True,
    controls=_controls, formulas=link_fields.formulas, results=_results, panels=2, height=_HEIGHT,
)  # fmt: skip
