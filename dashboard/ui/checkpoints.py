"""Trained models on a page: a select box for each panel, their names, where they are from."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.language import gettext, translated
from dashboard.links import panels
from dashboard.links.fields import MOST_PANELS, Choice, Text
from dashboard.links.fits import references
from dashboard.links.link import View
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.text import with_unit
from dashboard.records.training import explained, parts_of, said
from dashboard.ui import layout, shown
from dashboard.ui.fields import draw_choice
from dashboard.ui.layout import checkpoint_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, picked, place, plain

_SAID = beside(__file__, "words.toml")["checkpoints"]
_CORPUS_WIDTH = 220  # px
_TRAIN = (
    "python -m attention_plugins train --corpus phrasebook --scoring additive "
    "--output trained/bahdanau-additive-phrasebook"
)


class PanelPlaces(NamedTuple):
    """Where in a panel things go that come after its controls were read."""

    export: DeltaGenerator
    result: shown.Place


def nothing_trained(catalogue: Catalogue) -> bool:
    """How to train a first model, where there is no checkpoint; whether that is so."""
    if catalogue.of_kind():
        return False
    title, icon = gettext("No trained model yet"), ":material/model_training:"
    return say_how("nothing-trained", icon, title, gettext(_SAID["nothing"]), _TRAIN)


def say_how(key: str, icon: str, title: str, text: str, command: str) -> bool:
    """What is not there yet, and the command that makes it; True, as a page is then empty."""
    with st.container(border=True, key=key):
        st.markdown(f"{icon} **{title}**")
        st.text(text)
        st.code(command, language="bash", wrap_lines=True)
    return True


def draw_corpus(
    session: Session[View], field: Choice[View], known: Iterable[Checkpoint] = ()
) -> bool:
    """The choice of what checkpoints that translate were trained on; whether it just changed."""
    before = field.of(session.view)
    if len(session.catalogue.corpora()) > 1 and not panels.one_kind(known):
        draw_choice(session, field, titles=session.catalogue.corpus_title, width=_CORPUS_WIDTH)
    return field.of(session.view) != before


def draw_examples(
    session: Session[Any], text: Text[Any], target: Text[Any] | None = None,
    sentences: Sequence[str] | None = None, known: Sequence[Checkpoint] = (),
) -> None:  # fmt: skip
    """Sentences to start with; a click on one replaces the text and empties the target.

    Unless given, they are the corpus's, or where decoders or encoders are ``known``, of these.
    """
    if sentences is None and panels.one_kind(known):
        sentences = next(filter(None, (one.examples for one in known)), ())
    elif sentences is None:
        sentences = panels.examples_of(session.catalogue, session.view.corpus)
    if not sentences:
        return
    key = session.key("examples")
    given, emptied = text.of(session.view), {target.name: ""} if target else {}
    st.pills(
        gettext("Examples"), sentences, format_func=plain, label_visibility="collapsed",
        key=place(key, given if given in sentences else None, fresh=True),
        on_change=picked(key, lambda one: session.change(**{text.name: one, **emptied})),
    )  # fmt: skip


def draw_panels(
    session: Session[panels.View], *, formulas: bool = True,
    without: Callable[[panels.View, str], panels.View] = panels.without_panel,
    offered: Mapping[str, Checkpoint] | None = None,
) -> dict[str, PanelPlaces]:  # fmt: skip
    """Each panel's checkpoint, without its formula if not ``formulas``; places, by letter.

    What is ``offered`` are those of the view's corpus unless others are given.
    """
    catalogue, held = session.catalogue, session.view.by_letter
    names = references(catalogue, session.view.corpus) if offered is None else offered
    places: dict[str, PanelPlaces] = {}
    chosen: list[str] = []

    def remove(letter: str) -> None:
        session.change(without(session.view, letter))

    with layout.grid(len(held)):
        for letter, panel in held.items():
            with shown.container(key=f"panel-{letter}", gap="small"):
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    layout.badge(letter)
                    name = choose(
                        gettext("Model of panel {letter}", letter=letter), list(names), panel,
                        session.key(letter), session.fresh, label_visibility="collapsed",
                        format_func=lambda one: checkpoint_title(one, names.get(one), catalogue),
                    )  # fmt: skip
                    export = st.container(width="content")
                    if len(held) > 1:
                        layout.remove(letter, remove, letter)
                made_of = names.get(name)
                scoring = made_of and (made_of.typed or catalogue.scorings.get(made_of.scoring))
                if formulas and made_of and scoring:
                    layout.formula_of(letter, layout.layer_of(made_of, catalogue) or scoring)
                places[letter] = PanelPlaces(export, shown.container())
                chosen.append(name)
    session.update(panels=tuple(chosen))
    before, now = ([names[one] for one in of if one in names] for of in (held.values(), chosen))
    if panels.one_kind(before) != panels.one_kind(now):
        st.rerun()  # what is drawn above speaks of the former ones
    return places


def add_panel(session: Session[panels.View], offered: Iterable[str] | None = None) -> None:
    """The button that adds a panel, while there may be more; ``offered`` as of the panels."""
    known = references(session.catalogue, session.view.corpus) if offered is None else offered
    names = tuple(known)

    def add() -> None:
        view = session.view
        new = next((name for name in names if name not in view.panels), names[0])
        session.change(panels.with_panels(view, {**view.by_letter, view.free_letter: new}))

    if len(session.view.panels) < MOST_PANELS:
        st.button(gettext("Add a panel"), icon=":material/add:", on_click=add)


def draw_origin(checkpoint: Checkpoint, before: str = "") -> None:
    """``before``, then where the model is from, its held-out scores explained by a help text."""
    scores = () if checkpoint.adopted else checkpoint.card["scores"].values()
    found = next(filter(None, map(parts_of, scores)), {})
    shown.caption(before + origin(checkpoint), help=explained(found) or None)


def origin(checkpoint: Checkpoint) -> str:
    """What the model learned from, and how well it does on sentences that it never saw.

    A score has beside it those of sentences near the training set and far from it, and what
    copying would score. An adopted one says where it is from.
    """
    if adopted := checkpoint.adopted:
        where = plain(adopted["repository"] or checkpoint.name)
        if revision := adopted["revision"]:
            where = gettext("{repository} at {revision}", repository=where, revision=revision[:7])
        words = [
            gettext("trained elsewhere: {where}, with the Hugging Face library", where=where),
            gettext("its scoring is its own"), plain(translated(adopted["addition"])),
        ]  # fmt: skip
        return " · ".join(filter(None, words))
    corpus = checkpoint.card["corpus"]
    told = _SAID["texts"] if corpus.get("continues") else _SAID["pairs"]
    words = [gettext(told, count=corpus["trained_on"])]
    for name, score in checkpoint.card["scores"].items():
        if own := score.get("metric"):
            value = with_unit(f"{float(own['value']):.1f}", translated(own.get("unit", "")))
            words.append(_scored(plain(translated(own["title"])), plain(value), name, score))
        elif "bleu" in score:
            words.append(_scored("BLEU", f"{score['bleu']:.1f}", name, score))
        elif "nats" in score and "accuracy" in score:
            words.append(
                gettext(_SAID["tokens"], nats=score["nats"], share=score["accuracy"], of=_of(name))
            )
    return " · ".join(words)


def _scored(metric: str, value: str, name: str, score: Mapping[str, Any]) -> str:
    """A score with the set that it is of, and with its parts where these are known."""
    told = {"metric": metric, "value": value, "of": _of(name)}
    if parts := said(parts_of(score)):
        return gettext("{metric} {value} ({of}): {parts}", parts=parts, **told)
    return gettext("{metric} {value} ({of})", **told)


def _of(name: str) -> str:
    """What a score is of, as ``evaluate`` writes it into a card."""
    if name == "held out, greedy":
        return plain(gettext("held out, greedy"))
    if beam := re.fullmatch(r"held out, beam (\d+)", name):
        return plain(gettext("held out, beam {width}", width=beam[1]))
    return plain(gettext("held out") if name == "held out" else translated(name))
