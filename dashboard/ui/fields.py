"""Draws the widget of a field, and tells the session's view what it says."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st

from dashboard.language import gettext, together, translated
from dashboard.links.attending import HELP, TITLE, brings_own, normalisers, parameters_of
from dashboard.links.fields import AUTO, Choice, Setting, Settings, Text
from dashboard.links.link import View
from dashboard.records.attending import SOFTMAX, Attending, Normalised
from dashboard.records.parameter import pairs
from dashboard.records.request import Pairs
from dashboard.records.text import LONGEST_LINE, lines, one_line
from dashboard.ui import shown
from dashboard.ui.layout import normaliser_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, draw_parameter, draw_parameters, place, plain

Chosen = TypeVar("Chosen", bound=Normalised)
Width = int | Literal["stretch"]

_DEVICE_WIDTH = 110  # px


def draw_normaliser(
    session: Session[Any], chosen: Chosen, key: str, *,
    width: Width = "stretch", parameters: Mapping[str, Any] | None = None,
) -> Chosen:  # fmt: skip
    """A select box, and a widget for each parameter; the record as they say.

    A sentence stands instead where the scoring takes no other normaliser. ``parameters`` says how
    their widgets are drawn; as wide as the box where None.
    """
    catalogue, fresh = session.catalogue, session.fresh
    if isinstance(chosen, Attending) and brings_own(chosen, catalogue):
        own = gettext(
            "This scoring makes its weights in its own way, so it takes no other normaliser."
        )
        st.caption(own, width=width)
        return replace(chosen, normaliser=SOFTMAX, normaliser_parameters=())
    offered, entry = normalisers(catalogue), catalogue.normalisers.get(chosen.normaliser)
    name = choose(
        translated(TITLE), offered, chosen.normaliser, f"{key}-name", fresh, width=width,
        format_func=partial(normaliser_title, catalogue=catalogue),
        help=together((translated(HELP), plain(entry.description) if entry else "")),
    )  # fmt: skip
    if name not in offered:
        return chosen
    held = chosen.normaliser_parameters if name == chosen.normaliser else ()
    drawn = draw_parameters(
        parameters_of(catalogue, name), held, f"{key}-{name}", fresh,
        **(parameters or {"width": width}),
    )  # fmt: skip
    return replace(chosen, normaliser=name, normaliser_parameters=drawn)


def draw_normaliser_of_view(session: Session[Any], **layout: Any) -> None:
    """The same for a page that has one; the session's view follows."""
    chosen = draw_normaliser(session, session.view, session.key("normaliser"), **layout)
    session.update(
        normaliser=chosen.normaliser, normaliser_parameters=chosen.normaliser_parameters
    )


def draw_setting(session: Session[View], field: Setting[View], *, width: Width = "stretch") -> Any:
    """The switch, choice, slider or number field of a setting; its value."""
    value = draw_parameter(
        field.bounds(session.view, session.catalogue), field.of(session.view),
        session.key(field.name), session.fresh, typed=field.typed, width=width,
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_settings(
    session: Session[View], field: Settings[View], *, only: Iterable[str] | None = None,
    digits: str | None = None, **more: Any,
) -> Pairs:  # fmt: skip
    """The widgets of ``only`` these settings, of all where None; all their values.

    A setting that the view has no value for, since its owner is new, takes its default. ``digits``
    is a printf format of numbers that are not whole, such as ``%g``.
    """
    held = {}
    known, offered = dict(field.of(session.view)), {}
    for spec in field.parameters(session.view, session.catalogue):
        offered[spec.name] = spec
        held[spec.name] = known.get(spec.name, spec.default)
    for name in offered if only is None else only:
        spec, key = offered[name], session.key(field.owner(session.view), name)
        own: dict[str, Any] = {**more}
        if digits and isinstance(spec.default, float):
            own["format"] = digits
        held[name] = draw_parameter(spec, held[name], key, session.fresh, **own)
    session.update(**{field.name: pairs(held)})
    return field.of(session.view)


def draw_choice(
    session: Session[View], field: Choice[View], *,
    more: Iterable[str] = (), titles: Callable[[str], str] | None = None,
    width: Width = "stretch",
) -> str:  # fmt: skip
    """The select box of a choice; a value that is not offered stays, so that a page can say so.

    Offered are ``more`` besides, such as files of this session; ``titles`` replaces the field's.
    """
    value = choose(
        plain(translated(field.title)), [*field.options(session.view, session.catalogue), *more],
        field.of(session.view), session.key(field.name), session.fresh,
        format_func=titles or (lambda name: translated(field.titles(name, session.catalogue))),
        help=plain(translated(field.help)) or None, width=width,
    )  # fmt: skip
    session.update(**{field.name: value})
    return value


def draw_device(session: Session[View], field: Choice[View]) -> str:
    """Where to compute, if there is a choice."""
    if not {*session.catalogue.devices} - {AUTO, "cpu"}:
        return field.of(session.view)
    return draw_choice(session, field, width=_DEVICE_WIDTH)


def draw_text(session: Session[View], field: Text[View], *, width: Width = "stretch") -> str:
    """The field of one line of text, or of several; its value, tidy."""
    is_line = field.longest == LONGEST_LINE
    more: dict[str, Any] = {} if is_line else {"height": "content"}
    given = (st.text_input if is_line else st.text_area)(
        plain(translated(field.title)),
        key=place(session.key(field.name), field.of(session.view), session.fresh),
        placeholder=translated(field.placeholder) or None,
        help=plain(translated(field.help)) or None, width=width, **more,
    )  # fmt: skip
    value = one_line(given or "") if is_line else lines(given or "", field.longest)
    if (count := len(given or "")) > field.longest:  # with a limit a browser drops what is pasted
        cut = {"count": count, "most": field.longest}
        st.caption(gettext("Of {count:,} characters the first {most:,} are read.", **cut))
    if value:
        shown.setting(translated(field.title), value)
    session.update(**{field.name: value})
    return value
