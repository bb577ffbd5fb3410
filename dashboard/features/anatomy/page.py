"""Anatomy: one attention step taken apart, and three looks at why it is made as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.summary import Summary, of_matrix, of_series
from dashboard.features.anatomy import mask, state, step
from dashboard.features.anatomy.chart_landscape import landscape_chart, spread_chart
from dashboard.features.anatomy.controls import SLIDER_WIDTH, scoring_controls, step_controls
from dashboard.features.anatomy.state import LANDSCAPE, MASK, ROOT, STEP, Anatomy
from dashboard.features.anatomy.view import (
    COUNT_FIELD,
    LINK,
    PART,
    X_FIELD,
    Y_FIELD,
    formulas,
    requests,
)
from dashboard.language import gettext, gettext_noop
from dashboard.links.attending import brings_own
from dashboard.links.fields import Setting
from dashboard.records.attending import SOFTMAX
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.fields import draw_setting
from dashboard.ui.layout import normaliser_title
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula, place, plain

_PLOT_HEIGHT = 330  # px, of a place while it waits
_ROOT_TITLES = {
    "dot": gettext_noop("without the root"), "scaled_dot": gettext_noop("with the root"),
}  # fmt: skip
_LANDSCAPES = {  # a column's title, and what its chart shows
    "score": (
        gettext_noop("score"), gettext_noop("Score of every key for the query {x:g}, {y:g}")
    ),
    "weight": (
        gettext_noop("weight"), gettext_noop("Weight of every key for the query {x:g}, {y:g}")
    ),
}  # fmt: skip


def draw_root(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Variance, largest weight and entropy against d."""
    (request,), view = asked, session.view
    formula(
        r"\mathrm{Var}\Big(\sum_{i=1}^{d} q_i k_i\Big) = d, \qquad "
        r"\mathrm{Var}\Big(\tfrac{1}{\sqrt d}\sum_{i=1}^{d} q_i k_i\Big) = 1"
    )
    shown.caption(
        gettext(
            "Queries and keys are drawn from a standard normal. Without the root the scores "
            "spread ever wider, one key takes all the weight, and next to nothing is left to "
            "learn from. Dashed: what theory says."
        )
    )

    def plots(result: Result) -> None:
        _root(view, result, _named(session.catalogue, view))

    results.results(session.jobs, request, plots, _PLOT_HEIGHT, "anatomy-root", grows=True)


def _named(catalogue: Catalogue, view: Anatomy) -> dict[str, str]:
    """The scorings that are measured, by name; the chosen one where it is a third."""
    named = {name: gettext(title) for name, title in _ROOT_TITLES.items()}
    named.setdefault(view.scoring, catalogue.scorings[view.scoring].title)
    return named


def _root(view: Anatomy, result: Result, names: Mapping[str, str]) -> None:
    measured = result.tables["spread"].to_pandas()
    measured["scoring"] = measured["scoring"].map(names)
    colours = dict(zip(names.values(), PANEL_COLOURS.values(), strict=False))
    plots = {
        "variance": (
            gettext("variance of the scores"),
            {"log": True, "expected": {names["dot"]: "datum.d", names["scaled_dot"]: "1"}},
        ),
        "largest": (
            gettext("largest of {count} weights, on average", count=view.count), {"top": 1.0}
        ),
        "entropy": (gettext("entropy of the weights, nats"), {"top": math.log(view.count)}),
    }  # fmt: skip
    with layout.grid(len(plots)):
        for column, (title, more) in plots.items():
            charts.show(
                f"root {result.digest} {column} {view.count} {names}",
                lambda column=column, title=title, more=more: spread_chart(
                    measured, column, title=title, colours=colours, **more
                ),
                gettext("{title} against d", title=title),
                summary=_spread(measured, column, title),
            )


def _spread(measured: pd.DataFrame, column: str, title: str) -> Summary:
    """A line per scoring, of one column over d."""
    scoring = gettext("scoring")
    told = measured.loc[:, ["scoring", "d", column]].rename(columns={"scoring": scoring})
    return of_series(told, name=scoring, x="d", y=column, titles=("d", title))


