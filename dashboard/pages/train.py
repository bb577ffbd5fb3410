"""Train: a model with several scorings on one corpus, watched while they learn.

Trainings belong to the server, not to a session: every tab shows the same ones, and a page that
was closed finds them again. Only the part below the setup looks at them repeatedly, while one of
them is at work; nothing else of the page is drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.controls import plain
from dashboard.pages import parts
from dashboard.pages.train_cards import ACTIVE, card
from dashboard.pages.train_figures import curves
from dashboard.pages.train_probe import probes
from dashboard.pages.train_setup import setup, start
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, shown
from dashboard.runs.train_link import MOST_SHOWN, SHORT, format_train, parse_train
from dashboard.runs.trainings import Training
from dashboard.state import Visit, read_link, visit, workbench, write_link

_POLL = 1.0  # seconds between two looks at the trainings
_HEIGHT = 420
_CARDS = 4  # shown besides those at work; the others on demand
_NARROWEST = 400  # px of a card
_LOST = ("failed", "cancelled")


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Train",
        "One model, several scorings, the same sentences: each learns before your eyes, and what "
        "it learned can be kept for the Translation page.",
    )
    catalogue = parts.catalogue_or_wait(2, _HEIGHT)
    if catalogue is None:
        return
    here = visit("train")
    read_link(here, catalogue, parse_train, format_train)
    problems = st.empty()
    here.settle(setup(here, catalogue))
    if start(here.view, catalogue):
        here.settle(replace(here.view, shown=None, epoch=0))
    link = format_train(here.view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    polling = _busy(workbench().trainings.list())

    def below() -> None:
        trainings = workbench().trainings.list()
        # A choice made below belongs into the link and the rest of the page.
        if here.fresh or _busy(trainings) != polling:
            st.rerun()
        _trainings(here, catalogue, trainings)

    st.fragment(run_every=_POLL if polling else None)(below)()


def _busy(trainings: Sequence[Training]) -> bool:
    return any(training.state in ACTIVE for training in trainings)


def _trainings(here: Visit, catalogue: Catalogue, trainings: Sequence[Training]) -> None:
    st.subheader("Trainings", anchor=False)
    if not trainings:
        _empty()
        return
    chosen = select(trainings, here.view.shown)
    _cards(here, catalogue, trainings, {one.id: letter for letter, one in chosen.items()})
    for wanted in here.view.shown or ():
        if not any(training.id.startswith(wanted) for training in trainings):
            st.caption(plain(f"No training {shown(wanted)} on this server."))
    if not chosen:
        st.caption("Choose “In the charts” on a card to see its learning curve.")
        return
    curves(chosen, catalogue)
    st.subheader("The probe sentence", anchor=False)
    probes(here, chosen, catalogue)


def _empty() -> None:
    with st.container(border=True, key="nothing-trained"):
        st.markdown(":material/model_training: **Nothing trained yet**")
        st.text(
            "Press “Train” above; everything is set so that it can start. Loss, speed and BLEU "
            "appear here while a model learns, below them the learning curves of all scorings in "
            "one chart, and where each looks while it translates the probe sentence."
        )


def _cards(
    here: Visit, catalogue: Catalogue, trainings: Sequence[Training], letters: Mapping[str, str]
) -> None:
    """Those at work first; the rest by age."""
    ordered = sorted(trainings, key=_rank)
    kept = [one for one in ordered if one.state in ACTIVE or one.id in letters]
    others = [one for one in ordered if one not in kept]
    room = max(0, _CARDS - len(kept))
    with st.grid(2, min_column_width=_NARROWEST, gap="medium"):
        for training in [*kept, *others[:room]]:
            card(here, training, catalogue, letters, lambda id: _toggle(here, id, letters))
    earlier = others[room:]
    if earlier and st.toggle(f"{len(earlier):,} more", key="train-earlier"):
        with st.grid(2, min_column_width=_NARROWEST, gap="medium"):
            for training in earlier:
                card(here, training, catalogue, letters, lambda id: _toggle(here, id, letters))


def _rank(training: Training) -> int:
    return 2 if training.state not in ACTIVE else int(training.state == "queued")


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


def _toggle(here: Visit, id: str, letters: Mapping[str, str]) -> None:
    ids = [one for one in letters if one != id] if id in letters else [*letters, id]
    here.change(replace(here.view, shown=tuple(one[:SHORT] for one in ids)))
