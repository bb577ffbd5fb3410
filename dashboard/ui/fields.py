"""Draws the widget of a field, and tells the session's view what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import streamlit as st

from dashboard.language import translated
from dashboard.links.fields import AUTO, Choice, Setting, Settings, Text
from dashboard.links.link import View
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import defaults, pairs
from dashboard.records.request import Pairs
from dashboard.records.text import LONGEST_LINE, one_line
from dashboard.ui import shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, draw_parameter, place, plain

_DEVICE_WIDTH = 110

Width = int | Literal["stretch"]


def draw_setting(
    session: Session[View], catalogue: Catalogue, field: Setting[View], *,
    width: Width = "stretch",
) -> Any:  # fmt: skip
    """The switch, choice, slider or number field of a setting; its value."""
    value = draw_parameter(
        field.bounds(session.view, catalogue), field.of(session.view), session.key(field.name),
        session.fresh, typed=field.typed, width=width,
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_settings(
    session: Session[View], catalogue: Catalogue, field: Settings[View], *,
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
    offered = {each.name: each for each in field.parameters(session.view, catalogue)}
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
    session: Session[View], catalogue: Catalogue, field: Choice[View], *,
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
        plain(translated(field.title)), [*field.options(session.view, catalogue), *more],
        field.of(session.view), session.key(field.name), session.fresh,
        title=titles or (lambda name: translated(field.titles(name, catalogue))),
        help=plain(translated(field.help)) or None, width=width,
        label_visibility="visible" if visible else "collapsed",
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_device(session: Session[View], catalogue: Catalogue, field: Choice[View]) -> str:
    """Where to compute, if there is a choice."""
    if not {*catalogue.devices} - {AUTO, "cpu"}:
        return field.of(session.view)
    return draw_choice(session, catalogue, field, width=_DEVICE_WIDTH)


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
