"""Layer norm beside batch norm: which numbers are taken together, and what padding then does."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dashboard.features.norms import figures
from dashboard.features.norms.editor import matrix_editor
from dashboard.features.norms.view import LINK, SETTINGS, Norms, requests
from dashboard.language import gettext
from dashboard.links.fields import next_seed
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import layout, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session

_HEIGHT = 300  # px, of the matrices side by side
_WIDTH = 190  # px, of a control


class _Places(NamedTuple):
    """Where the figures of each section go, beside or below the section's controls."""

    compared: shown.Place
    evaluated: shown.Place
    padded: shown.Place
    added: shown.Place


def _controls(session: Session[Norms], catalogue: Catalogue) -> _Places:
    shown.latex(r"y = \frac{x - \mathrm{mean}}{\sqrt{\mathrm{variance} + \varepsilon}}")
    left, right = shown.columns([2, 5], gap="large")
    with left:
        matrix_editor(session)
    compared = right.container()
    shown.header(gettext("Batch norm: training and evaluation"))
    with layout.row("norms-training"):
        _sliders(session, catalogue, "momentum", "batches")
    evaluated = shown.container()
    shown.header(gettext("Why each token by itself"))
    with layout.row("norms-sequence"):
        _sliders(session, catalogue, "padding")
    padded = shown.container()
    shown.header(gettext("Add & norm"))
    with layout.row("norms-residual"):
        _sliders(session, catalogue, "dropout")
        st.button(
            gettext("Draw again"), icon=":material/casino:", on_click=_again, args=(session,)
        )
    return _Places(compared, evaluated, padded, shown.container())


def _sliders(session: Session[Norms], catalogue: Catalogue, *names: str) -> None:
    draw_settings(session, catalogue, SETTINGS, only=names, width=_WIDTH)


def _again(session: Session[Norms]) -> None:
    session.change(replace(session.view, seed=next_seed(session.view.seed)))


def _results(session: Session[Norms], catalogue: Catalogue, places: _Places) -> None:
    (request,) = requests(session.view, catalogue)
    settings = dict(session.view.settings)

    def draw(result: Result) -> None:
        figures.compared(result)
        with places.evaluated:
            figures.evaluated(result, int(settings["batches"]))
        with places.padded:
            figures.padded(result, int(settings["padding"]))
        with places.added:
            figures.add_and_norm(result, float(settings["dropout"]))

    with places.compared:
        results.results(session.jobs, request, draw, _HEIGHT, "norms-result", grows=True)


PAGE = Page(
    name="norms",
    title="Layer norm and batch norm",
    explanation="Both shift and scale numbers to mean 0 and variance 1. They differ in which "
    "numbers they take together.",
    link=LINK,
    controls=_controls,
    requests=requests,
    results=_results,
    panels=3,
    height=_HEIGHT,
)
