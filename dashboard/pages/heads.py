"""Heads: one trained model, one sentence; every head's health, and what changes without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from dashboard.controls import choose, place, plain
from dashboard.pages import export, figures, parts
from dashboard.pages.heads_health import health_card
from dashboard.pages.heads_listing import filters
from dashboard.pages.heads_outcome import attention, outcome
from dashboard.pages.heads_pins import pins
from dashboard.pages.heads_switchboard import chart, export_menu, switchboard, take_edits
from dashboard.pages.translation_panel import origin, title_of
from dashboard.runs.changes import KINDS
from dashboard.runs.heads_link import (
    EVERY_KIND,
    Heads,
    changed_request,
    default_heads,
    format_heads,
    heads_request,
    parse_heads,
    unchanged_request,
)
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import reference, resolve, untrained
from dashboard.state import Visit, read_link, visit, write_link

_OUTCOME, _BOARD = 150, 560  # px
_CORPUS_WIDTH, _MODEL_WIDTH = 150, 260
_EXAMPLES = ("i'm home .", "he's calm .", "i lost .", "would you like a cup of tea ?")


class _Places(NamedTuple):
    """Where things go that come after the choices below them were read."""

    outcome: Any
    menu: Any


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Heads",
        "One model, one sentence. How does every head look, and what does the model say "
        "without it?",
    )
    catalogue = parts.catalogue_or_wait(2, _BOARD)
    if catalogue is None:
        return
    here = visit("heads")
    read_link(here, catalogue, parse_heads, format_heads)
    take_edits(here)
    problems = st.empty()
    here.settle(_controls(here, catalogue))
    checkpoint = resolve(catalogue, here.view.corpus, here.view.checkpoint)
    places = _layout(here) if checkpoint and here.view.text else None
    link = format_heads(here.view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    if checkpoint is None:
        sentence = untrained(catalogue, here.view.corpus, here.view.checkpoint)
        parts.absent(sentence, _OUTCOME, "heads-absent")
    elif places is None:
        st.caption("The sentence is empty: write one above, and its heads appear here.")
    else:
        title = title_of(catalogue, checkpoint, here.view.checkpoint)
        with places.outcome:
            st.caption(f"{plain(title)} · {origin(checkpoint)}")
        _answers(here, checkpoint, places, link)


def _controls(here: Visit, catalogue: Catalogue) -> Heads:
    """Which model, which sentence."""
    view: Heads = here.view
    with parts.row("heads-sentence"):
        text = st.text_input(
            "English sentence",
            key=place("heads-text", view.text, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="A sentence to translate",
        )
        target = st.text_input(
            "Force this translation",
            key=place("heads-target", view.target, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="optional: French words",
            help="Heads are then judged by how likely the model finds these words.",
        )
        corpora = catalogue.corpora()
        corpus = view.corpus
        if len(corpora) > 1:
            corpus = choose(
                "Trained on", corpora, view.corpus, "heads-corpus", here.fresh,
                width=_CORPUS_WIDTH,
            )  # fmt: skip
        if corpus != view.corpus:
            usual = default_heads(catalogue, corpus)
            here.change(replace(view, corpus=corpus, checkpoint=usual.checkpoint, spot=""))
            view = here.view
        checkpoint = _model(here, catalogue)
        device = parts.device(catalogue, view.device, "heads-device", here.fresh)
    st.pills(
        "Examples",
        _EXAMPLES,
        key=place("heads-examples", text if text in _EXAMPLES else None, fresh=True),
        on_change=_use_example,
        args=(here,),
        label_visibility="collapsed",
    )
    return replace(
        view, text=tidy(text), target=tidy(target), checkpoint=checkpoint, device=device
    )


def _use_example(here: Visit) -> None:
    sentence = st.session_state["heads-examples"]
    if sentence is not None:
        here.change(replace(here.view, text=sentence, target=""))


def _model(here: Visit, catalogue: Catalogue) -> str:
    view: Heads = here.view
    names = {reference(catalogue, entry): entry for entry in catalogue.readers(view.corpus)}
    return choose(
        "Model",
        list(names),
        view.checkpoint,
        "heads-model",
        here.fresh,
        title=lambda name: title_of(catalogue, names.get(name), name),
        width=_MODEL_WIDTH,
    )


def _layout(here: Visit) -> _Places:
    """The places of the answers, and the choices between them."""
    found = st.container(gap="small")
    title, buttons = st.columns([5, 2], vertical_alignment="bottom")
    title.subheader("Switchboard", anchor=False)
    menu = buttons.container(horizontal=True, horizontal_alignment="right")
    here.settle(filters(here))
    return _Places(found, menu)


def _answers(
    here: Visit, checkpoint: Checkpoint, places: _Places, link: Mapping[str, str]
) -> None:
    """The translation with and without changes, the heads, the maps."""
    view: Heads = here.view
    wanted = heads_request(view, checkpoint)
    usual, changed = unchanged_request(view, checkpoint), changed_request(view, checkpoint)
    here.jobs.want([usual, changed, wanted])
    here.jobs.wait(parts.PATIENCE)
    with places.outcome:
        parts.results(here.jobs, changed, outcome, _OUTCOME, "heads-outcome", grows=True)

    with places.menu, st.container(width="content"):
        event = here.jobs.final(wanted)
        if event is None or event.result is None:
            export.waiting("heads")
        else:
            export_menu(here, wanted, event.result, link)

    def board(result: Result) -> None:
        left, right = st.columns([5, 3], gap="medium")
        with left:
            switchboard(here, wanted, result)
            pins(here, usual)
        with right:
            health_card(result)
        chart(here, wanted, result)

    parts.results(here.jobs, wanted, board, _BOARD, "heads-board", grows=True)
    _maps(here, usual, changed)


def _maps(here: Visit, usual: Request, changed: Request) -> None:
    """The maps of the kind that the page shows, without and with the changes."""
    view: Heads = here.view
    kind = KINDS[0] if view.kind == EVERY_KIND else view.kind
    st.subheader("Maps", anchor=False)
    names = {usual: "before"} | ({changed: "after"} if changed != usual else {})
    height = figures.translation_height(view.target or view.text, here.jobs.done(), kind)
    with parts.grid(2):
        for request, name in names.items():
            with st.container():
                parts.results(
                    here.jobs,
                    request,
                    lambda result, request=request, name=name: attention(
                        here, request, result, kind, name
                    ),
                    height,
                    f"heads-maps-{name}",
                )
