"""Draws the choice of a normaliser and its parameters, as every page does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar

import streamlit as st

from dashboard.language import gettext, gettext_noop, translated
from dashboard.language.joining import together
from dashboard.links.attending import HELP, TITLE, brings_own, normalisers, parameters_of
from dashboard.records.attending import Attending, Normalised, with_softmax
from dashboard.records.catalogue import Catalogue
from dashboard.ui.session import Session
from dashboard.ui.titles import normaliser_title
from dashboard.ui.widgets import choose, draw_parameters, plain

Chosen = TypeVar("Chosen", bound=Normalised)
View = TypeVar("View", bound=Normalised)
Width = int | Literal["stretch"]

_OWN_WAY = gettext_noop(
    "This scoring makes its weights in its own way, so it takes no other normaliser."
)


def draw_normaliser(
    chosen: Chosen, catalogue: Catalogue, key: str, fresh: bool, *,
    width: Width = "stretch", parameters: Mapping[str, Any] | None = None,
) -> Chosen:  # fmt: skip
    """A select box, searched by typing, and a widget for each parameter; the record as they say.

    A sentence stands instead where the scoring takes no other normaliser.

    Args:
        key: begins the widgets' keys.
        parameters: how the parameters' widgets are drawn, see
            :func:`~dashboard.ui.widgets.draw_parameter`; as wide as the box where None.
    """
    if isinstance(chosen, Attending) and brings_own(chosen, catalogue):
        st.caption(gettext(_OWN_WAY), width=width)
        return with_softmax(chosen)
    name = choose(
        translated(TITLE), normalisers(catalogue), chosen.normaliser, f"{key}-name", fresh,
        title=lambda name: normaliser_title(name, catalogue), width=width,
        help=together((translated(HELP), _described(chosen.normaliser, catalogue))),
    )  # fmt: skip
    if name not in normalisers(catalogue):
        return chosen
    held = chosen.normaliser_parameters if name == chosen.normaliser else ()
    drawn = draw_parameters(
        parameters_of(catalogue, name), held, f"{key}-{name}", fresh,
        **(parameters or {"width": width}),
    )  # fmt: skip
    return replace(chosen, normaliser=name, normaliser_parameters=drawn)


def draw_normaliser_of_view(
    session: Session[View], catalogue: Catalogue, *,
    width: Width = "stretch", parameters: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """The same for a page that has one; the session's view follows."""
    chosen = draw_normaliser(
        session.view, catalogue, session.key("normaliser"), session.fresh,
        width=width, parameters=parameters,
    )  # fmt: skip
    session.update(
        normaliser=chosen.normaliser, normaliser_parameters=chosen.normaliser_parameters
    )


def _described(name: str, catalogue: Catalogue) -> str:
    entry = catalogue.normalisers.get(name)
    return plain(entry.description) if entry else ""
