"""One panel of the page *Kernel regression*: its scoring, its formula, its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from dashboard.controls import choose, knobs, place
from dashboard.pages import parts
from dashboard.runs.link_parts import LETTERS, defaults, pairs
from dashboard.runs.offers import Catalogue
from dashboard.runs.regression_link import (
    RegressionPanel,
    fitting_knobs,
    missing,
    panel_knobs,
    regression_panel,
)
from dashboard.runs.request import Pairs
from dashboard.state import Visit

_LEARN_HELP = "By gradient descent, predicting every training point from all others."


class Places(NamedTuple):
    """Where in a panel things go that come after its controls were read."""

    export: Any
    result: Any
    learning: Any


def panel_controls(
    here: Visit, catalogue: Catalogue, letter: str, panel: RegressionPanel, *, remove: bool
) -> tuple[Places, RegressionPanel]:
    """Draw them: the name above the result's place, the parameters below it.

    Args:
        remove: whether the panel may be taken away.

    Returns:
        The places for the result and for the learning curve, and the panel as the widgets say.
    """
    with st.container(key=f"panel-{letter}", gap="small"):
        chosen, menu = _scoring(here, catalogue, letter, panel, remove)
        if missing(catalogue, chosen):
            return Places(menu, st.container(), st.container()), chosen
        parts.formula_of(letter, catalogue.scorings[chosen.scoring])
        result = st.container()
        key = f"panel-{letter}-{chosen.scoring}"
        chosen = _parameters(here, catalogue, key, chosen)
        return Places(menu, result, st.container()), chosen


def _scoring(
    here: Visit, catalogue: Catalogue, letter: str, panel: RegressionPanel, remove: bool
) -> tuple[RegressionPanel, Any]:
    """What the panel shows; the place for its export menu."""
    offered = catalogue.scorings

    def title(name: str) -> str:
        return offered[name].title if name in offered else f"{name} (not installed)"

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        parts.badge(letter)
        scoring = choose(
            f"Scoring of panel {letter}",
            list(offered),
            panel.scoring,
            f"panel-{letter}-scoring",
            here.fresh,
            title=title,
            label_visibility="collapsed",
        )
        menu = st.container(width="content")
        if remove:
            parts.remove(letter, _remove, here, letter)
    if scoring == panel.scoring:
        return panel, menu
    learn = panel.learn and offered[scoring].learns
    return regression_panel(catalogue, scoring, model=panel.model, learn=learn), menu


def _remove(here: Visit, letter: str) -> None:
    kept = [p for own, p in zip(LETTERS, here.view.panels, strict=False) if own != letter]
    here.change(replace(here.view, panels=tuple(kept)))


def _parameters(
    here: Visit, catalogue: Catalogue, key: str, panel: RegressionPanel
) -> RegressionPanel:
    # Names hold no dash, so a parameter called "learn" cannot meet our own "--learn".
    offer = catalogue.scorings[panel.scoring]
    values = dict(panel.parameters) | dict(knobs(offer.knobs, panel.parameters, key, here.fresh))
    learn = offer.learns and st.toggle(
        "Learn from the data",
        key=place(f"{key}--learn", panel.learn, here.fresh),
        help=_LEARN_HELP,
    )
    model, fitting = panel.model, panel.fitting or defaults(fitting_knobs(catalogue))
    models = catalogue.of_task("models", "regression")
    if learn or len(models) > 1:
        with st.popover("More", icon=":material/tune:", type="tertiary"):
            if len(models) > 1:
                model = choose(
                    "Model", list(models), model, f"{key}--model", here.fresh,
                    title=lambda name: models[name].title,
                )  # fmt: skip
            panel = replace(panel, model=model)
            own = [k for k in panel_knobs(catalogue, panel) if k not in offer.knobs]
            values |= dict(knobs(own, pairs(values), f"{key}-{model}", here.fresh))
            if learn:
                fitting = knobs(fitting_knobs(catalogue), fitting, f"{key}--fit", here.fresh)
    return replace(
        panel,
        parameters=_settled(catalogue, panel, values),
        learn=learn,
        fitting=fitting if learn else (),
    )


def _settled(catalogue: Catalogue, panel: RegressionPanel, values: dict) -> Pairs:
    """A value for every parameter that the panel has now, and for no other."""
    return pairs({k.name: values.get(k.name, k.default) for k in panel_knobs(catalogue, panel)})
