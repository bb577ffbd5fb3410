"""Widgets drawn from what plugins declare, and plugin texts made safe to show.

A widget is labelled in Markdown, which fetches images; plugin texts are therefore escaped here,
in one place. Every widget takes its value from the page's view when the view is fresh.

How wide a column of a table must be.

Streamlit measures the rows that it draws first, and keeps that width when longer ones come. A
number that is cut at its left reads as another.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from dashboard.language import translated
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import Pairs, Scalar
from dashboard.records.text import LONGEST_FORMULA, can_be_set, plain
from dashboard.ui import shown
from dashboard.ui.speaking import parameter_told

_LETTER, _PADDING = 6, 24  # px of a cell, by letter and around them


def column_width(title: str, texts: Iterable[str]) -> int:
    """px that hold a column's heading and its longest text."""
    return _LETTER * max(map(letters, (title, *texts))) + _PADDING


def letters(text: str) -> int:
    """How many letters wide a text is; a Chinese character is two."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


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
    """What a row of pills or segments of that key does when it changes.

    A browser that is busy may report that nothing is chosen where something must be; ``use`` is
    called with a choice alone.
    """

    def changed() -> None:
        if (value := st.session_state[key]) is not None:
            use(value)

    return changed


def choose(
    label: str,
    options: Sequence[str],
    value: str,
    key: str,
    fresh: bool,
    *,
    title: Callable[[str], str] = str,
    **more: Any,
) -> str:
    """A select box that keeps a value which is not offered, so that a page can say so."""
    offered = [*options] if value in options else [*options, value]
    place(key, value, fresh or st.session_state.get(key) not in offered)
    chosen = st.selectbox(label, offered, key=key, format_func=title, **more)
    if more.get("label_visibility") == "collapsed":
        shown.title(title(chosen))
    else:
        shown.setting(label, title(chosen))
    return chosen


def draw_parameter(
    spec: Parameter, value: Scalar, key: str, fresh: bool, *, typed: bool = False, **more: Any
) -> Scalar:
    """The widget that a parameter asks for: switch, choice, slider or number field.

    Args:
        typed: a number field for every number.
    """
    spec = parameter_told(spec)
    given = _widget(spec, value, key, fresh, typed, more)
    said = translated(given) if isinstance(given, str) else given
    shown.setting(spec.title, f"{said} {spec.unit}" if spec.unit else said)
    return given


def _widget(
    spec: Parameter, value: Scalar, key: str, fresh: bool, typed: bool, more: dict[str, Any]
) -> Scalar:
    label = plain(spec.title) + (f" ({plain(spec.unit)})" if spec.unit else "")
    if not isinstance(spec.default, bool | str):
        value, fresh = _bounded(spec, value, key, fresh)
    shared = {"key": place(key, value, fresh), "help": plain(spec.help) or None, **more}
    if isinstance(spec.default, bool):
        return st.toggle(label, **shared)
    if isinstance(spec.default, str):
        return st.selectbox(label, spec.choices, format_func=translated, **shared)
    low, high = spec.bounds
    kind = int if spec.whole else float
    step = kind(spec.step or (1 if spec.whole else (high - low) / 100))
    bounds = {"min_value": kind(low), "max_value": kind(high), "step": step}
    if typed or (high - low) / step > _FINEST_SLIDER:
        given = st.number_input(label, **bounds, **shared)
    else:
        given = st.slider(label, **bounds, **shared)
    return given if spec.whole else _rounded(given)


def draw_parameters(
    specs: Iterable[Parameter], values: Pairs, key: str, fresh: bool, **more: Any
) -> Pairs:
    """All of them, one below the other, with the values that the view has."""
    held = dict(values)
    return pairs(
        {
            spec.name: draw_parameter(
                spec, held.get(spec.name, spec.default), f"{key}-{spec.name}", fresh, **more
            )
            for spec in specs
        }
    )


def _bounded(spec: Parameter, value: Any, key: str, fresh: bool) -> tuple[Scalar, bool]:
    """The value within its bounds; fresh too where these moved since the widget was drawn.

    Streamlit takes a slider of other bounds for another widget, which starts at its lowest value.
    """
    bounds = spec.low, spec.high, spec.step
    known = _notes("bounds")
    moved = known.get(key, bounds) != bounds
    known[key] = bounds
    return type(spec.default)(min(max(value, spec.low), spec.high)), fresh or moved


def _notes(what: str) -> dict[str, Any]:
    """What is remembered of this session's widgets, by their keys.

    One entry for all of them: each widget that is drawn reads the whole session state.
    """
    return st.session_state.setdefault(f"widgets {what}", {})


def _rounded(value: float) -> float:
    """Without the dust of binary fractions: 0.30000000000000004 would make an ugly link."""
    if not value:
        return 0.0
    return round(value, _SIGNIFICANT - 1 - math.floor(math.log10(abs(value))))
