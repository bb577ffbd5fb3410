"""Train: a model with several scorings on one corpus, watched while they learn.

Trainings belong to their owner, not to a session: every tab shows the same ones, and a page that
was closed finds them again. Only the part below the setup looks at them repeatedly, while one of
them is at work; nothing else of the page is drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.features.training.cards import card
from dashboard.features.training.curves import curves
from dashboard.features.training.probe import probes
from dashboard.features.training.setup import setup, start
from dashboard.features.training.view import ACTIVE, LINK, Train, outlook
from dashboard.language import gettext
from dashboard.links.fields import LETTERS
from dashboard.links.recipes import ID_DIGITS, MOST_SHOWN, formulas
from dashboard.records import text
from dashboard.records.training import Training
from dashboard.ui import owner, shown
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_POLL = 1.0  # seconds between two looks at the trainings
_HEIGHT = 420
_CARDS = 4  # shown besides those at work; the others on demand
_NARROWEST = 400  # px of a card
_LOST = ("failed", "cancelled")


def _controls(session: Session[Train]) -> None:
    setup(session)
    if start(session.view, session.catalogue):
        session.update(shown=None, epoch=0)


def _results(session: Session[Train], _: None) -> None:
    polling = _busy(_known(session))
    if polling:
        shown.incomplete()

    def below() -> None:
        trainings = _known(session)
        # A choice made below belongs into the link and the rest of the page.
        if session.fresh or _busy(trainings) != polling:
            st.rerun()
        _trainings(session, trainings)

    st.fragment(run_every=_POLL if polling else None)(below)()


def _known(session: Session[Train]) -> list[Training]:
    """The visitor's own trainings, and those that the link names."""
    return owner.trainings().list(session.view.shown or ())


def _busy(trainings: Sequence[Training]) -> bool:
    return any(training.state in ACTIVE for training in trainings)


def _trainings(session: Session[Train], trainings: Sequence[Training]) -> None:
    if not trainings:
        _empty()
        return
    _heading()
    if words := outlook(trainings):
        st.caption(words)
    chosen = select(trainings, session.view.shown)
    _cards(session, trainings, {one.id: letter for letter, one in chosen.items()})
    for wanted in session.view.shown or ():
        if not any(training.id.startswith(wanted) for training in trainings):
            absent = gettext("No training {id} on this server.", id=text.shown(wanted))
            st.caption(plain(absent))
    if not chosen:
        st.caption(gettext("Choose “In the charts” on a card to see its learning curve."))
        return
    for training in chosen.values():
        shown.result(training.request, training.result())
    curves(chosen, session.catalogue)
    shown.header(gettext("The probe sentence"))
    probes(session, chosen)


def _heading() -> None:
    st.header(gettext("Trainings"), anchor=False)


def _empty() -> None:
    """What will be seen here; nothing for those who cannot train, whom the button tells why."""
    if not owner.visitor().makes:
        return
    _heading()
    with st.container(border=True, key="nothing-trained"):
        st.markdown(gettext(":material/model_training: **Nothing trained yet**"))
        st.text(
            gettext(
                "Press “Train” above; everything is set so that it can start. Loss, speed and the "
                "held-out score appear here while a model learns, below them the learning curves "
                "of all scorings in one chart, and where each looks while it translates the probe "
                "sentence."
            )
        )


def _cards(
    session: Session[Train],
    trainings: Sequence[Training],
    letters: Mapping[str, str],
) -> None:
    """The oldest first, so that none changes its place while trainings begin and end.

    Besides those at work and those in the charts the newest are shown, up to a number.
    """
    kept = [one for one in trainings if one.state in ACTIVE or one.id in letters]
    others = [one for one in trainings if one not in kept]
    room = max(0, _CARDS - len(kept))
    at_once = [*kept, *others[:room]]
    with st.grid(2, min_column_width=_NARROWEST, gap="medium"):
        for training in reversed([one for one in trainings if one in at_once]):
            card(session, training, letters, lambda id: _toggle(session, id, letters))
    earlier = others[room:]
    more = gettext("{count:,} more", count=len(earlier))
    if earlier and st.toggle(more, key="train-earlier"):
        with st.grid(2, min_column_width=_NARROWEST, gap="medium"):
            for training in earlier:
                card(session, training, letters, lambda id: _toggle(session, id, letters))


def select(trainings: Sequence[Training], wanted: Sequence[str] | None) -> dict[str, Training]:
    """The trainings in the charts, oldest first, by letter.

    A letter, and so a colour, stays with its training while newer ones begin.

    Args:
        trainings: newest first.
        wanted: the first digits of their ids; None for the latest that have something to show.
    """
    ages = {training.id: age for age, training in enumerate(reversed(trainings))}
    if wanted is None:
        found = [one for one in trainings if one.epochs or one.state not in _LOST]
    else:
        found = [one for one in trainings if one.id.startswith(tuple(wanted))]
    free = list(LETTERS)
    letters: dict[str, Training] = {}
    for training in reversed(found[:MOST_SHOWN]):
        usual = LETTERS[ages[training.id] % len(LETTERS)]
        letter = usual if usual in free else free[0]
        free.remove(letter)
        letters[letter] = training
    return dict(sorted(letters.items()))


def _toggle(session: Session[Train], id: str, letters: Mapping[str, str]) -> None:
    ids = [one for one in letters if one != id] if id in letters else [*letters, id]
    session.change(replace(session.view, shown=tuple(one[:ID_DIGITS] for one in ids)))


PAGE = Page(
    name="training",
    title="Train",
    explanation="One model, several scorings, the same sentences: each learns before your eyes, "
    "and what it learned can be kept for the Translation page.",
    link=LINK,
    controls=_controls,
    formulas=formulas,
    results=_results,
    panels=2,
    height=_HEIGHT,
)
