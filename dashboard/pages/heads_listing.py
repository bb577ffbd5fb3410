"""Which heads the page *Heads* lists, in which order."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.controls import place
from dashboard.pages import parts
from dashboard.runs.changes import KINDS, ON, state_of
from dashboard.runs.heads_link import (
    CHANGED,
    EVERY_KIND,
    FIGURES,
    FINDING,
    LARGEST,
    PLACE,
    SHOWN_KINDS,
    SORTS,
    Heads,
    Only,
)
from dashboard.runs.result import Result
from dashboard.state import Visit

FIGURE_TITLES = {
    "leave_one_out": "Without it", "entropy": "Entropy", "eos": "On <eos>",
    "stuckness": "On one word", "diagonality": "Diagonal", "distance": "From untrained",
    "padding": "On padding", "row_error": "Row error",
}  # fmt: skip
_KIND_TITLES = {
    "cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder", EVERY_KIND: "All",
}  # fmt: skip
_LOWEST_FIRST = ("leave_one_out",)
_BOUNDS = {
    "leave_one_out": ("<", -0.05), "entropy": (">", 0.9), "eos": (">", 0.5),
    "stuckness": (">", 0.75), "diagonality": (">", 0.75), "distance": ("<", 0.05),
    "padding": (">", 1e-6), "row_error": (">", 1e-3),
}  # fmt: skip
_EVERY = ""
_SORT_WIDTH, _ONLY_WIDTH, _NUMBER_WIDTH = 170, 170, 130  # px


def filters(here: Visit) -> Heads:
    """The choices of kind, order and filter; the view with what they say."""
    view: Heads = here.view
    with parts.row("heads-filters"):
        kind = st.segmented_control(
            "Kind of attention",
            SHOWN_KINDS,
            key=place("heads-kind", view.kind, here.fresh),
            format_func=_KIND_TITLES.get,
        )
        sort = st.selectbox(
            "Sort by",
            SORTS,
            key=place("heads-sort", view.sort, here.fresh),
            format_func=lambda name: FIGURE_TITLES.get(name, "Place in the model"),
            width=_SORT_WIDTH,
        )
        only = _only(here)
    spot = view.spot if kind in (None, view.kind) else ""
    return replace(view, kind=kind or view.kind, sort=sort, only=only, spot=spot)


def _only(here: Visit) -> Only | None:
    view: Heads = here.view
    chosen = st.selectbox(
        "Only heads with",
        (_EVERY, FINDING, CHANGED, *FIGURES),
        key=place("heads-only", view.only.figure if view.only else _EVERY, here.fresh),
        format_func=_only_title,
        width=_ONLY_WIDTH,
    )
    if chosen not in _BOUNDS:
        return Only(figure=chosen) if chosen else None
    held = view.only if view.only and view.only.figure == chosen else None
    sign, number = (held.sign, held.number) if held else _BOUNDS[chosen]
    known = here.fresh and held is not None
    sign = st.segmented_control(
        "is", ("<", ">"), key=place(f"heads-sign-{chosen}", sign, known),
        format_func={"<": "at most", ">": "at least"}.get,
    ) or sign  # fmt: skip
    number = st.number_input(
        "this", -LARGEST, LARGEST, key=place(f"heads-bound-{chosen}", number, known),
        step=0.05, format="%g", width=_NUMBER_WIDTH,
    )  # fmt: skip
    return Only(figure=chosen, sign=sign, number=round(number, 9))


def _only_title(name: str) -> str:
    special = {_EVERY: "anything", FINDING: "a bug or finding", CHANGED: "a change"}
    return special.get(name) or FIGURE_TITLES[name]


def listed(view: Heads, result: Result) -> pd.DataFrame:
    """The rows of the table ``heads`` that the view asks for, in its order, with a ``name``."""
    heads = result.tables["heads"].to_pandas()
    heads["name"] = [
        f"{kind} {layer + 1}.{head + 1}"
        for kind, layer, head in zip(heads["kind"], heads["layer"], heads["head"], strict=True)
    ]
    if view.kind != EVERY_KIND:
        heads = heads[heads["kind"] == view.kind]
    if view.only:
        heads = heads[_kept(heads, view)]
    rank = heads["kind"].map({kind: number for number, kind in enumerate(KINDS)})
    heads = heads.assign(rank=rank).sort_values(["rank", "layer", "head"])
    if view.sort != PLACE:
        ascending = view.sort in _LOWEST_FIRST
        heads = heads.sort_values(
            view.sort, ascending=ascending, na_position="last", kind="stable"
        )
    return heads.reset_index(drop=True)


def _kept(heads: pd.DataFrame, view: Heads) -> pd.Series:
    only = view.only
    if only.figure == FINDING:
        return heads["verdicts"] != ""
    if only.figure == CHANGED:
        places = zip(heads["kind"], heads["layer"] + 1, heads["head"] + 1, strict=True)
        return pd.Series([_changed(view, one) for one in places], index=heads.index, dtype=bool)
    values = heads[only.figure]
    return values >= only.number if only.sign == ">" else values <= only.number


def _changed(view: Heads, one: tuple[str, int, int]) -> bool:
    pinned = any(
        (pin.kind, pin.layer, pin.head or one[2]) == one
        for pin in view.changes
        if pin.action == "pin"
    )
    return pinned or state_of(view.changes, one) != ON
