"""Heads: one trained model, one sentence; every head's health, and what changes without it."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard.charts import MapFrame
from dashboard.features.heads import switchboard as board
from dashboard.features.heads import view as heads
from dashboard.features.heads.outcome import answer, attention, health_card, outcome
from dashboard.features.heads.view import Heads, Only, Requests, head_name
from dashboard.language import gettext, gettext_noop, translated
from dashboard.links.fits import references, resolve, untrained
from dashboard.links.panels import one_kind, sides_of
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.interventions import KINDS, SWITCHED, Change, in_order
from dashboard.records.request import Request, Result
from dashboard.records.text import one_line
from dashboard.ui import export, layout, maps, results, shown
from dashboard.ui.checkpoints import draw_corpus, draw_examples, draw_origin, nothing_trained
from dashboard.ui.fields import draw_choice, draw_device
from dashboard.ui.layout import checkpoint_title
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.translations import KIND_TITLES, draw_sentences, follow_corpus, unknown_words
from dashboard.ui.widgets import choose, place, plain

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


def _requests(view: Heads, catalogue: Catalogue) -> Requests | None:
    """None without a sentence, or where the checkpoint is not here."""
    checkpoint = _checkpoint(view, catalogue)
    return heads.requests(view, checkpoint) if checkpoint and view.text else None


def _checkpoint(view: Heads, catalogue: Catalogue) -> Checkpoint | None:
    return resolve(catalogue, view.corpus, view.checkpoint)


def _controls(session: Session[Heads]) -> _Places | None:
    board.take_edits(session)
    with layout.row("heads-sentence"):
        before, held = session.view.corpus, _checkpoint(session.view, session.catalogue)
        known = [held] if held else []
        draw_sentences(session, known, heads.TEXT, heads.TARGET)
        if draw_corpus(session, heads.CORPUS, known):
            usual = heads.usual_checkpoint(session.catalogue, session.view.corpus)
            follow_corpus(session, before, checkpoint=usual, selected="")
        names = references(session.catalogue, session.view.corpus)
        chosen = choose(
            gettext("Model"), list(names), session.view.checkpoint, "heads-model", session.fresh,
            format_func=lambda name: checkpoint_title(name, names.get(name), session.catalogue),
            width=_MODEL_WIDTH,
        )  # fmt: skip
        session.update(checkpoint=chosen)
        _follow_kind(session, one_kind(known))
        draw_device(session, heads.DEVICE)
    draw_examples(session, heads.TEXT, heads.TARGET, known=known)
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
        _filters(session)
    shown.header(gettext("Maps"), anchor=_MAPS)
    shows = draw_choice(session, heads.SHOWS, width=_MODEL_WIDTH)
    if shows in heads.MEANINGS:
        shown.caption(gettext(heads.MEANINGS[shows]))
    return _Places(warnings, desk, found, menu)


def _follow_kind(session: Session[Heads], before: str) -> None:
    """Draw anew for a model that does something else with a text than the one before."""
    checkpoint = _checkpoint(session.view, session.catalogue)
    if checkpoint and one_kind([checkpoint]) != before:
        text = heads.usual_text(session.view, session.catalogue)
        session.change(text=text, target="", kind=one_kind([checkpoint]) or KINDS[0], selected="")
        st.rerun()


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
                maps.say_signed(bool(said.result.facts.get("signed")))
        with places.outcome:
            results.results(
                session.jobs, asked.changed, outcome, _OUTCOME, "heads-outcome", grows=True
            )
        title = checkpoint_title(view.checkpoint, checkpoint, session.catalogue)
        with places.menu:
            event = session.jobs.final(asked.figures)
            if event and event.result:
                what = export.Asked(asked.figures, heads.LINK.format(view, session.catalogue))
                called = gettext("Heads, {model}", model=title)
                board.export_menu(session, what, event.result, called)
            else:
                export.waiting("heads")
        with places.desk:
            _board(session, asked)
        _maps(session, asked)
        draw_origin(checkpoint, f"{plain(title)} · ")


def _board(session: Session[Heads], asked: Requests) -> None:
    """The heads: their figures and switches, what is wrong with them, their ablation effects."""

    def draw(result: Result) -> None:
        found = board.listed(session.view, result)
        shown.markdown(answer(result))
        board.switchboard(session, result, found)
        _pins(session, asked.unchanged)
        health_card(result)
        board.chart(result, found)

    results.results(session.jobs, asked.figures, draw, _BOARD, "heads-board", grows=True)


def _maps(session: Session[Heads], asked: Requests) -> None:
    view = session.view
    kind = KINDS[0] if view.kind == heads.EVERY_KIND else view.kind
    names = {asked.map: "before", asked.changed_map: "after"}
    if asked.changed == asked.unchanged:
        names = {asked.map: "before"}
    height = maps.translation_height(view.target or view.text, session.jobs.done(), kind)
    with layout.grid(2):
        for request, name in names.items():
            with shown.container():
                draw = partial(attention, session, kind=kind, name=name)
                results.results(
                    session.jobs, request, draw, height, f"heads-maps-{name}", grows=True
                )


_KIND_TITLES = {**KIND_TITLES, heads.EVERY_KIND: gettext_noop("All")}
_EVERY = ""
_SPECIAL = {_EVERY: gettext_noop("all heads"), **beside(__file__, "words.toml")["filters"]}
_SORT_TITLES = {**heads.FIGURE_TITLES, heads.PLACE: gettext_noop("Place in the model")}
_SIGNS = {"<": gettext_noop("at most"), ">": gettext_noop("at least")}
_BOUNDS = {
    "leave_one_out": ("<", -heads.NEEDED), "entropy": (">", 0.9), "eos": (">", 0.5),
    "concentration": (">", 0.75), "diagonality": (">", 0.75), "distance": ("<", 0.05),
    "padding": (">", 1e-6), "row_error": (">", 1e-3),
}  # fmt: skip
_SORT_WIDTH, _ONLY_WIDTH, _NUMBER_WIDTH = 190, 170, 130  # px


def _filters(session: Session[Heads]) -> None:
    with layout.row("heads-filters"):
        model = _checkpoint(session.view, session.catalogue)
        own, view = one_kind([model] if model else []), session.view
        # A decoder and an encoder have no other; None where the chosen one was clicked again.
        kind = own or st.segmented_control(
            gettext("Kind of attention"),
            heads.SHOWN_KINDS,
            key=place("heads-kind", view.kind, session.fresh),
            format_func=lambda name: gettext(_KIND_TITLES[name]),
        )
        if kind not in (None, view.kind):
            session.update(kind=kind, selected="")
        draw_choice(
            session, heads.SORT, width=_SORT_WIDTH,
            titles=lambda name: gettext(_SORT_TITLES[name]),
        )  # fmt: skip
        session.update(only=_only(session))


def _only(session: Session[Heads]) -> Only | None:
    held = session.view.only
    chosen = st.selectbox(
        gettext("Filter"), (_EVERY, heads.FINDING, heads.CHANGED, *heads.FIGURES),
        key=place("heads-only", held.figure if held else _EVERY, session.fresh),
        format_func=lambda name: gettext(_SPECIAL.get(name) or heads.FIGURE_TITLES[name]),
        width=_ONLY_WIDTH,
    )  # fmt: skip
    if chosen not in _BOUNDS:
        return Only(figure=chosen) if chosen else None
    known = held is not None and held.figure == chosen
    sign, number = (held.sign, held.number) if held and known else _BOUNDS[chosen]
    fresh = session.fresh and known
    sign = st.segmented_control(
        gettext("Condition"), tuple(_SIGNS), key=place(f"heads-sign-{chosen}", sign, fresh),
        format_func=lambda name: gettext(_SIGNS[name]),
    ) or sign  # fmt: skip
    number = st.number_input(
        gettext("Bound"), -heads.LARGEST, heads.LARGEST,
        key=place(f"heads-bound-{chosen}", number, fresh), step=0.05, format="%g",
        width=_NUMBER_WIDTH,
    )  # fmt: skip
    return Only(figure=chosen, sign=sign, number=round(number, 9))


Frames = Mapping[tuple[str, int], MapFrame]  # by kind, and layer as a reader counts


def _pins(session: Session[Heads], usual: Request) -> None:
    """What is pinned, each with a way to end it; a form for another pin of the usual words."""
    event = session.jobs.final(usual)
    known = maps.frames(event.result) if event and event.result else []
    frames = {(frame.kind, frame.layer + 1): frame for frame in known}

    def end(pin: Change) -> None:
        session.change(changes=tuple(change for change in session.view.changes if change != pin))

    with st.container(horizontal=True, gap="small", key="heads-pins"):
        if frames:
            with st.popover(gettext("Pin or patch"), icon=":material/push_pin:"):
                _form(session, frames)
        for pin in session.view.changes:
            if pin.action not in SWITCHED:
                st.button(
                    plain(_pin_label(pin, frames, session.view.other)), icon=":material/close:",
                    key=f"heads-{pin}", help=gettext("End this change"), on_click=end, args=(pin,),
                )  # fmt: skip


def _form(session: Session[Heads], frames: Frames) -> None:
    st.caption(gettext("In one row of a head, all weight goes to one word."))
    offered = [
        (*site, head)
        for site in sorted(frames, key=lambda site: (KINDS.index(site[0]), site[1]))
        for head in (None, *range(1, len(frames[site].weights) + 1))
    ]
    head = partial(st.selectbox, gettext("Head"), offered, 1, lambda one: _name(*one))
    kind, layer, _ = head(key="heads-pin-head")
    frame = frames[kind, layer]
    row = st.selectbox(
        gettext("Row: the word that looks"), range(len(frame.query_labels)),
        format_func=lambda i: f"{i}: {frame.query_labels[i]}", key=f"heads-pin-row-{kind}",
    )  # fmt: skip
    # A word being written sees those before it alone.
    last = row + 1 if kind == "decoder" else len(frame.key_labels)
    st.selectbox(
        gettext("Key: the word that it looks at"), range(last),
        format_func=lambda i: f"{i}: {frame.key_labels[i]}", key=f"heads-pin-key-{kind}",
    )  # fmt: skip
    st.button(gettext("Pin"), type="primary", on_click=_add, args=(session,), key="heads-pin-add")
    st.caption(gettext(heads.MEANINGS["patch"]))
    head(key="heads-patch-head")
    st.text_input(gettext("Other sentence"), session.view.other, key="heads-patch-other")
    st.button(gettext("Patch"), on_click=_patch, args=(session,), key="heads-patch-add")


def _patch(session: Session[Heads]) -> None:
    """Take the chosen head's output from the other sentence, as the form says now."""
    kind, layer, head = st.session_state["heads-patch-head"]
    patch = Change(action="patch", kind=kind, layer=layer, head=head)
    other = one_line(st.session_state["heads-patch-other"])
    session.change(changes=in_order((*session.view.changes, patch)), other=other)


