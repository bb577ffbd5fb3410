"""Alignment: do trained translation models look where gold word alignments say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.engine.protocol import Event
from dashboard.pages import parts
from dashboard.pages.alignment_controls import browse, choices, own_pair, ranking, said
from dashboard.pages.alignment_panel import HEIGHT, compared, export_menu, pair_map, rates
from dashboard.pages.figures import legend, translation_height
from dashboard.pages.translation_panel import choose_panels, nothing_trained, origin
from dashboard.runs.alignment_link import (
    OWN,
    Alignment,
    alignment_request,
    format_alignment,
    parse_alignment,
)
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import resolve, untrained
from dashboard.state import Visit, read_link, visit, write_link

_USUAL_PANELS = 2
_USUAL_PAIR = "a pair of some seven words ."
_LESS = 60  # px, that a pair needs less than a translation: its words are not in the panel


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Alignment",
        "Sentence pairs whose word links are known, gold, that none of these models has learned. "
        "Does each French word look at the English word that it stands for?",
    )
    catalogue = parts.catalogue_or_wait(_USUAL_PANELS, HEIGHT)
    if catalogue is None:
        return
    if not catalogue.checkpoints:
        parts.actions(buttons, {}, catalogue)
        nothing_trained()
        return
    here = visit("alignment")
    read_link(here, catalogue, parse_alignment, format_alignment)
    problems = st.empty()
    view = choices(here, catalogue)
    view = own_pair(here, view) if view.gold == OWN else view
    way = st.container(gap="xsmall", key="alignment-way")
    words, scale = st.columns([5, 1], vertical_alignment="center", gap="medium")
    with scale:
        legend(1.0)
    slots, panels = choose_panels(here, catalogue, view.corpus, "alignment")
    fresh = here.fresh
    here.settle(replace(view, panels=panels))
    shown = _checkpoints(here.view, catalogue)
    scores = {
        letter: alignment_request(here.view, one, shown.values()) for letter, one in shown.items()
    }
    with way:
        step = browse(here, fresh) if here.view.gold != OWN else None
    pairs = {
        letter: alignment_request(here.view, one, shown.values(), here.view.pair)
        for letter, one in shown.items()
    }
    here.jobs.want([*scores.values(), *pairs.values()])
    here.jobs.wait(parts.PATIENCE)
    scored, seen = _done(here, scores), _done(here, pairs)
    ranked = ranking(scored.values())
    with words:
        said(here.view, ranked, next(iter(seen.values()), None))
    if step:
        step(ranked, next(iter(seen.values()), None))
    height = _pair_height(seen)
    refused = _refused(here, [*scores.values(), *pairs.values()])
    if refused:
        with words:
            parts.failure(refused, "alignment-refused")
    for letter, slot, panel in zip(LETTERS, slots, panels, strict=False):
        if letter in shown:
            with slot.export:
                export_menu(here, letter, scored.get(letter), seen.get(letter))
        with slot.result:
            if letter not in shown:
                sentence = untrained(catalogue, view.corpus, panel)
                parts.absent(sentence, HEIGHT, f"panel-{letter}-result")
                continue
            if not refused:
                _panel(here, letter, scores, pairs, height)
            st.caption(origin(shown[letter]))
    if scored:
        compared(here.view, catalogue, {letter: shown[letter] for letter in scored}, scored)
    link = format_alignment(here.view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)


def _checkpoints(view: Alignment, catalogue: Catalogue) -> dict[str, Checkpoint]:
    """What the panels mean, as far as it is here."""
    found = {
        letter: resolve(catalogue, view.corpus, panel)
        for letter, panel in zip(LETTERS, view.panels, strict=False)
    }
    return {letter: checkpoint for letter, checkpoint in found.items() if checkpoint}


def _done(here: Visit, requests: Mapping[str, Request]) -> dict[str, Result]:
    events = {letter: here.jobs.final(request) for letter, request in requests.items()}
    return {letter: event.result for letter, event in events.items() if event and event.result}


def _refused(here: Visit, requests: Sequence[Request]) -> Event | None:
    """What all panels refuse with one sentence: it is about the pairs, and is said once."""
    events = [here.jobs.final(request) for request in requests]
    notes = {event.note if event and event.facts.get("refused") else "" for event in events}
    return events[0] if len(notes) == 1 and "" not in notes else None


def _panel(
    here: Visit,
    letter: str,
    scores: Mapping[str, Request],
    pairs: Mapping[str, Request],
    height: int,
) -> None:
    """The rates of a panel's heads, and below them the pair that is shown."""
    score, pair = scores[letter], pairs[letter]

    def map_of(result: Result) -> None:
        # Asked anew each time: this is drawn again, by itself, while other panels still work.
        scored, seen = _done(here, scores), _done(here, pairs)
        pair_map(here, letter, pair, result, scored.get(letter), list(seen.values()))

    parts.results(
        here.jobs, score, lambda result: rates(here, letter, score, result), HEIGHT,
        f"panel-{letter}-rates",
    )  # fmt: skip
    parts.results(here.jobs, pair, map_of, height, f"panel-{letter}-pair", grows=True)


def _pair_height(seen: Mapping[str, Result]) -> int:
    return translation_height(_USUAL_PAIR, list(seen.values()), "cross") - _LESS
