"""Anatomy: one attention step taken apart, and three looks at why it is made as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dashboard.controls import place
from dashboard.pages import anatomy_mask, anatomy_plots, anatomy_step, parts
from dashboard.pages.anatomy_controls import own, scoring_controls, step_controls
from dashboard.runs.anatomy_link import format_anatomy, parse_anatomy
from dashboard.runs.anatomy_view import (
    AT_X,
    AT_Y,
    COUNT,
    LANDSCAPE,
    MASK,
    PARTS,
    ROOT,
    STEP,
    Anatomy,
    missing,
)
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.state import Visit, read_link, visit, write_link

_TITLES = {
    STEP: "One step",
    MASK: "Masked softmax",
    ROOT: "Why divide by √d",
    LANDSCAPE: "Landscape",
}
_PLACES, _HEIGHT = 3, 300  # of a page in waiting


class _Part(NamedTuple):
    """What one part asks for, and what draws it."""

    requests: Callable[[Anatomy], list[Request]]
    draw: Callable[[Visit, Catalogue, Anatomy, list[Request]], None]


_DRAWN = {
    STEP: _Part(anatomy_step.requests, anatomy_step.draw),
    MASK: _Part(anatomy_mask.requests, anatomy_mask.draw),
    ROOT: _Part(anatomy_plots.root_requests, anatomy_plots.draw_root),
    LANDSCAPE: _Part(anatomy_plots.landscape_requests, anatomy_plots.draw_landscape),
}


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Anatomy",
        "One attention step taken apart: what happens to queries, keys and values on their way to "
        "the output, number by number.",
    )
    catalogue = parts.catalogue_or_wait(_PLACES, _HEIGHT)
    if catalogue is None:
        return
    here = visit("anatomy")
    read_link(here, catalogue, parse_anatomy, format_anatomy)
    problems = st.empty()
    view = _part(here)
    if view.part == STEP:
        view = step_controls(here, catalogue, view)
    elif view.part == MASK:
        view = anatomy_mask.controls(here, view)
    else:
        view = _plot_controls(here, catalogue, view)
    here.settle(view)
    link = format_anatomy(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    if view.part != MASK and (sentence := missing(catalogue, view)):
        here.jobs.want(())
        parts.absent(sentence, _HEIGHT, "anatomy-absent")
        return
    part = _DRAWN[view.part]
    requests = part.requests(view)
    here.jobs.want(requests)
    here.jobs.wait(parts.PATIENCE)
    part.draw(here, catalogue, view, requests)


def _part(here: Visit) -> Anatomy:
    chosen = st.segmented_control(
        "Part",
        PARTS,
        format_func=_TITLES.get,
        key=place("anatomy-part", here.view.part, here.fresh),
        label_visibility="collapsed",
    )
    # Pressed once more, a choice is taken back: the part stays.
    return replace(here.view, part=chosen or here.view.part)


def _plot_controls(here: Visit, catalogue: Catalogue, view: Anatomy) -> Anatomy:
    """What the two plots of a scoring read: it, its parameters, and the plot's own."""
    with parts.row("anatomy-plot"):
        view = scoring_controls(here, catalogue, view)
        if view.part == ROOT:
            return replace(view, count=own(here, view, COUNT))
        return replace(view, x=own(here, view, AT_X), y=own(here, view, AT_Y))
