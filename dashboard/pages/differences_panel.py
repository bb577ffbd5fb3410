"""One panel of the page *Differences*: what its model makes of the target, which map it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.charts import spots as spots_of_maps
from dashboard.charts import usual_spot
from dashboard.controls import choose
from dashboard.pages import differences_maps as compared
from dashboard.pages import parts
from dashboard.pages.differences_maps import Side
from dashboard.pages.translation_panel import (
    Places,
    likelihood,
    title_of,
    unknown_words,
    with_spot,
    without,
)
from dashboard.runs.differences_link import Differences
from dashboard.runs.link_parts import LETTERS
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.translation_link import resolve, spots_of, untrained
from dashboard.state import Visit

_FACTS, FAILED = 92, 170  # px: a panel's few words, its failure


def checkpoints_of(view: Differences, catalogue: Catalogue) -> dict[str, Checkpoint]:
    """By letter, the checkpoints of the panels that have one here."""
    found = {
        letter: resolve(catalogue, view.corpus, panel)
        for letter, panel in zip(LETTERS, view.panels, strict=False)
    }
    return {letter: checkpoint for letter, checkpoint in found.items() if checkpoint}


def draw_panels(
    here: Visit,
    catalogue: Catalogue,
    places: Mapping[str, Places],
    requests: Mapping[str, Request],
    fresh: bool,
) -> list[Side]:
    """Each panel's few words and its choice of a map; of all of them what can be compared.

    Args:
        places, requests: by letter; a panel without a request has nothing to read.
        fresh: whether the choices take their values from the view.
    """
    view: Differences = here.view
    found = checkpoints_of(view, catalogue)
    sides: list[Side] = []
    for (letter, slot), panel in zip(places.items(), view.panels, strict=False):
        with slot.result:
            if letter not in found:
                sentence = untrained(catalogue, view.corpus, panel)
                parts.absent(sentence, FAILED, f"panel-{letter}-result")
                continue
            if letter in requests:
                sides += _panel(
                    here,
                    letter,
                    title_of(catalogue, found[letter], panel),
                    requests[letter],
                    fresh,
                )
            elif not view.text:
                st.caption("The sentence is empty: write one above.")
    wrong = compared.misfits(sides)
    for letter, sentence in wrong.items():
        with places[letter].result:
            st.caption(f":material/grid_off: {sentence}")
    return [side for side in sides if side.letter not in wrong]


def _panel(here: Visit, letter: str, title: str, request: Request, fresh: bool) -> list[Side]:
    event = here.jobs.final(request)
    failed = event is not None and event.result is None
    height = FAILED if failed else _FACTS
    parts.results(here.jobs, request, _facts, height, f"panel-{letter}-result", grows=True)
    if event is None or event.result is None:
        return []
    view: Differences = here.view
    spot = dict(zip(LETTERS, spots_of(view), strict=False))[letter]
    side = compared.side_of(letter, title, request, event.result, view.kind, spot)
    if side is None:
        st.caption(without(view.kind))
        return []
    return [_choose_map(here, side, fresh)]


def _facts(result: Result) -> None:
    st.caption(f"{likelihood(result)} of the target")
    unknown_words(result)


def _choose_map(here: Visit, side: Side, fresh: bool) -> Side:
    """The choice among a panel's maps, if there are several; the side as it was chosen."""
    offered = spots_of_maps(side.frames)
    chosen = choose(
        f"Map of panel {side.letter}",
        offered,
        side.spot,
        f"differences-{side.letter}-map",
        fresh,
        title=partial(compared.spot_name, side.frames),
        label_visibility="collapsed",
        disabled=len(offered) < 2,
    )
    if chosen == side.spot:
        return side
    spot = "" if chosen == usual_spot(side.frames) else chosen
    here.settle(with_spot(here.view, side.letter, spot))
    return replace(side, spot=chosen)
