"""Heads: one trained model, one sentence; every head's health, and what changes without it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard.features.heads.listing import filters, pins
from dashboard.features.heads.outcome import answer, attention, health_card, outcome
from dashboard.features.heads.switchboard import chart, export_menu, switchboard, take_edits
from dashboard.features.heads.view import (
    CORPUS,
    DEVICE,
    EVERY_KIND,
    LINK,
    TARGET,
    TEXT,
    Heads,
    changed_request,
    heads_request,
    unchanged_request,
    usual_checkpoint,
)
from dashboard.language import gettext, translated
from dashboard.links.fits import references, resolve, untrained
from dashboard.links.panels import examples_of, following, sides_of
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request, Result
from dashboard.ui import export, layout, maps, results, shown
from dashboard.ui.checkpoints import (
    draw_corpus,
    draw_examples,
    draw_origin,
    nothing_trained,
)
from dashboard.ui.fields import draw_device
from dashboard.ui.layout import checkpoint_title
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.translations import draw_sentences, show_sentences, unknown_words
from dashboard.ui.widgets import choose, plain

_MAPS = "maps"  # where a link on the page leads
_OUTCOME, _BOARD = 100, 560  # px
_MODEL_WIDTH = 260


class _Places(NamedTuple):
    """Where things go that come after the choices below them were read.

    The outcome stays in sight while the desk, which holds it, is scrolled.
    """

    warnings: shown.Place
    desk: shown.Place
    outcome: shown.Place
    menu: shown.Place


class _Requests(NamedTuple):
    """What workers are asked for: two translations, and the figures of every head."""

    unchanged: Request
    changed: Request
    figures: Request


def _requests(view: Heads, catalogue: Catalogue) -> _Requests | None:
    """None without a sentence, or where the checkpoint is not here."""
    checkpoint = _checkpoint(view, catalogue)
    if checkpoint is None or not view.text:
        return None
    return _Requests(
        unchanged_request(view, checkpoint),
        changed_request(view, checkpoint),
        heads_request(view, checkpoint),
    )


def _checkpoint(view: Heads, catalogue: Catalogue) -> Checkpoint | None:
    return resolve(catalogue, view.corpus, view.checkpoint)


def _controls(session: Session[Heads]) -> _Places | None:
    """Which model, which sentence, which heads; the places, if there is anything to show."""
    take_edits(session)
    with layout.row("heads-sentence"):
        before, known = session.view.corpus, _checkpoint(session.view, session.catalogue)
        draw_sentences(
            session, sides_of(session.catalogue, [known] if known else []), TEXT, TARGET
        )
        if draw_corpus(session, CORPUS):
            view = session.view
            usual = usual_checkpoint(session.catalogue, view.corpus)
            text, target = following(
                session.catalogue, before, view.corpus, view.text, view.target
            )
            usual_view = replace(view, checkpoint=usual, selected="")
            show_sentences(session, replace(usual_view, text=text, target=target))
        _model(session)
        draw_device(session, DEVICE)
    draw_examples(session, TEXT, TARGET, examples_of(session.catalogue, session.view.corpus))
    if _requests(session.view, session.catalogue) is None:
        return None
    warnings = shown.container(gap="small")
    desk = shown.container(key="heads-desk")
    with desk:
        found = shown.container(key="heads-said")
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
        ):
            shown.header(gettext("Change heads"))
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                # The way to the weights by keyboard leads past the table, column by column.
                st.markdown(f"[{gettext('To the maps')}](#{_MAPS})", width="content")
                menu = shown.container(width="content")
        filters(session)
    return _Places(warnings, desk, found, menu)


def _model(session: Session[Heads]) -> None:
    names = references(session.catalogue, session.view.corpus)
    chosen = choose(
        gettext("Model"),
        list(names),
        session.view.checkpoint,
        "heads-model",
        session.fresh,
        format_func=lambda name: checkpoint_title(name, names.get(name), session.catalogue),
        width=_MODEL_WIDTH,
    )
    session.update(checkpoint=chosen)


def _results(session: Session[Heads], places: _Places | None) -> None:
    view = session.view
    checkpoint, asked = _checkpoint(view, session.catalogue), _requests(view, session.catalogue)
    if checkpoint is None:
        sentence = untrained(session.catalogue, view.corpus, view.checkpoint)
        results.absent(translated(sentence), _OUTCOME, "heads-absent")
    elif asked is None or places is None:
        shown.caption(
            gettext("The sentence is empty: write one above, and its heads appear here.")
        )
    else:
        said = session.jobs.final(asked.unchanged)
        if said and said.result:
            with places.warnings:
                unknown_words(said.result, sides_of(session.catalogue, [checkpoint]))
        with places.outcome:
            results.results(
                session.jobs, asked.changed, outcome, _OUTCOME, "heads-outcome", grows=True
            )
        with places.menu:
            _export(session, asked.figures)
        with places.desk:
            _board(session, asked)
        _maps(session, asked)
        title = checkpoint_title(view.checkpoint, checkpoint, session.catalogue)
        draw_origin(checkpoint, f"{plain(title)} · ")


def _export(session: Session[Heads], request: Request) -> None:
    event = session.jobs.final(request)
    if event is None or event.result is None:
        export.waiting("heads")
    else:
        export_menu(session, request, event.result, LINK.format(session.view, session.catalogue))


def _board(session: Session[Heads], asked: _Requests) -> None:
    """The heads: their figures and switches, what is wrong with them, their ablation effects."""

    def draw(result: Result) -> None:
        shown.markdown(answer(result))
        left, right = shown.columns([5, 3], gap="medium")
        with left:
            switchboard(session, result)
            pins(session, asked.unchanged)
        with right:
            health_card(result)
        chart(session, result)

    results.results(session.jobs, asked.figures, draw, _BOARD, "heads-board", grows=True)


def _maps(session: Session[Heads], asked: _Requests) -> None:
    """The maps of the kind that the page shows, without and with the changes."""
    view = session.view
    kind = KINDS[0] if view.kind == EVERY_KIND else view.kind
    shown.header(gettext("Maps"), anchor=_MAPS)
    names = {asked.unchanged: "before"}
    if asked.changed != asked.unchanged:
        names[asked.changed] = "after"
    height = maps.translation_height(view.target or view.text, session.jobs.done(), kind)
    with layout.grid(2):
        for request, name in names.items():
            with shown.container():
                results.results(
                    session.jobs,
                    request,
                    partial(attention, session, kind=kind, name=name),
                    height,
                    f"heads-maps-{name}",
                    grows=True,
                )


PAGE = Page(
    name="heads",
    title="Heads",
    explanation="One model, one sentence: where each head looks, and what the model says without "
    "it.",
    link=LINK,
    controls=_controls,
    requests=lambda view, catalogue: _requests(view, catalogue) or (),
    results=_results,
    empty=nothing_trained,
    panels=2,
    height=_BOARD,
)
