"""Differences: several models read one sentence and one target, and where do they look apart?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dashboard.controls import choose, place, plain
from dashboard.pages import differences_maps as compared
from dashboard.pages import export, figures, parts
from dashboard.pages.differences_maps import Pair, Side
from dashboard.pages.differences_match import head_matching
from dashboard.pages.differences_panel import draw_panels
from dashboard.pages.differences_target import target_requests
from dashboard.pages.translation_panel import (
    AXES,
    add_panel,
    choose_kind,
    choose_panels,
    examples,
    nothing_trained,
)
from dashboard.runs.differences_link import (
    Differences,
    default_differences,
    format_differences,
    pairs_of,
    parse_differences,
)
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Visit, read_link, visit, write_link

_USUAL_PANELS = 3
_CHOICE_WIDTH = 170  # px
_CHART = 420  # px, of a chart to come
_POINT = (
    "Point at a row, or tap it: every map shows that row, and the words under each map are shaded "
    "by how much it looks at them."
)


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Differences",
        "Several models read one sentence and the same translation of it, so that every row and "
        "column of their maps means the same. Where do they look, and where do they differ?",
    )
    catalogue = parts.catalogue_or_wait(_USUAL_PANELS, _CHART)
    if catalogue is None:
        return
    if not catalogue.checkpoints:
        parts.actions(buttons, {}, catalogue)
        nothing_trained()
        return
    here = visit("differences")
    read_link(here, catalogue, parse_differences, format_differences)
    problems = st.empty()
    view, said = _sentence(here, catalogue)
    slots, panels = choose_panels(here, catalogue, view.corpus, "differences", formulas=False)
    view = replace(view, panels=panels)
    fresh = here.fresh
    here.settle(view)
    places = dict(zip(LETTERS, slots, strict=False))
    requests = target_requests(here, catalogue, said)
    sides = draw_panels(here, catalogue, places, requests, fresh)
    with parts.row("differences-choices"):
        _choose_pair(here, fresh)
        choose_kind(here, here.jobs.done(), "differences")
        add_panel(here, catalogue, view.corpus)
        menu = st.container(width="content")
    _compared(here, sides, requests, menu)
    link = format_differences(here.view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)


def _sentence(here: Visit, catalogue: Catalogue) -> tuple[Differences, Any]:
    """What is read, and the place where it is said whose words the target is."""
    view: Differences = here.view
    with parts.row("differences-sentence"):
        text = st.text_input(
            "English sentence",
            key=place("differences-text", view.text, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="A sentence to read",
        )
        target = st.text_input(
            "Common target",
            key=place("differences-target", view.target, here.fresh),
            max_chars=LONGEST_TEXT,
            placeholder="empty: what the first model says by itself",
            help="Every model is made to write these words, so their maps have the same rows.",
        )
        corpora, corpus = catalogue.corpora(), view.corpus
        if len(corpora) > 1:
            corpus = choose(
                "Trained on", corpora, view.corpus, "differences-corpus", here.fresh,
                width=_CHOICE_WIDTH,
            )  # fmt: skip
        device = parts.device(catalogue, view.device, "differences-device", here.fresh)
    examples(st, here, text, "differences")
    said = st.container(key="differences-target-said")
    if corpus != view.corpus:
        here.change(default_differences(catalogue, corpus))
    return replace(
        here.view, text=tidy(text), target=tidy(target), corpus=corpus, device=device
    ), said


def _compared(
    here: Visit, sides: Sequence[Side], requests: Mapping[str, Request], menu: Any
) -> None:
    """The linked chart, and what sets its pair apart."""
    _wait_for_more(here, len(sides), requests)
    if not sides:
        return
    pair = _pair(sides, here.view.pair)
    if sentence := _verdict(here, pair):
        st.caption(sentence)
    charts = {"linked maps": partial(compared.chart, sides, pair)}
    if pair:
        charts[f"difference {pair.name}"] = partial(compared.difference_chart, pair)
    key = " ".join(
        ["linked", *(f"{side.key} {side.spot}" for side in sides), pair.name if pair else ""]
    )
    try:
        figures.show(key, charts["linked maps"], f"Maps of panels, rows linked. {_POINT}")
    except ValueError as error:
        st.caption(
            f":material/grid_off: These maps are too large to lay beside each other: {error}"
        )
        return
    st.caption(f"{_POINT} {AXES[here.view.kind]}")
    if pair:
        with menu:
            result = Result(tables=pair.tables())
            export.menu(None, result, charts, "differences", title="Differences")
        head_matching(here, pair)


def _wait_for_more(here: Visit, sides: int, requests: Mapping[str, Request]) -> None:
    """Draws the page again as soon as another panel has its maps."""
    if all(here.jobs.final(request) for request in requests.values()):
        return
    known = len(here.jobs.done())

    def look() -> None:
        if len(here.jobs.done()) > known:
            st.rerun()
        if not sides:
            st.skeleton(_CHART)

    st.fragment(run_every=parts.POLL)(look)()


def _verdict(here: Visit, pair: Pair | None) -> str:
    if pair:
        return plain(compared.verdict(pair))
    if len(here.view.panels) < 2:
        return "One panel has nothing to differ from: add another one."
    return "There is no difference to show: not both of its panels have such a map."


def _choose_pair(here: Visit, fresh: bool) -> None:
    """Whose difference is drawn, where there are several pairs."""
    view: Differences = here.view
    offered = pairs_of(view)
    if len(offered) < 2:
        return
    shown = view.pair if view.pair in offered else offered[0]
    key = "differences-pair"
    # None where the chosen one was clicked again.
    place(key, shown, fresh or st.session_state.get(key) not in offered)
    chosen = st.segmented_control(
        "Difference",
        offered,
        key=key,
        format_func=lambda pair: pair.replace("-", " − "),
        label_visibility="collapsed",
    )
    here.settle(replace(view, pair="" if chosen == offered[0] else chosen))


def _pair(sides: Sequence[Side], chosen: str) -> Pair | None:
    """The chosen two, or the first two where none were chosen."""
    by_letter = {side.letter: side for side in sides}
    letters = chosen.split("-") if chosen else list(by_letter)[:2]
    if len(letters) < 2 or not by_letter.keys() >= {*letters}:
        return None
    return Pair(one=by_letter[letters[0]], other=by_letter[letters[1]])
