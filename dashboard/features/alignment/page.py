"""Alignment: do trained translation models look where gold word alignments say?"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.features.alignment import view as alignment
from dashboard.features.alignment.panel import HEIGHT, compared, export_menu, pair_map, rates
from dashboard.features.alignment.view import Alignment
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.links.fits import translators, untrained
from dashboard.links.panels import NEUTRAL, checkpoints_of, sides_of
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import checkpoints, layout, results, shown, upload
from dashboard.ui.charts import legend
from dashboard.ui.fields import draw_choice, draw_device, draw_setting, draw_text
from dashboard.ui.maps import are_signed, translation_height
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place, plain

_SAID = beside(__file__, "words.toml")["page"]

_GOLD_WIDTH, _NUMBER_WIDTH, _PAIR_WIDTH = 260, 140, 120  # px
_ORDERS = {"number": gettext_noop("In order"), "worst": gettext_noop("Worst first")}
_STEPS = {"previous": gettext_noop("Previous"), "next": gettext_noop("Next")}


class Ranked(NamedTuple):
    """A scored pair, and its error averaged over the best heads of the panels."""

    number: int
    error: float


def choices(session: Session[Alignment]) -> None:
    """Which models' corpus, whose gold, how many pairs; the pair by hand where that is gold."""
    with layout.row("alignment-what"):
        if checkpoints.draw_corpus(session, alignment.CORPUS):
            session.change(alignment.default_view(session.catalogue, session.view.corpus))
        before = session.view.gold
        draw_choice(
            session, alignment.GOLD, more=upload.known(before, upload.ALIGNED),
            titles=lambda name: _gold_title(name, session.catalogue), width=_GOLD_WIDTH,
        )  # fmt: skip
        if session.view.gold != alignment.OWN:
            draw_setting(session, alignment.COUNT, width=_NUMBER_WIDTH)
        draw_device(session, alignment.DEVICE)
        upload.button(lambda file: session.change(gold=file, pair=1), upload.ALIGNED)
    if session.view.gold != before and session.view.pair != 1:
        session.change(pair=1)
    if session.view.gold == alignment.OWN:
        here = checkpoints_of(session.view, session.catalogue).values()
        sides = sides_of(session.catalogue, here)
        with layout.row("alignment-own"):
            for field, side in zip_longest(alignment.OWN_PAIR, () if sides == NEUTRAL else sides):
                title = gettext(field.title)
                if side:
                    title = gettext("{field}: {language}", field=title, language=translated(side))
                draw_text(session, replace(field, title=title))


def _gold_title(name: str, catalogue: Catalogue) -> str:
    if name == alignment.OWN:
        return gettext("One pair of your own")
    if name in catalogue.datasets:
        return catalogue.datasets[name].title
    return upload.title(name, upload.ALIGNED)


def ranking(scored: Iterable[Result]) -> list[Ranked]:
    """The scored pairs, those first that the models get most wrong."""
    rates: dict[int, list[float]] = {}
    for result in scored:
        table = result.tables["pairs"]
        numbers, errors = table["number"].to_pylist(), table["error_rate"].to_pylist()
        for number, error in zip(numbers, errors, strict=True):
            rates.setdefault(number, []).append(error)
    found = [Ranked(number, sum(errors) / len(errors)) for number, errors in rates.items()]
    return sorted(found, key=lambda one: (-one.error, one.number))


def steps(session: Session[Alignment], ranked: Sequence[Ranked], available: int) -> None:
    """The ways to the pair before and after, of so many that there are."""
    view = session.view
    numbers = neighbours(view, ranked, available)
    for name, icon, number in zip(_STEPS, ("chevron_left", "chevron_right"), numbers, strict=True):
        st.button(
            gettext(_STEPS[name]), icon=f":material/{icon}:", key=f"alignment-{name}",
            disabled=number is None, on_click=lambda number=number: session.change(pair=number),
        )  # fmt: skip

    def order() -> None:
        chosen = st.session_state["alignment-order"]
        if chosen is None:  # the chosen one was clicked again
            session.change(session.view)
        elif chosen == "worst" and ranked:
            session.change(order=chosen, pair=ranked[0].number)
        else:
            session.change(order=chosen)

    st.segmented_control(
        gettext("Order"), alignment.ORDERS, key=place("alignment-order", view.order, fresh=True),
        format_func=lambda order: gettext(_ORDERS[order]), on_change=order,
        label_visibility="collapsed",
    )  # fmt: skip


def neighbours(
    view: Alignment, ranked: Sequence[Ranked], available: int
) -> tuple[int | None, int | None]:
    """The pairs before and after the one that is shown, in the view's order."""
    if view.order == alignment.ORDERS[0]:
        pair = min(view.pair, available + 1)
        return (pair - 1 if pair > 1 else None), (pair + 1 if pair < available else None)
    numbers = [one.number for one in ranked]
    if view.pair not in numbers:
        return None, next(iter(numbers), None)
    at = numbers.index(view.pair)
    before = numbers[at - 1] if at else None
    return before, (numbers[at + 1] if at + 1 < len(numbers) else None)


