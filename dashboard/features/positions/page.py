"""Positional encoding: sines of falling frequency, and the rotation that carries i to i + δ."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dashboard.features.positions.distances import rotation, similarity
from dashboard.features.positions.figures import curves, flow, whole
from dashboard.features.positions.view import (
    LINK,
    MOST_COLUMNS,
    SETTINGS,
    Positions,
    requests,
    usual_columns,
)
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import layout, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_HEIGHT = 290  # px, of the first figure
_SLIDER_WIDTH, _COLUMNS_WIDTH = 190, 330  # px
_ENCODING = (
    r"p_{i,\,2j} = \sin\left(i / 10000^{2j/d}\right)",
    r"p_{i,\,2j+1} = \cos\left(i / 10000^{2j/d}\right)",
)


class _Places(NamedTuple):
    """Where the figures of each section go, below the section's controls."""

    curves: shown.Place
    whole: shown.Place
    flow: shown.Place
    rotation: shown.Place
    similarity: shown.Place


def _controls(session: Session[Positions], catalogue: Catalogue) -> _Places:
    with layout.grid(2):
        for formula in _ENCODING:
            shown.latex(formula)
    with layout.row("positions-sizes"):
        _sliders(session, catalogue, "size", "positions")
        _columns(session)
    encoding = shown.container(), shown.container()
    shown.header(gettext("Step by step"))
    with layout.row("positions-flow"):
        _sliders(session, catalogue, "flow_rows", "flow_size")
        _sliders(session, catalogue, "flow_tokens")  # drawn apart, as the rows bound them
    steps = shown.container()
    shown.header(gettext("From position i to i + δ"))
    with layout.row("positions-rotation"):
        _sliders(session, catalogue, "position", "offset", "pair")
    return _Places(*encoding, steps, shown.container(), shown.container())


def _sliders(session: Session[Positions], catalogue: Catalogue, *names: str) -> None:
    draw_settings(session, catalogue, SETTINGS, only=names, width=_SLIDER_WIDTH)


def _columns(session: Session[Positions]) -> None:
    size = session.view.size
    kept = [column for column in session.view.columns if column < size]
    key = session.key("columns")
    beyond = any(column >= size for column in st.session_state.get(key, ()))
    chosen = st.multiselect(
        gettext("Columns drawn as curves"),
        range(size),
        key=place(key, kept or [*usual_columns(size)], session.fresh or beyond),
        max_selections=MOST_COLUMNS,
        width=_COLUMNS_WIDTH,
    )
    session.update(columns=tuple(sorted(chosen)) or usual_columns(size))


def _results(session: Session[Positions], catalogue: Catalogue, places: _Places) -> None:
    view = session.view
    (request,) = requests(view, catalogue)

    def draw(result: Result) -> None:
        curves(result, view.columns)
        with places.whole:
            whole(result)
        with places.flow:
            flow(result)
        with places.rotation:
            rotation(result, view)
        with places.similarity:
            similarity(result, view.size)

    with places.curves:
        results.results(session.jobs, request, draw, _HEIGHT, "positions-result", grows=True)


PAGE = Page(
    name="positions",
    title="Positional encoding",
    explanation="Self-attention does not know the order of its tokens. Each position gets a row "
    "of sines and cosines that is added to the token's embedding.",
    link=LINK,
    controls=_controls,
    requests=requests,
    results=_results,
    height=_HEIGHT,
)
