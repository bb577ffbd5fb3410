"""Layer norm beside batch norm: which numbers are taken together, and what padding then does."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.features.norms import figures
from dashboard.features.norms.view import (
    FEWEST_ROWS,
    LARGEST,
    LINK,
    MOST,
    SETTINGS,
    Norms,
    matrix_of,
    requests,
    text_of,
)
from dashboard.language import gettext
from dashboard.links.fields import next_seed
from dashboard.records.request import Result
from dashboard.ui import layout, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_NUMBER_WIDTH, _COLUMN_WIDTH = 120, 70  # px, of a size's field and of the editor's columns
_EDITOR = "norms-editor"


def matrix_editor(session: Session[Norms]) -> None:
    """The fields of the matrix X: its size and its cells."""
    shown.markdown(gettext("**X**: a row per example, a column per feature"))
    count, wide = _shape(session.view.x)
    with layout.row("norms-size"):
        for name, label, value, least in (
            ("rows", gettext("Rows"), count, FEWEST_ROWS), ("columns", gettext("Columns"), wide, 1)
        ):  # fmt: skip
            st.number_input(
                label, least, MOST, key=place(f"norms-{name}", value, session.fresh),
                width=_NUMBER_WIDTH, on_change=_resize, args=(session,),
            )  # fmt: skip
    # The editor keeps its changes against the table that it was first given, under one key.
    version, table = st.session_state.get(_EDITOR, (0, None))
    if session.fresh or table is None:
        version, table = version + 1, _table(session.view.x)
        st.session_state[_EDITOR] = version, table
    number = st.column_config.NumberColumn(
        min_value=-LARGEST, max_value=LARGEST, width=_COLUMN_WIDTH
    )
    edited = st.data_editor(
        table,
        key=f"{_EDITOR}-{version}",
        hide_index=True,
        num_rows="fixed",
        width="content",
        column_config=dict.fromkeys(table, number),
    )
    shown.note_table(edited, alt="X", stretch=False)
    session.update(x=text_of(tuple(map(tuple, edited.fillna(0.0).to_numpy(float).tolist()))))


def _shape(text: str) -> tuple[int, int]:
    matrix, _ = matrix_of(text)
    return len(matrix), len(matrix[0])


def _table(text: str) -> pd.DataFrame:
    matrix, _ = matrix_of(text)
    return pd.DataFrame(matrix, columns=[str(i) for i in range(len(matrix[0]))])


def _resize(session: Session[Norms]) -> None:
    matrix = np.array(matrix_of(session.view.x)[0])
    resized = np.zeros((st.session_state["norms-rows"], st.session_state["norms-columns"]))
    kept = tuple(map(min, zip(matrix.shape, resized.shape, strict=True)))
    resized[: kept[0], : kept[1]] = matrix[: kept[0], : kept[1]]
    session.change(replace(session.view, x=text_of(tuple(map(tuple, resized.tolist())))))


_HEIGHT = 300  # px, of the matrices side by side
_WIDTH = 190  # px, of a control


class _Places(NamedTuple):
    """Where the figures of each section go, beside or below the section's controls."""

    compared: shown.Place
    evaluated: shown.Place
    padded: shown.Place
    added: shown.Place


def _controls(session: Session[Norms]) -> _Places:
    shown.latex(r"y = \frac{x - \mathrm{mean}}{\sqrt{\mathrm{variance} + \varepsilon}}")
    left, right = shown.columns([2, 5], gap="large")
    with left:
        matrix_editor(session)
    compared = right.container()
    shown.header(gettext("Batch norm: training and evaluation"))
    with layout.row("norms-training"):
        _sliders(session, "momentum", "batches")
    evaluated = shown.container()
    shown.header(gettext("Why each token by itself"))
    with layout.row("norms-sequence"):
        _sliders(session, "padding")
    padded = shown.container()
    shown.header(gettext("Add & norm"))
    with layout.row("norms-residual"):
        _sliders(session, "dropout")
        st.button(
            gettext("Draw again"), icon=":material/casino:", on_click=_again, args=(session,)
        )
    return _Places(compared, evaluated, padded, shown.container())


def _sliders(session: Session[Norms], *names: str) -> None:
    draw_settings(session, SETTINGS, only=names, width=_WIDTH)


def _again(session: Session[Norms]) -> None:
    session.change(replace(session.view, seed=next_seed(session.view.seed)))


def _results(session: Session[Norms], places: _Places) -> None:
    (request,) = requests(session.view, session.catalogue)
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
