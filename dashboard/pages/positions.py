"""Positional encoding: sines of falling frequency, and the rotation that carries i to i + δ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.controls import knob, place
from dashboard.pages import parts
from dashboard.pages.positions_figures import curves, flow, rotation, similarity, whole
from dashboard.runs.link_parts import pairs
from dashboard.runs.offers import Catalogue
from dashboard.runs.positions_link import (
    MOST_COLUMNS,
    SIZES,
    Positions,
    fitted,
    format_positions,
    parse_positions,
    positions_knobs,
    positions_request,
    usual_columns,
)
from dashboard.runs.request import Scalar
from dashboard.runs.result import Result
from dashboard.state import Visit, read_link, visit, write_link

_HEIGHT = 290  # px, of the first figure
_SLIDER_WIDTH, _COLUMNS_WIDTH = 190, 330  # px
_ENCODING = (
    r"p_{i,\,2j} = \sin\left(i / 10000^{2j/d}\right)",
    r"p_{i,\,2j+1} = \cos\left(i / 10000^{2j/d}\right)",
)


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Positional encoding",
        "Self-attention does not know the order of its tokens. Each position gets a row of sines "
        "and cosines that is added to the token's embedding.",
    )
    catalogue = parts.catalogue_or_wait(1, _HEIGHT)
    if catalogue is None:
        return
    here = visit("positions")
    read_link(here, catalogue, parse_positions, format_positions)
    problems = st.empty()
    view, places = _layout(here, catalogue)
    here.settle(view)
    link = format_positions(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    request = positions_request(view)
    here.jobs.want([request])
    here.jobs.wait(parts.PATIENCE)

    def draw(result: Result) -> None:
        curves(request, result, view.columns)
        for where, part in zip(places, (whole, flow, rotation, similarity), strict=True):
            with where:
                part(request, result)

    with places[0]:
        first = st.container()
    with first:
        parts.results(here.jobs, request, draw, _HEIGHT, "positions-result", grows=True)


def _layout(here: Visit, catalogue: Catalogue) -> tuple[Positions, list[Any]]:
    """The controls of every section, and the places of what they control."""
    knobs = positions_knobs(catalogue)
    held = dict(here.view.settings)
    with parts.grid(2):
        for formula in _ENCODING:
            st.latex(formula)
    with parts.row("positions-sizes"):
        for name in SIZES[:2]:
            held[name] = _slider(here, knobs, name, held)
        columns = _columns(here, held["size"])
    places = [st.container()]
    st.subheader("Step by step", anchor=False)
    with parts.row("positions-flow"):
        for name in ("flow_rows", "flow_size", "flow_tokens"):
            held[name] = _slider(here, knobs, name, held)
    places.append(st.container())
    st.subheader("From position i to i + δ", anchor=False)
    with parts.row("positions-rotation"):
        for name in ("position", "offset", "pair"):
            held[name] = _slider(here, knobs, name, held)
    places += [st.container(), st.container()]
    return replace(here.view, settings=pairs(held), columns=columns), places


def _slider(here: Visit, knobs: Sequence[Any], name: str, held: dict[str, Scalar]) -> Scalar:
    spec = next(spec for spec in fitted(tuple(knobs), pairs(held)) if spec.name == name)
    key = f"positions-{name}"
    # A smaller size leaves some values behind its end, which a slider must not be told.
    beyond = st.session_state.get(key, held[name]) > spec.high
    value = min(held[name], int(spec.high))
    return knob(spec, value, key, here.fresh or beyond, width=_SLIDER_WIDTH)


def _columns(here: Visit, size: int) -> tuple[int, ...]:
    kept = [column for column in here.view.columns if column < size]
    key = "positions-columns"
    beyond = any(column >= size for column in st.session_state.get(key, ()))
    chosen = st.multiselect(
        "Columns drawn as curves",
        range(size),
        key=place(key, kept or [*usual_columns(size)], here.fresh or beyond),
        max_selections=MOST_COLUMNS,
        width=_COLUMNS_WIDTH,
    )
    return tuple(sorted(chosen)) or usual_columns(size)
