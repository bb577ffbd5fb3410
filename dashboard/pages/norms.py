"""Layer norm beside batch norm: which numbers are taken together, and what padding then does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.frames import matrix
from dashboard.charts.values import values_heatmap
from dashboard.controls import knob
from dashboard.pages import figures, parts
from dashboard.pages.norms_editor import matrix_editor
from dashboard.runs.link_parts import SEED, pairs
from dashboard.runs.norms_link import (
    Norms,
    format_norms,
    norms_knobs,
    norms_request,
    parse_norms,
)
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request, Scalar
from dashboard.runs.result import Result
from dashboard.state import Visit, read_link, visit, write_link

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


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Layer norm and batch norm",
        "Both shift and scale numbers to mean 0 and variance 1. They differ in which numbers "
        "they take together.",
    )
    catalogue = parts.catalogue_or_wait(3, _HEIGHT)
    if catalogue is None:
        return
    here = visit("norms")
    read_link(here, catalogue, parse_norms, format_norms)
    problems = st.empty()
    view, places = _layout(here, catalogue)
    here.settle(view)
    link = format_norms(view, catalogue)
    write_link(here, link)
    parts.actions(buttons, link, catalogue)
    with problems:
        parts.notice(here.problems)
    request = norms_request(view)
    here.jobs.want([request])
    here.jobs.wait(parts.PATIENCE)

    def draw(result: Result) -> None:
        _compared(request, result)
        for where, part in zip(places[1:], (_evaluated, _padded, _add_and_norm), strict=True):
            with where:
                part(request, result)

    with places[0]:
        parts.results(here.jobs, request, draw, _HEIGHT, "norms-result", grows=True)


def _layout(here: Visit, catalogue: Catalogue) -> tuple[Norms, list[Any]]:
    """The controls of every section, and the places of what they control."""
    knobs = {spec.name: spec for spec in norms_knobs(catalogue)}
    held = dict(here.view.settings)

    def slider(name: str) -> Scalar:
        return knob(knobs[name], held[name], f"norms-{name}", here.fresh, width=_WIDTH)

    st.latex(r"y = \frac{x - \mathrm{mean}}{\sqrt{\mathrm{variance} + \varepsilon}}")
    left, right = st.columns([2, 5], gap="large")
    with left:
        text = matrix_editor(here)
    places = [right.container()]
    st.subheader("Batch norm: training and evaluation", anchor=False)
    with parts.row("norms-training"):
        held |= {name: slider(name) for name in ("momentum", "batches")}
    places.append(st.container())
    st.subheader("Why each token by itself", anchor=False)
    with parts.row("norms-sequence"):
        held["padding"] = slider("padding")
    places.append(st.container())
    st.subheader("Add & norm", anchor=False)
    with parts.row("norms-residual"):
        held["dropout"] = slider("dropout")
        st.button("Draw again", icon=":material/casino:", on_click=_again, args=(here,))
    places.append(st.container())
    return replace(here.view, x=text, settings=pairs(held)), places


def _again(here: Visit) -> None:
    here.change(replace(here.view, seed=(here.view.seed + 1) % (int(SEED.high) + 1)))


def _compared(request: Request, result: Result) -> None:
    with parts.grid(2):
        with st.container(gap="small"):
            st.markdown("**Layer norm**: each row by itself")
            _output(request, result, "layer", "rows")
            _statistics(result, "layer", "row")
        with st.container(gap="small"):
            st.markdown("**Batch norm**, in training: each column by itself")
            _output(request, result, "batch", "columns")
            _statistics(result, "batch", "column")
    st.caption(f"Variances divide by the count; ε = {result.facts['eps']:g}.")


def _output(
    request: Request, result: Result, name: str, framed: str = "", vmax: float = _OUTPUT_END
) -> None:
    numbers = matrix(result.tables[name])

    def make() -> Any:
        return values_heatmap(
            numbers, vmax=vmax, numbers=".3~g", framed=framed, cell=_CELL, room_left=18
        )

    figures.show(f"norms {request.key} {name}", make, f"Numbers of {name}")


def _statistics(result: Result, name: str, each: str) -> None:
    means, variances = result.facts["statistics"][name]
    table = pd.DataFrame({"mean": means, "variance": variances})
    table.index = [f"{each} {index}" for index in range(len(table))]
    st.dataframe(table, width="content")


def _evaluated(request: Request, result: Result) -> None:
    batches = dict(request.options)["batches"]
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.latex(r"\mathrm{running} \leftarrow (1 - m)\,\mathrm{running} + m\,\mathrm{batch}")
        st.markdown(
            "In training, batch norm takes mean and variance from the batch at hand; what an "
            "example becomes depends on its company. In evaluation it takes running ones, which "
            "begin at mean 0 and variance 1 and move by the momentum m. Layer norm does the same "
            "in both."
        )
        st.caption(
            "The running variance divides the batch's sum of squares by its count less one."
        )
    with right:
        seen = f"{batches} batch{'es' * (batches != 1)}"
        st.markdown(f"**Batch norm**, evaluated on X after {seen} of X")
        _output(request, result, "evaluated", "columns")
        _statistics(result, "evaluated", "column")


def _padded(request: Request, result: Result) -> None:
    lengths = result.facts["lengths"]
    count = dict(request.options)["padding"]
    st.markdown(
        f"Two sentences of {lengths[0]} and {lengths[1]} tokens are padded with zeros to "
        f"{max(lengths)} positions, then to {max(lengths) + count}. Nothing about the tokens has "
        "changed. By how much do their outputs?"
    )
    labels = [f"s{s + 1} t{t + 1}" for s, length in enumerate(lengths) for t in range(length)]
    changes = {name: matrix(result.tables[f"change_{name}"]) for name in _CHANGES}
    end = max(float(np.abs(change).max()) for change in changes.values())
    with parts.grid(len(_CHANGES)):
        for name, (title, over) in _CHANGES.items():
            with st.container(gap="small"):
                st.markdown(f"**{title}**: {over}")
                figures.show(
                    f"norms {request.key} change {name}",
                    lambda change=changes[name]: values_heatmap(
                        change, rows=labels, vmax=end, numbers=".2f", cell=(_CELL[0], 22),
                        row_title="", column_title="feature",
                    ),
                    f"Change of each valid output, {title}",
                )  # fmt: skip
                largest = result.facts["change"][name]
                said = "nothing changes" if largest == 0 else f"changes by up to {largest:.2f}"
                st.caption(f"Valid outputs: {said}.")


def _add_and_norm(request: Request, result: Result) -> None:
    largest = float(np.abs(matrix(result.tables["added"])).max()) or 1.0
    with parts.grid(len(_ADD_AND_NORM)):
        for name, (formula, said) in _ADD_AND_NORM.items():
            with st.container(gap="xsmall"):
                st.markdown(rf"$\displaystyle {formula}$")
                st.caption(said)
                _output(request, result, name, "", _OUTPUT_END if name == "normed" else largest)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Post-norm** (Vaswani et al. 2017): the sum is normalised.")
        st.latex(r"\mathrm{LayerNorm}\big(X + \mathrm{Dropout}(f(X))\big)")
    with right:
        st.markdown("**Pre-norm**: only the sublayer's input is; the sum runs on untouched.")
        st.latex(r"X + \mathrm{Dropout}\big(f(\mathrm{LayerNorm}(X))\big)")
    rate = dict(request.options)["dropout"]
    kept = "" if math.isclose(rate, 0) else f" and multiplies the rest by {1 / (1 - rate):.3g}"
    st.caption(
        f"In training, dropout sets a share of {rate:.0%} of the numbers to 0{kept}; in "
        "evaluation it does nothing. X and Y need one shape, which the result keeps."
    )
