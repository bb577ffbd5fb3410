"""Widgets drawn from what plugins declare, and plugin texts made safe to show.

A widget is labelled in Markdown, which fetches images; plugin texts are therefore escaped here,
in one place. Every widget takes its value from the page's view when the view is fresh.
"""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.language import gettext, translated
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import Pairs, Scalar
from dashboard.records.sweep import step_of
from dashboard.records.text import LONGEST_FORMULA, can_be_set, plain, told_apart, with_unit
from dashboard.ui import shown

_LETTER, _PADDING = 6, 24  # px of a cell, by letter and around them


def column_width(title: str, texts: Iterable[str]) -> int:
    """px that hold a column's heading and its longest text.

    Streamlit measures the rows that it draws first, and keeps that width when longer ones come.
    """
    return _LETTER * max(map(letters, (title, *texts))) + _PADDING


def letters(text: str) -> int:
    """How many letters wide a text is; a Chinese character is two."""
    widths = [*map(unicodedata.east_asian_width, text)]
    return len(widths) + widths.count("W") + widths.count("F")


_SIGNIFICANT = 9
_TIMES_SENT = 3
_FINEST_SLIDER = 1000  # more steps than a slider has pixels


def formula(latex: str, *, description: str = "") -> None:
    """A formula, or its source where it cannot be set safely; see :func:`.text.can_be_set`."""
    if not can_be_set(latex):
        shown.text(latex[:LONGEST_FORMULA])
    else:
        shown.latex(" ".join(latex.split()), help=plain(description) or None)


def place(key: str, value: Any, fresh: bool) -> str:
    """Give the widget of that key its value, if the view says so or it has none; the key.

    The value is sent again in the runs that follow at once, until the user changes it: a slow
    browser drops what it was sent when the next run replaces the widget before it was drawn.
    """
    sent = _notes("sent")
    if fresh or key not in st.session_state:
        st.session_state[key], sent[key] = value, (value, 1)
        return key
    given, times = sent.get(key, (None, _TIMES_SENT))
    if times < _TIMES_SENT and st.session_state[key] == given:
        st.session_state[key], sent[key] = given, (given, times + 1)
    else:
        sent[key] = (given, _TIMES_SENT)
    return key


def picked(key: str, use: Callable[[Any], None]) -> Callable[[], None]:
    """What a row of pills or segments of that key does when it changes: ``use`` its choice.

    Nothing is chosen where the chosen one was clicked again; a browser that is busy may report so
    where something must be.
    """

    def changed() -> None:
        if (value := st.session_state[key]) is not None:
            use(value)

    return changed


def choose(
    label: str, options: Sequence[str], value: str, key: str, fresh: bool,
    format_func: Callable[[str], str] = str, **more: Any,
) -> str:  # fmt: skip
    """A select box as Streamlit's, which keeps a value that is not offered."""
    offered = [*options] if value in options else [*options, value]
    place(key, value, fresh or st.session_state.get(key) not in offered)
    # The browser tells which label was chosen, so that no two may be equal.
    said = told_apart({one: format_func(one) for one in offered})
    chosen = st.selectbox(label, offered, key=key, format_func=lambda one: said[one], **more)
    if more.get("label_visibility") == "collapsed":
        shown.title(said[chosen])
    else:
        shown.setting(label, said[chosen])
    return chosen


def draw_parameter(
    spec: Parameter, value: Scalar, key: str, fresh: bool, *, typed: bool = False, **more: Any
) -> Scalar:
    """The widget that a parameter asks for; a field for every number where ``typed``."""
    title, unit = translated(spec.title), translated(spec.unit)
    label = plain(title)
    if unit:
        label = gettext("{title} ({unit})", title=label, unit=plain(unit))
    more["help"] = plain(translated(spec.help)) or None
    if isinstance(spec.default, bool):
        more.pop("width", None)  # as wide as its words, which a box's width would cut
        said = given = st.toggle(label, key=place(key, value, fresh), **more)
    elif isinstance(spec.default, str):
        place(key, value, fresh)
        given = st.selectbox(label, spec.choices, key=key, format_func=translated, **more)
        said = translated(given)
    else:
        # Streamlit takes a slider of other bounds for another widget, which starts at its lowest
        # value.
        bounds, known = (spec.low, spec.high, spec.step), _notes("bounds")
        fresh = fresh or known.get(key, bounds) != bounds
        known[key] = bounds
        said = given = _number(spec, label, place(key, spec.within(value), fresh), typed, more)
    shown.setting(title, with_unit(f"{said}", unit) if unit else said, key)
    return given


def _number(
    spec: Parameter, label: str, key: str, typed: bool, more: Mapping[str, Any]
) -> int | float:
    low, high = spec.bounds
    kind = int if spec.whole else float
    step = kind(step_of(spec))
    fine = typed or (high - low) / step > _FINEST_SLIDER
    widget: Callable[..., Any] = st.number_input if fine else st.slider
    given = widget(label, kind(low), kind(high), step=step, key=key, **more)
    if spec.whole or not given:
        return kind(given)
    # Without the dust of binary fractions: 0.30000000000000004 would make an ugly link.
    return round(given, _SIGNIFICANT - 1 - math.floor(math.log10(abs(given))))


def draw_parameters(
    specs: Iterable[Parameter], values: Pairs, key: str, fresh: bool, **more: Any
) -> Pairs:
    """All of them, one below the other, with the values that the view has."""
    held = {}
    for spec in specs:
        value = dict(values).get(spec.name, spec.default)
        held[spec.name] = draw_parameter(spec, value, f"{key}-{spec.name}", fresh, **more)
    return pairs(held)


def _notes(what: str) -> dict[str, Any]:
    """What is remembered of this session's widgets, by their keys.

    One entry for all of them: each widget that is drawn reads the whole session state.
    """
    return st.session_state.setdefault(f"widgets {what}", {})
