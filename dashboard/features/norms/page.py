"""Layer norm beside batch norm: which numbers are taken together, and what padding then does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.frames import matrix
from dashboard.charts.values import draw_values, prepare_values
from dashboard.features.norms.editor import matrix_editor
from dashboard.features.norms.view import LINK, SETTINGS, Norms, requests
from dashboard.links.fields import next_seed
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session

_HEIGHT = 300  # px, of the matrices side by side
_WIDTH = 190  # px, of a control
_CELL = (58, 28)  # px, holds a number
_OUTPUT_END = 2.0  # of the colours of normalised numbers: few lie beyond two deviations
_CHANGES = {
    "features": ("Layer norm over d", "each token"),
    "sequence": ("Layer norm over [n, d]", "each sentence"),
    "batch": ("Batch norm", "each feature"),
}
_ADD_AND_NORM = {
    "x": (r"X", "what comes in"),
    "dropped": (r"\mathrm{Dropout}(Y)", "the sublayer's output; here Y = X"),
    "added": (r"X + \mathrm{Dropout}(Y)", "the residual connection"),
    "normed": (r"\mathrm{LayerNorm}(X + \mathrm{Dropout}(Y))", "add & norm"),
}


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
    shown.header("Batch norm: training and evaluation")
    with layout.row("norms-training"):
        _sliders(session, catalogue, "momentum", "batches")
    evaluated = shown.container()
    shown.header("Why each token by itself")
    with layout.row("norms-sequence"):
        _sliders(session, catalogue, "padding")
    padded = shown.container()
    shown.header("Add & norm")
    with layout.row("norms-residual"):
        _sliders(session, catalogue, "dropout")
        st.button("Draw again", icon=":material/casino:", on_click=_again, args=(session,))
    return _Places(compared, evaluated, padded, shown.container())


def _sliders(session: Session[Norms], catalogue: Catalogue, *names: str) -> None:
    draw_settings(session, catalogue, SETTINGS, only=names, width=_WIDTH)


def _again(session: Session[Norms]) -> None:
    session.change(replace(session.view, seed=next_seed(session.view.seed)))


def _results(session: Session[Norms], catalogue: Catalogue, places: _Places) -> None:
    (request,) = requests(session.view, catalogue)
    settings = dict(session.view.settings)

    def draw(result: Result) -> None:
        _compared(result)
        with places.evaluated:
            _evaluated(result, int(settings["batches"]))
        with places.padded:
            _padded(result, int(settings["padding"]))
        with places.added:
            _add_and_norm(result, float(settings["dropout"]))

    with places.compared:
        results.results(session.jobs, request, draw, _HEIGHT, "norms-result", grows=True)


def _compared(result: Result) -> None:
    with layout.grid(2):
        with shown.container(gap="small"):
            shown.markdown("**Layer norm**: each row by itself")
            _output(result, "layer", "rows")
            _statistics(result, "layer", "row")
        with shown.container(gap="small"):
            shown.markdown("**Batch norm**, in training: each column by itself")
            _output(result, "batch", "columns")
            _statistics(result, "batch", "column")
    shown.caption(f"Variances divide by the count; ε = {result.facts['eps']:g}.")


def _output(
    result: Result,
    name: str,
    framed: Literal["", "rows", "columns"] = "",
    vmax: float = _OUTPUT_END,
) -> None:
    numbers = matrix(result.tables[name])

    charts.show_filled(
        f"norms {result.digest} {name}",
        draw_values,
        lambda: prepare_values(
            numbers, vmax=vmax, numbers=".3~g", framed=framed, cell=_CELL, room_left=18
        ),
        f"Numbers of {name}",
    )


def _statistics(result: Result, name: str, each: str) -> None:
    means, variances = result.facts["statistics"][name]
    table = pd.DataFrame({"mean": means, "variance": variances})
    table.index = [f"{each} {index}" for index in range(len(table))]
    shown.table(table, width="content")


def _evaluated(result: Result, batches: int) -> None:
    left, right = shown.columns([3, 2], gap="large")
    with left:
        shown.latex(r"\mathrm{running} \leftarrow (1 - m)\,\mathrm{running} + m\,\mathrm{batch}")
        shown.markdown(
            "In training, batch norm takes mean and variance from the batch at hand; what an "
            "example becomes depends on its company. In evaluation it takes running ones, which "
            "begin at mean 0 and variance 1 and move by the momentum m. Layer norm does the same "
            "in both."
        )
        shown.caption(
            "The running variance divides the batch's sum of squares by its count less one."
        )
    with right:
        seen = f"{batches} batch{'es' * (batches != 1)}"
        shown.markdown(f"**Batch norm**, evaluated on X after {seen} of X")
        _output(result, "evaluated", "columns")
        _statistics(result, "evaluated", "column")


def _padded(result: Result, more: int) -> None:
    lengths = result.facts["lengths"]
    shown.markdown(
        f"Two sentences of {lengths[0]} and {lengths[1]} tokens are padded with zeros to "
        f"{max(lengths)} positions, then to {max(lengths) + more}. Nothing about the tokens has "
        "changed. By how much do their outputs?"
    )
    labels = [f"s{s + 1} t{t + 1}" for s, length in enumerate(lengths) for t in range(length)]
    changes = {name: matrix(result.tables[f"change_{name}"]) for name in _CHANGES}
    end = max(float(np.abs(change).max()) for change in changes.values())
    with layout.grid(len(_CHANGES)):
        for name, (title, over) in _CHANGES.items():
            with shown.container(gap="small"):
                shown.markdown(f"**{title}**: {over}")
                charts.show_filled(
                    f"norms {result.digest} change {name}",
                    draw_values,
                    lambda change=changes[name]: prepare_values(
                        change, rows=labels, vmax=end, numbers=".2f", cell=(_CELL[0], 22),
                        row_title="", column_title="feature",
                    ),
                    f"Change of each valid output, {title}",
                )  # fmt: skip
                largest = result.facts["change"][name]
                said = "nothing changes" if largest == 0 else f"changes by up to {largest:.2f}"
                shown.caption(f"Valid outputs: {said}.")


def _add_and_norm(result: Result, rate: float) -> None:
    largest = float(np.abs(matrix(result.tables["added"])).max()) or 1.0
    with layout.grid(len(_ADD_AND_NORM)):
        for name, (formula, said) in _ADD_AND_NORM.items():
            with shown.container(gap="xsmall"):
                shown.markdown(rf"$\displaystyle {formula}$")
                shown.caption(said)
                _output(result, name, "", _OUTPUT_END if name == "normed" else largest)
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown("**Post-norm** (Vaswani et al. 2017): the sum is normalised.")
        shown.latex(r"\mathrm{LayerNorm}\big(X + \mathrm{Dropout}(f(X))\big)")
    with right:
        shown.markdown("**Pre-norm**: only the sublayer's input is; the sum runs on untouched.")
        shown.latex(r"X + \mathrm{Dropout}\big(f(\mathrm{LayerNorm}(X))\big)")
    kept = "" if math.isclose(rate, 0) else f" and multiplies the rest by {1 / (1 - rate):.3g}"
    shown.caption(
        f"In training, dropout sets a share of {rate:.0%} of the numbers to 0{kept}; in "
        "evaluation it does nothing. X and Y need one shape, which the result keeps."
    )


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
