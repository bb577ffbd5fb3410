"""Draws the widget of a field, and tells the session's view what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar

import streamlit as st

from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.links.attending import HELP, TITLE, brings_own, normalisers, parameters_of
from dashboard.links.fields import AUTO, Choice, Setting, Settings, Text
from dashboard.links.link import View
from dashboard.records.attending import Attending, Normalised, with_softmax
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import defaults, pairs
from dashboard.records.request import Pairs
from dashboard.records.text import LONGEST_LINE, one_line
from dashboard.ui import shown
from dashboard.ui.layout import normaliser_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, draw_parameter, draw_parameters, place, plain

Chosen = TypeVar("Chosen", bound=Normalised)
NormalisedView = TypeVar("NormalisedView", bound=Normalised)
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
    session: Session[NormalisedView],
    *,
    width: Width = "stretch",
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """The same for a page that has one; the session's view follows."""
    chosen = draw_normaliser(
        session.view, session.catalogue, session.key("normaliser"), session.fresh,
        width=width, parameters=parameters,
    )  # fmt: skip
    session.update(
        normaliser=chosen.normaliser, normaliser_parameters=chosen.normaliser_parameters
    )


def _described(name: str, catalogue: Catalogue) -> str:
    entry = catalogue.normalisers.get(name)
    return plain(entry.description) if entry else ""


_DEVICE_WIDTH = 110


def draw_setting(
    session: Session[View], field: Setting[View], *,
    width: Width = "stretch",
) -> Any:  # fmt: skip
    """The switch, choice, slider or number field of a setting; its value."""
    value = draw_parameter(
        field.bounds(session.view, session.catalogue), field.of(session.view),
        session.key(field.name),
        session.fresh, typed=field.typed, width=width,
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_settings(
    session: Session[View], field: Settings[View], *,
    only: Iterable[str] | None = None, typed: bool = False, digits: str | None = None,
    width: Width = "stretch",
) -> Pairs:  # fmt: skip
    """The widgets of several settings, one below the other or along a row; all their values.

    A setting that the view has no value for, since its owner is new, takes its default.

    Args:
        only: names of those to draw, in this order; by default all.
        typed: whether numbers are typed into fields rather than dragged on sliders.
        digits: a printf format of numbers that are not whole, such as ``%g``.
    """
    offered = {each.name: each for each in field.parameters(session.view, session.catalogue)}
    known = dict(field.of(session.view))
    held = {name: known.get(name, value) for name, value in defaults(offered.values())}
    for name in offered if only is None else only:
        spec, key = offered[name], session.key(field.owner(session.view), name)
        more = {"format": digits} if digits and isinstance(spec.default, float) else {}
        held[name] = draw_parameter(
            spec, held[name], key, session.fresh, typed=typed, width=width, **more
        )
    session.update(**{field.name: pairs(held)})
    return field.of(session.view)


def draw_choice(
    session: Session[View], field: Choice[View], *,
    more: Iterable[str] = (), titles: Callable[[str], str] | None = None,
    width: Width = "stretch", visible: bool = True,
) -> str:  # fmt: skip
    """The select box of a choice; a value that is not offered stays, so that a page can say so.

    Args:
        more: offered besides the field's own options, such as files of this session.
        titles: what an option is called, where the field cannot say.
        visible: whether its title stands above it.
    """
    value = choose(
        plain(translated(field.title)), [*field.options(session.view, session.catalogue), *more],
        field.of(session.view), session.key(field.name), session.fresh,
        title=titles or (lambda name: translated(field.titles(name, session.catalogue))),
        help=plain(translated(field.help)) or None, width=width,
        label_visibility="visible" if visible else "collapsed",
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_device(session: Session[View], field: Choice[View]) -> str:
    """Where to compute, if there is a choice."""
    if not {*session.catalogue.devices} - {AUTO, "cpu"}:
        return field.of(session.view)
    return draw_choice(session, field, width=_DEVICE_WIDTH)


def draw_text(session: Session[View], field: Text[View], *, width: Width = "stretch") -> str:
    """The field of one line of text; its value, tidy."""
    given = st.text_input(
        plain(translated(field.title)),
        key=place(session.key(field.name), field.of(session.view), session.fresh),
        max_chars=LONGEST_LINE,
        placeholder=translated(field.placeholder) or None,
        help=plain(translated(field.help)) or None,
        width=width,
    )
    value = one_line(given)
    if value:
        shown.setting(translated(field.title), value)
    session.update(**{field.name: value})
    return value
