"""The matrix that the page *Layer norm and batch norm* starts from, cell by cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.features.norms.view import FEWEST_ROWS, LARGEST, MOST, Norms, matrix_of, text_of
from dashboard.language import gettext
from dashboard.ui import layout, shown
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
