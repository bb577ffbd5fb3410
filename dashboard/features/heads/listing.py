"""Which heads the page *Heads* lists, in which order."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.features.heads.figures import (
    CHANGED,
    FIGURES,
    FINDING,
    LARGEST,
    NEEDED,
    PLACE,
    Only,
)
from dashboard.features.heads.view import EVERY_KIND, SHOWN_KINDS, SORT, Heads
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.interventions import KINDS, ON, state_of
from dashboard.records.result import Result
from dashboard.ui import layout
from dashboard.ui.fields import draw_choice
from dashboard.ui.session import Session
from dashboard.ui.translations import KIND_TITLES
from dashboard.ui.widgets import place

FIGURE_TITLES = {
    "leave_one_out": gettext_noop("Ablation effect (nats)"),
    "entropy": gettext_noop("Entropy (0–1)"),
    "eos": gettext_noop("On <eos> (0–1)"),
    "concentration": gettext_noop("On one word (0–1)"),
    "diagonality": gettext_noop("Diagonal (±1)"),
    "distance": gettext_noop("From untrained (bits)"),
    "padding": gettext_noop("On padding (0–1)"),
    "row_error": gettext_noop("Row error"),
}
_KIND_TITLES = {**KIND_TITLES, EVERY_KIND: gettext_noop("All")}
_EVERY = ""
_SPECIAL = {
    _EVERY: gettext_noop("all heads"),
    FINDING: gettext_noop("with a bug or finding"),
    CHANGED: gettext_noop("changed"),
}
_SIGNS = {"<": gettext_noop("at most"), ">": gettext_noop("at least")}
_NAMES = {
    "cross": gettext_noop("cross {place}"),
    "encoder": gettext_noop("encoder {place}"),
    "decoder": gettext_noop("decoder {place}"),
}
_LOWEST_FIRST = ("leave_one_out",)
_BOUNDS = {
    "leave_one_out": ("<", -NEEDED), "entropy": (">", 0.9), "eos": (">", 0.5),
    "concentration": (">", 0.75), "diagonality": (">", 0.75), "distance": ("<", 0.05),
    "padding": (">", 1e-6), "row_error": (">", 1e-3),
}  # fmt: skip
_SORT_WIDTH, _ONLY_WIDTH, _NUMBER_WIDTH = 170, 170, 130  # px


def filters(session: Session[Heads], catalogue: Catalogue) -> None:
    """The choices of kind, order and filter."""
    with layout.row("heads-filters"):
        _kind(session)
        draw_choice(
            session, catalogue, SORT, width=_SORT_WIDTH,
            titles=_sort_title,
        )  # fmt: skip
        session.update(only=_only(session))


def _kind(session: Session[Heads]) -> None:
    view = session.view
    kind = st.segmented_control(
        gettext("Kind of attention"),
        SHOWN_KINDS,
        key=place("heads-kind", view.kind, session.fresh),
        format_func=lambda name: gettext(_KIND_TITLES[name]),
    )
    if kind not in (None, view.kind):  # None where the chosen one was clicked again
        session.update(kind=kind, selected="")


def _only(session: Session[Heads]) -> Only | None:
    held = session.view.only
    chosen = st.selectbox(
        gettext("Filter"),
        (_EVERY, FINDING, CHANGED, *FIGURES),
        key=place("heads-only", held.figure if held else _EVERY, session.fresh),
        format_func=_only_title,
        width=_ONLY_WIDTH,
    )
    if chosen not in _BOUNDS:
        return Only(figure=chosen) if chosen else None
    known = held is not None and held.figure == chosen
    sign, number = (held.sign, held.number) if held and known else _BOUNDS[chosen]
    fresh = session.fresh and known
    sign = st.segmented_control(
        gettext("Condition"), tuple(_SIGNS), key=place(f"heads-sign-{chosen}", sign, fresh),
        format_func=lambda name: gettext(_SIGNS[name]),
    ) or sign  # fmt: skip
    number = st.number_input(
        gettext("Bound"), -LARGEST, LARGEST, key=place(f"heads-bound-{chosen}", number, fresh),
        step=0.05, format="%g", width=_NUMBER_WIDTH,
    )  # fmt: skip
    return Only(figure=chosen, sign=sign, number=round(number, 9))


def _sort_title(name: str) -> str:
    return gettext("Place in the model") if name == PLACE else gettext(FIGURE_TITLES[name])


def _only_title(name: str) -> str:
    return gettext(_SPECIAL.get(name) or FIGURE_TITLES[name])


def head_name(kind: str, layer: int, head: int | str) -> str:
    """What a head is called, such as ``cross 2.3``; layer and head as a reader counts."""
    return gettext(_NAMES[kind], place=f"{layer}.{head}")


def listed(view: Heads, result: Result) -> pd.DataFrame:
    """The rows of the table ``heads`` that the view asks for, in its order, with a ``name``."""
    heads = result.tables["heads"].to_pandas()
    heads["name"] = [
        head_name(kind, layer + 1, head + 1)
        for kind, layer, head in zip(heads["kind"], heads["layer"], heads["head"], strict=True)
    ]
    if view.kind != EVERY_KIND:
        heads = heads[heads["kind"] == view.kind]
    if view.only:
        heads = heads.loc[_kept(heads, view, view.only)]
    rank = heads["kind"].map({kind: number for number, kind in enumerate(KINDS)})
    heads = heads.assign(rank=rank).sort_values(["rank", "layer", "head"])
    if view.sort != PLACE:
        ascending = view.sort in _LOWEST_FIRST
        heads = heads.sort_values(
            view.sort, ascending=ascending, na_position="last", kind="stable"
        )
    return heads.reset_index(drop=True)


def _kept(heads: pd.DataFrame, view: Heads, only: Only) -> list[bool]:
    """Which rows the filter leaves."""
    if only.figure == FINDING:
        return [verdicts != "" for verdicts in heads["verdicts"]]
    if only.figure == CHANGED:
        places = zip(heads["kind"], heads["layer"] + 1, heads["head"] + 1, strict=True)
        return [_changed(view, one) for one in places]
    at_least = only.sign == ">"
    return [
        value >= only.number if at_least else value <= only.number for value in heads[only.figure]
    ]


def _changed(view: Heads, one: tuple[str, int, int]) -> bool:
    pinned = any(
        (pin.kind, pin.layer, pin.head or one[2]) == one
        for pin in view.changes
        if pin.action == "pin"
    )
    return pinned or state_of(view.changes, one) != ON
