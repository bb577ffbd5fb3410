"""What every stage of one step is made of: its words, its matrices, its file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dashboard.charts.template import Prepared
from dashboard.features.anatomy.chart_matrix import MatrixShape, Stage, draw_matrix, prepare_matrix
from dashboard.features.anatomy.state import Anatomy
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Entry
from dashboard.records.result import Result
from dashboard.ui import layout, shown
from dashboard.ui.charts import show_filled
from dashboard.ui.widgets import formula

_NAMES = {  # of axes
    "n_q": gettext_noop("query"), "n_k": gettext_noop("key"), "n": gettext_noop("position"),
}  # fmt: skip
_QUANTITIES = {  # by tensor, what a cell is; a number by default
    "scores": gettext_noop("score"), "weights": gettext_noop("weight"),
    "dropped": gettext_noop("weight"),
}  # fmt: skip

_NO_BREAK = "\N{NO-BREAK SPACE}"

Pick = tuple[int | None, int | None]
Drawn = Mapping[str, tuple[str, Pick]]  # titles of tensors, and what is framed


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One stage of a result.

    Args:
        number: of the stage, from 1.
        normaliser: None where the catalogue does not list the usual one.
        tensors: of all stages, by name.
        words, numbers: the places for the stage's explanation and for its matrices.
    """

    number: int
    result: Result
    view: Anatomy
    scoring: Entry
    normaliser: Entry | None
    tensors: Mapping[str, Stage]
    words: shown.Place
    numbers: shown.Place

    def matrix(self, name: str) -> np.ndarray:
        """The tensor at the batch row and head that are looked at."""
        return self.tensors[name].matrix(self.view.row, self.view.head)


def explain(walk: Walk, title: str, latex: str, text: str, description: str = "") -> None:
    """A stage's title, what happens in it, and its formula."""
    with walk.words:
        shown.header(f"{walk.number} · {title}")
        shown.caption(text)
        if latex:
            formula(latex, description=description)


def matrices(
    walk: Walk,
    drawn: Drawn,
    masked: np.ndarray | None = None,
    vmax: float | None = None,
) -> None:
    """The named tensors beside each other, each with its shape."""
    with walk.numbers, layout.grid(len(drawn)) if len(drawn) > 1 else shown.container():
        for name, (title, pick) in drawn.items():
            with shown.container(gap="xsmall"):
                _chart(walk, name, title, pick, masked, vmax)


def _chart(
    walk: Walk, name: str, title: str, pick: Pick, masked: np.ndarray | None, vmax: float | None
) -> None:
    stage, view = walk.tensors[name], walk.view
    values = walk.matrix(name)
    shape = stage.shape.replace(" ", _NO_BREAK)
    shown.markdown(f"**{title}** `{shape}`")

    def prepare() -> Prepared[MatrixShape]:
        return prepare_matrix(
            values, stage.labels(-2), stage.labels(-1),
            quantity=gettext(_QUANTITIES.get(name, gettext_noop("number"))),
            names=(
                gettext(_NAMES.get(stage.axes[-2], gettext_noop("row"))),
                gettext(_NAMES.get(stage.axes[-1], gettext_noop("column"))),
            ),
            masked=masked, vmax=vmax, picked=pick,
        )  # fmt: skip

    kind = "masked" if masked is not None else ""
    key = f"anatomy {walk.result.digest} {name} {kind} {view.row} {view.head} {pick}"
    count, wide = values.shape
    show_filled(
        key, draw_matrix, prepare,
        gettext("{title}: {rows} by {columns} numbers", title=title, rows=count, columns=wide),
    )  # fmt: skip


def download(walk: Walk, name: str, values: np.ndarray, explanation: str) -> None:
    """A button for the matrix that is looked at as a table; empty where it is masked."""
    stage, file = walk.tensors[name], f"{name}.csv"
    with walk.numbers:
        st.download_button(
            file,
            as_csv(values, stage.labels(-2), stage.labels(-1)),
            file_name=file,
            mime="text/csv",
            icon=":material/download:",
            key=f"anatomy-{name}-csv",
            type="tertiary",
            help=explanation,
            on_click="ignore",
        )


def as_csv(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    """A line per query with the query's name first; empty where a number is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", *columns])
    for row, numbers in zip(rows, values.tolist(), strict=True):
        writer.writerow([row, *("" if np.isnan(n) else repr(n) for n in numbers)])
    return text.getvalue()
