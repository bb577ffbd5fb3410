"""The field of a panel in which a scoring is typed, and what is said of the formula in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.features.regression.view import Regression
from dashboard.links.fits import Fit, default_fit
from dashboard.records.catalogue import Catalogue
from dashboard.records.formula import LONGEST, Formula, Problem
from dashboard.records.parameter import pairs
from dashboard.records.request import FORMULA, is_formula
from dashboard.ui import formulas
from dashboard.ui.session import Session
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import place, plain

_PLACEHOLDER = "-|q - k|^2 / (2 w^2)"
_HELP = (
    "Of the query q and the key k, vectors of d numbers. Other letters are parameters, with a "
    "slider each. For example `q.k / sqrt(d)`, `-max(abs(q - k))`, `-|q - k| / w`."
)


def formula_field(
    session: Session[Regression], catalogue: Catalogue, letter: str, panel: Fit
) -> Fit:
    """A line to type in, and under it what is wrong with the formula.

    Returns:
        The panel with the formula as its scoring; as it was while the formula cannot be used.
    """
    held = panel.scoring.removeprefix(FORMULA) if is_formula(panel.scoring) else ""
    given = st.text_input(
        f"Formula of panel {letter}",
        key=place(formulas.field_key(session.page, letter), held, session.fresh),
        max_chars=LONGEST, placeholder=_PLACEHOLDER, help=_HELP,
    )  # fmt: skip
    text = formulas.typed(given)
    if not text:
        st.caption(f"Type a formula of q and k. {_still(panel, catalogue)}")
        return panel
    formula = catalogue.formulas.get(text)
    if formula is None:
        formulas.waiting(session.page)
    elif formula.problem:
        _wrong(text, formula.problem, _still(panel, catalogue))
    elif formula.entry and formula.entry.name != panel.scoring:
        return _with(panel, formula.entry.name, catalogue)
    return panel


def package_button(letter: str, formula: Formula) -> None:
    """A button that downloads the plugin that the formula would be."""
    st.download_button(
        "Make it a package",
        data=partial(_zipped, formula.files),
        file_name=f"{formula.slug}.zip",
        mime="application/zip",
        key=f"panel-{letter}-package",
        on_click="ignore",
        type="tertiary",
        icon=":material/deployed_code:",
        help="A plugin with this scoring and its test, to install and to change.",
    )


def _with(panel: Fit, scoring: str, catalogue: Catalogue) -> Fit:
    """The panel with this scoring; a letter that the formula before had too keeps its value."""
    fit = default_fit(
        catalogue, scoring, model=panel.model, learn=panel.learn, normalised=panel
    )  # fmt: skip
    if not is_formula(panel.scoring):
        return fit
    held = dict(panel.parameters)
    return replace(fit, parameters=pairs({n: held.get(n, v) for n, v in fit.parameters}))


def _wrong(text: str, problem: Problem, still: str) -> None:
    meant = f" Did you mean {problem.suggestion}?" if problem.suggestion else ""
    st.error(plain(f"{problem.sentence[:1].upper()}{problem.sentence[1:]}.{meant}"))
    st.code(problem.marked(text), language=None)
    st.caption(still)


def _still(panel: Fit, catalogue: Catalogue) -> str:
    return f"Below is still {plain(scoring_title(panel.scoring, catalogue))}."


def _zipped(files: Mapping[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(zipfile.ZipInfo(name), text)
    return held.getvalue()