def _add(session: Session[Heads]) -> None:
    """Pin what the form says now, which may be newer than what was drawn."""
    kind, layer, head = st.session_state["heads-pin-head"]
    row = st.session_state[f"heads-pin-row-{kind}"]
    key = st.session_state[f"heads-pin-key-{kind}"]
    if kind == "decoder":
        key = min(key, row)
    pin = Change(action="pin", kind=kind, layer=layer, head=head, row=row, key=key)
    session.change(changes=in_order((*session.view.changes, pin)))


def _pin_label(pin: Change, frames: Frames, other: str) -> str:
    name = _name(pin.kind, pin.layer, pin.head)
    if pin.action == "patch":
        return gettext("{head} from “{other}”", head=name, other=other)
    frame = frames.get((pin.kind, pin.layer))
    sides = (frame.query_labels, frame.key_labels) if frame else ((), ())
    row, key = (
        labels[at] if at is not None and at < len(labels) else str(at)
        for labels, at in zip(sides, (pin.row, pin.key), strict=True)
    )
    return gettext("{head}: {row} → {key}", head=name, row=row, key=key)


def _name(kind: str, layer: int, head: int | None) -> str:
    """What a head is called; None is all of its layer."""
    return head_name(kind, layer, head or gettext("all"))


PAGE = Page(
    name="heads", **beside(__file__, "words.toml")["heading"], link=heads.LINK, controls=_controls,
    requests=lambda view, catalogue: _requests(view, catalogue) or (), results=_results,
    empty=nothing_trained, panels=2, height=_BOARD,
)  # fmt: skip