def said(view: Alignment, ranked: Sequence[Ranked], result: Result | None) -> None:
    """The pair in words, where it stands among the others, and what a gold frame means."""
    if result is None:
        return
    facts = result.facts
    shown.markdown(f"**{plain(facts['source'])}** → **{plain(facts['target'])}**")
    if view.gold == alignment.OWN:
        source, target = (  # the tokens as links count them
            " · ".join(f"{number} {plain(token)}" for number, token in enumerate(tokens[:-1]))
            for tokens in (facts["source_tokens"], facts["target_tokens"])
        )
        words = gettext("Tokens: {source} → {target}.", source=source, target=target)
    else:
        words = _standing(view, ranked, facts["available"])
    frames = (
        gettext("Gold frames: the words that the alignment links, dashed if only possibly.")
        if facts["possible"]
        else gettext("Gold frames: the words that the alignment links.")
    )
    shown.caption(together([words, frames]))


def _standing(view: Alignment, ranked: Sequence[Ranked], available: int) -> str:
    facts = {"pair": view.pair, "available": available, "scored": len(ranked)}
    if not ranked:
        return gettext("Pair {pair:,} of {available:,}.", **facts)
    for rank, one in enumerate(ranked, start=1):
        if one.number == view.pair:
            return gettext(_SAID["ranked"], **facts, error=one.error, rank=rank)
    return gettext("Pair {pair:,} of {available:,}, not among the {scored:,} scored.", **facts)


_USUAL_PANELS = 2
_USUAL_PAIR = "a pair of some seven words ."
_LESS = 60  # px, that a pair needs less than a translation: its words are not in the panel


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    steps: DeltaGenerator | None
    words: shown.Place
    panels: dict[str, checkpoints.PanelPlaces]


def _requests(view: Alignment, catalogue: Catalogue) -> list[Request]:
    scores, pairs = (alignment.panel_requests(view, catalogue, pair) for pair in (0, view.pair))
    return [*scores.values(), *pairs.values()]


def _controls(session: Session[Alignment]) -> _Places:
    choices(session)
    way = shown.container(gap="xsmall", key="alignment-way")
    words, scale = shown.columns([5, 1], vertical_alignment="center", gap="medium")
    with scale:
        legend(1.0, signed=are_signed(session.jobs.done()))
    panels = checkpoints.draw_panels(
        session, offered=translators(session.catalogue, session.view.corpus)
    )
    browsing = None
    if session.view.gold != alignment.OWN:
        with way, layout.row("alignment-browse"):
            draw_setting(session, alignment.PAIR, width=_PAIR_WIDTH)
            browsing = st.container(
                horizontal=True, vertical_alignment="bottom", gap="small", width="content"
            )
    return _Places(browsing, words, panels)


def _results(session: Session[Alignment], places: _Places) -> None:
    view, catalogue = session.view, session.catalogue
    here = checkpoints_of(view, catalogue)
    scored = session.jobs.ended(alignment.panel_requests(view, catalogue))
    seen = session.jobs.ended(alignment.panel_requests(view, catalogue, view.pair))
    refused = _refused(session, _requests(view, catalogue))
    ranked, first = ranking(scored.values()), next(iter(seen.values()), None)
    with places.words:
        said(view, ranked, first)
    if places.steps:
        with places.steps:
            steps(session, ranked, first.facts["available"] if first else alignment.MOST_PAIRS)
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
                sentence = untrained(catalogue, view.corpus, panel)
                results.absent(sentence, HEIGHT, f"panel-{letter}-result")
                continue
            if not refused:
                _panel(session, letter)
            checkpoints.draw_origin(here[letter])
    if scored:
        compared(view, catalogue, scored)


def _refused(session: Session[Alignment], requests: Sequence[Request]) -> Event | None:
    """What all panels refuse with one sentence: it is about the pairs, and is said once."""
    events = [session.jobs.final(request) for request in requests]
    notes = {event.note if event and event.facts.get("refused") else "" for event in events}
    return events[0] if len(notes) == 1 and "" not in notes else None


def _panel(session: Session[Alignment], letter: str) -> None:
    """The rates of a panel's heads, and below them the pair that is shown."""
    scores = alignment.panel_requests(session.view, session.catalogue)
    pairs = alignment.panel_requests(session.view, session.catalogue, session.view.pair)

    def draw_map(result: Result) -> None:
        # Asked anew each time: this is drawn again, by itself, while other panels still work.
        scored, seen = session.jobs.ended(scores), session.jobs.ended(pairs)
        pair_map(session, letter, result, scored.get(letter), [*seen.values()])

    results.results(
        session.jobs, scores[letter], lambda result: rates(session, letter, result), HEIGHT,
        f"panel-{letter}-rates",
    )  # fmt: skip
    seen = list(session.jobs.ended(pairs).values())
    height = translation_height(_USUAL_PAIR, seen, "cross") - _LESS
    results.results(
        session.jobs, pairs[letter], draw_map, height, f"panel-{letter}-pair", grows=True
    )


def _offer(requests: Sequence[Request]) -> str:
    pairs = max(map(alignment.scored_pairs, requests))
    if len(requests) == 1:
        return gettext("Align {pairs:,} pairs", pairs=pairs)
    return gettext("Align {pairs:,} pairs with {models} models", pairs=pairs, models=len(requests))


PAGE = Page(
    name="alignment", **beside(__file__, "words.toml")["heading"], link=alignment.LINK,
    controls=_controls, requests=_requests, work=alignment.alignment_work, offer=_offer,
    results=_results, empty=checkpoints.nothing_trained, panels=_USUAL_PANELS,
    height=HEIGHT, folds=True,
)  # fmt: skip
