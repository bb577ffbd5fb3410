"""What the page *Alignment* is asked: which gold, how many pairs, which one is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from dashboard.controls import choose, knob, place, plain
from dashboard.pages import parts, upload
from dashboard.runs.alignment_link import (
    EXAMPLE,
    ORDERS,
    OWN,
    PAIR,
    Alignment,
    count_knob,
    default_alignment,
    golden,
)
from dashboard.runs.offers import Catalogue
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.result import Result
from dashboard.state import Visit

_CHOICE_WIDTH, _GOLD_WIDTH, _NUMBER_WIDTH, _PAIR_WIDTH = 170, 260, 140, 120  # px
_LINKS_HELP = (
    "1-2 links source token 1 to target token 2, counted from 0; 1?2 is possible only. "
    "Punctuation and the parts of I'm and j'ai are tokens of their own."
)
_ORDERS = {"number": "In order", "worst": "Worst first"}
_TITLES = {"source": "English sentence", "target": "French sentence", "links": "Links"}


class Ranked(NamedTuple):
    """A scored pair, and its error averaged over the best heads of the panels."""

    number: int
    error: float


def choices(here: Visit, catalogue: Catalogue) -> Alignment:
    """Which models' corpus, whose gold, how many pairs."""
    view: Alignment = here.view
    corpus = view.corpus
    with parts.row("alignment-what"):
        corpora = catalogue.corpora()
        if len(corpora) > 1:
            corpus = choose(
                "Models trained on", corpora, view.corpus, "alignment-corpus", here.fresh,
                width=_CHOICE_WIDTH,
            )  # fmt: skip
        if corpus != view.corpus:
            here.change(default_alignment(catalogue, corpus))
            view = here.view
        gold = choose(
            "Gold alignments of",
            [*golden(catalogue), *upload.known(view.gold, upload.ALIGNED), OWN],
            view.gold, "alignment-gold", here.fresh,
            title=lambda name: gold_title(name, catalogue), width=_GOLD_WIDTH,
        )  # fmt: skip
        count = view.count
        if gold != OWN:
            count = knob(
                count_knob(catalogue), view.count, "alignment-count", here.fresh, typed=True,
                width=_NUMBER_WIDTH,
            )  # fmt: skip
        device = parts.device(catalogue, view.device, "alignment-device", here.fresh)
        upload.button(lambda file: _use_file(here, file), upload.ALIGNED)
    pair = view.pair if gold == view.gold else 1
    if pair != view.pair:
        here.change(replace(view, gold=gold, pair=pair))
        view = here.view
    return replace(view, gold=gold, count=int(count), pair=pair, device=device)


def gold_title(name: str, catalogue: Catalogue) -> str:
    """What the pairs that models are held against are called."""
    if name == OWN:
        return "One pair of your own"
    if name in catalogue.datasets:
        return catalogue.datasets[name].title
    return upload.title(name, upload.ALIGNED)


def _use_file(here: Visit, file: str) -> None:
    here.change(replace(here.view, gold=file, pair=1))


def own_pair(here: Visit, view: Alignment) -> Alignment:
    """The fields of one pair by hand."""
    with parts.row("alignment-own"):
        given = {
            name: tidy(
                st.text_input(
                    title,
                    key=place(f"alignment-own-{name}", getattr(view, name), here.fresh),
                    max_chars=LONGEST_TEXT,
                    placeholder=EXAMPLE[name],
                    help=_LINKS_HELP if name == "links" else None,
                )
            )
            for name, title in _TITLES.items()
        }
    return replace(view, **given)


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


def browse(here: Visit, fresh: bool) -> Callable[[Sequence[Ranked], Result | None], None]:
    """The number of the pair that is shown; what is returned draws the way to the next one.

    That needs to know which pairs there are, and which are the worst.

    Args:
        fresh: the number is taken from the view, whatever the field held.
    """
    view: Alignment = here.view
    with parts.row("alignment-browse"):
        pair = knob(PAIR, view.pair, "alignment-pair", fresh, typed=True, width=_PAIR_WIDTH)
        steps = st.container(
            horizontal=True, vertical_alignment="bottom", gap="small", width="content"
        )
    here.settle(replace(view, pair=int(pair)))

    def draw(ranked: Sequence[Ranked], result: Result | None) -> None:
        available = result.facts["available"] if result else PAIR.high
        with steps:
            _steps(here, ranked, int(available))

    return draw


def _steps(here: Visit, ranked: Sequence[Ranked], available: int) -> None:
    view: Alignment = here.view
    before, after = neighbours(view, ranked, available)
    for name, icon, number in (
        ("Previous", "chevron_left", before), ("Next", "chevron_right", after),
    ):  # fmt: skip
        st.button(
            name,
            icon=f":material/{icon}:",
            key=f"alignment-{name.lower()}",
            disabled=number is None,
            on_click=_go,
            args=(here, number),
        )
    st.segmented_control(
        "Order",
        ORDERS,
        key=place("alignment-order", view.order, fresh=True),
        format_func=_ORDERS.get,
        on_change=_order,
        args=(here, ranked[0].number if ranked else view.pair),
        label_visibility="collapsed",
    )


def neighbours(
    view: Alignment, ranked: Sequence[Ranked], available: int
) -> tuple[int | None, int | None]:
    """The pairs before and after the one that is shown, in the view's order."""
    if view.order == ORDERS[0]:
        pair = min(view.pair, available + 1)
        return (pair - 1 if pair > 1 else None), (pair + 1 if pair < available else None)
    numbers = [one.number for one in ranked]
    if view.pair not in numbers:
        return None, next(iter(numbers), None)
    at = numbers.index(view.pair)
    before = numbers[at - 1] if at else None
    return before, (numbers[at + 1] if at + 1 < len(numbers) else None)


def _go(here: Visit, number: int) -> None:
    here.change(replace(here.view, pair=number))


def _order(here: Visit, worst: int) -> None:
    order = st.session_state["alignment-order"]
    if order is None:  # the chosen one was clicked again
        here.change(here.view)
        return
    pair = worst if order == "worst" else here.view.pair
    here.change(replace(here.view, order=order, pair=pair))


def said(view: Alignment, ranked: Sequence[Ranked], result: Result | None) -> None:
    """The pair in words, where it stands among the others, and what a gold frame means."""
    if result is None:
        return
    facts = result.facts
    st.markdown(f"**{plain(facts['source'])}** → **{plain(facts['target'])}**")
    words = _tokens(facts) if view.gold == OWN else _standing(view, ranked, facts["available"])
    broken = ", broken where that is possible only" if facts["possible"] else ""
    frames = f"Framed in gold: what the alignment links{broken}."
    st.caption(f"{words} {frames}")


def _standing(view: Alignment, ranked: Sequence[Ranked], available: int) -> str:
    words = [f"Pair {view.pair:,} of {available:,}"]
    numbers = [one.number for one in ranked]
    if view.pair in numbers:
        at = numbers.index(view.pair)
        words.append(f"error {ranked[at].error:.2f}")
        words.append(f"number {at + 1:,} from the worst of the {len(ranked):,} scored")
    elif ranked:
        words.append(f"not among the {len(ranked):,} scored")
    return ", ".join(words) + "."


def _tokens(facts: Mapping[str, Any]) -> str:
    """The tokens as links count them."""
    sides = [
        " · ".join(f"{number} {plain(token)}" for number, token in enumerate(facts[name][:-1]))
        for name in ("source_tokens", "target_tokens")
    ]
    return f"Tokens: {sides[0]} → {sides[1]}."