def _plane(landscape: pa.Table, column: str, quantity: str) -> Summary:
    """The largest of a column over the keys' two numbers."""
    held = landscape.to_pandas()
    grid = held.pivot(index="y", columns="x", values=column)
    y, x = ([f"{round(each, 6) + 0.0:g}" for each in axis] for axis in (grid.index, grid.columns))
    return of_matrix(
        np.asarray(grid), y, x, quantity=quantity,
        names=(gettext("second number"), gettext("first number")),
    )  # fmt: skip


def _told(view: Anatomy, catalogue: Catalogue) -> str:
    """What is seen, and what makes weights of the scores."""
    if brings_own(view, catalogue):
        return gettext(
            "Every point is a key of two numbers, the ring is the query: what the scoring says of "
            "each key, and the weight of each key if all of them were asked at once, by the "
            "scoring's own way. Grey keys are ruled out by a score of −∞."
        )
    return gettext(
        "Every point is a key of two numbers, the ring is the query: what the scoring says of "
        "each key, and the weight of each key if all of them were asked at once, by the "
        "normaliser {normaliser}. Grey keys are ruled out by a score of −∞.",
        normaliser=plain(normaliser_title(view.normaliser, catalogue)),
    )


def draw_landscape(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Scores and weights over all keys of two numbers."""
    (request,), view = asked, session.view
    formula("a(q, k) = " + session.catalogue.scorings[view.scoring].formula)
    shown.caption(_told(view, session.catalogue))
    if (
        chosen := session.catalogue.normalisers.get(view.normaliser)
    ) and view.normaliser != SOFTMAX:
        formula(r"\alpha_i = " + chosen.formula, description=chosen.description)

    def planes(result: Result) -> None:
        table = result.tables["landscape"]
        with layout.grid(2):
            for column, (quantity, said) in _LANDSCAPES.items():
                title = gettext(quantity)
                charts.show(
                    f"landscape {result.digest} {column} {view.x} {view.y}",
                    lambda column=column, title=title: landscape_chart(
                        table, column, (view.x, view.y), title=title
                    ),
                    gettext(said, x=view.x, y=view.y),
                    summary=_plane(table, column, title),
                )

    results.results(session.jobs, request, planes, _PLOT_HEIGHT, "anatomy-landscape", grows=True)


_TITLES = {
    STEP: gettext_noop("One step"),
    MASK: gettext_noop("Masked softmax"),
    ROOT: gettext_noop("Why divide by √d"),
    LANDSCAPE: gettext_noop("Landscape"),
}
_PLACES, _HEIGHT = 3, 300  # of a page in waiting
_PLOTTED: dict[str, tuple[Setting[Anatomy], ...]] = {
    ROOT: (COUNT_FIELD,), LANDSCAPE: (X_FIELD, Y_FIELD),
}  # fmt: skip
_DRAW: dict[str, Callable[[Session[Anatomy], tuple[Request, ...]], None]] = {
    STEP: step.draw, MASK: mask.draw, ROOT: draw_root, LANDSCAPE: draw_landscape,
}  # fmt: skip


def _controls(session: Session[Anatomy]) -> None:
    _part(session)
    if session.view.part == STEP:
        step_controls(session)
    elif session.view.part == MASK:
        mask.controls(session)
    else:
        row = layout.row("anatomy-plot")
        scoring_controls(session, row)
        with row:
            for field in _PLOTTED[session.view.part]:
                draw_setting(session, field, width=SLIDER_WIDTH)


def _part(session: Session[Anatomy]) -> None:
    chosen = st.segmented_control(
        gettext(PART.title),
        state.PARTS,
        format_func=lambda part: gettext(_TITLES[part]),
        key=place(session.key(PART.name), session.view.part, session.fresh),
        label_visibility="collapsed",
    )
    # Pressed once more, a choice is taken back: the part stays.
    session.update(part=chosen or session.view.part)
    shown.setting(gettext(PART.title), gettext(_TITLES[session.view.part]))


def _results(session: Session[Anatomy], _: None) -> None:
    if sentence := state.missing(session.catalogue, session.view):
        results.absent(sentence, _HEIGHT, "anatomy-absent")
        return
    _DRAW[session.view.part](session, requests(session.view, session.catalogue))


PAGE = Page(
    name="anatomy",
    title="Anatomy",
    explanation="One attention step taken apart: what happens to queries, keys and values on "
    "their way to the output, number by number.",
    link=LINK,
    controls=_controls,
    requests=requests,
    formulas=formulas,
    results=_results,
    panels=_PLACES,
    height=_HEIGHT,
)
