"""Alignment: do trained translation models look where gold word alignments say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from dashboard.features.alignment.controls import browse, choices, ranking, said, steps
from dashboard.features.alignment.panel import HEIGHT, compared, export_menu, pair_map, rates
from dashboard.features.alignment.view import (
    LINK,
    MOST_PAIRS,
    OWN,
    Alignment,
    alignment_work,
    pair_requests,
    score_requests,
    scored_pairs,
)
from dashboard.jobs.backend import Event
from dashboard.language import gettext
from dashboard.links.fits import untrained
from dashboard.links.panels import checkpoints_of
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import results, shown
from dashboard.ui.charts import legend
from dashboard.ui.checkpoints import PanelPlaces, draw_origin, draw_panels, nothing_trained
from dashboard.ui.maps import translation_height
from dashboard.ui.page import Page
from dashboard.ui.session import Session

_USUAL_PANELS = 2
_USUAL_PAIR = "a pair of some seven words ."
_LESS = 60  # px, that a pair needs less than a translation: its words are not in the panel


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    steps: DeltaGenerator | None
    words: shown.Place
    panels: dict[str, PanelPlaces]


class _Requests(NamedTuple):
    """What workers are asked for, each by the letter of its panel."""

    scores: Mapping[str, Request]
    pairs: Mapping[str, Request]

    def every(self) -> list[Request]:
        """The scores, then the pairs."""
        return [*self.scores.values(), *self.pairs.values()]


def _requests(view: Alignment, catalogue: Catalogue) -> _Requests:
    return _Requests(score_requests(view, catalogue), pair_requests(view, catalogue))


def _controls(session: Session[Alignment]) -> _Places:
    choices(session)
    way = shown.container(gap="xsmall", key="alignment-way")
    words, scale = shown.columns([5, 1], vertical_alignment="center", gap="medium")
    with scale:
        legend(1.0)
    panels = draw_panels(session)
    with way:
        browsing = browse(session) if session.view.gold != OWN else None
    return _Places(browsing, words, panels)


def _results(session: Session[Alignment], places: _Places) -> None:
    view = session.view
    asked, here = _requests(view, session.catalogue), checkpoints_of(view, session.catalogue)
    scored, seen = _done(session, asked.scores), _done(session, asked.pairs)
    refused = _refused(session, asked.every())
    _pair(session, places, scored, seen)
    if refused:
        with places.words:
            results.failure(refused, "alignment-refused")
    for letter, panel in view.by_letter.items():
        place = places.panels[letter]
        with place.export:
            if letter in here:
                export_menu(session, letter, scored.get(letter), seen.get(letter))
        with place.result:
            if letter not in here:
                sentence = untrained(session.catalogue, view.corpus, panel)
                results.absent(sentence, HEIGHT, f"panel-{letter}-result")
                continue
            if not refused:
                _panel(session, letter, asked)
            draw_origin(here[letter])
    if scored:
        compared(view, session.catalogue, scored)


def _pair(
    session: Session[Alignment],
    places: _Places,
    scored: Mapping[str, Result],
    seen: Mapping[str, Result],
) -> None:
    """The pair in words, and the ways to others."""
    ranked, first = ranking(scored.values()), next(iter(seen.values()), None)
    with places.words:
        said(session.view, ranked, first)
    if places.steps:
        available = first.facts["available"] if first else MOST_PAIRS
        with places.steps:
            steps(session, ranked, available)


def _done(session: Session[Alignment], requests: Mapping[str, Request]) -> dict[str, Result]:
    events = {letter: session.jobs.final(request) for letter, request in requests.items()}
    return {letter: event.result for letter, event in events.items() if event and event.result}


def _refused(session: Session[Alignment], requests: Sequence[Request]) -> Event | None:
    """What all panels refuse with one sentence: it is about the pairs, and is said once."""
    events = [session.jobs.final(request) for request in requests]
    notes = {event.note if event and event.facts.get("refused") else "" for event in events}
    return events[0] if len(notes) == 1 and "" not in notes else None


def _panel(session: Session[Alignment], letter: str, asked: _Requests) -> None:
    """The rates of a panel's heads, and below them the pair that is shown."""

    def draw_map(result: Result) -> None:
        # Asked anew each time: this is drawn again, by itself, while other panels still work.
        scored, seen = _done(session, asked.scores), _done(session, asked.pairs)
        pair_map(session, letter, result, scored.get(letter), list(seen.values()))

    results.results(
        session.jobs, asked.scores[letter], lambda result: rates(session, letter, result), HEIGHT,
        f"panel-{letter}-rates",
    )  # fmt: skip
    seen = list(_done(session, asked.pairs).values())
    height = translation_height(_USUAL_PAIR, seen, "cross") - _LESS
    results.results(
        session.jobs, asked.pairs[letter], draw_map, height, f"panel-{letter}-pair", grows=True
    )


def _offer(requests: Sequence[Request]) -> str:
    pairs = max(map(scored_pairs, requests))
    if len(requests) == 1:
        return gettext("Align {pairs:,} pairs", pairs=pairs)
    return gettext("Align {pairs:,} pairs with {models} models", pairs=pairs, models=len(requests))


PAGE = Page(
    name="alignment",
    title="Alignment",
    explanation="Sentence pairs with gold word alignments, on which none of these models was "
    "trained. Does each target word look at the source word that it translates?",
    link=LINK,
    controls=_controls,
    requests=lambda view, catalogue: _requests(view, catalogue).every(),
    work=alignment_work,
    offer=_offer,
    results=_results,
    empty=nothing_trained,
    panels=_USUAL_PANELS,
    height=HEIGHT,
)
