"""Which heads the page *Heads* lists, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.charts import MapFrame
from dashboard.features.heads.view import (
    CHANGED,
    EVERY_KIND,
    FIGURES,
    FINDING,
    LARGEST,
    NEEDED,
    PLACE,
    SHOWN_KINDS,
    SORT,
    Heads,
    Only,
)
from dashboard.language import gettext, gettext_noop
from dashboard.records.interventions import KINDS, ON, Change, in_order, state_of
from dashboard.records.request import Request, Result
from dashboard.ui import layout, maps
from dashboard.ui.fields import draw_choice
from dashboard.ui.session import Session
from dashboard.ui.translations import KIND_TITLES
from dashboard.ui.widgets import place, plain

Frames = Mapping[tuple[str, int], MapFrame]  # by kind, and layer as a reader counts


def pins(session: Session[Heads], usual: Request) -> None:
    """What is pinned, each with a way to end it, and a small form for another pin.

    Args:
        usual: the translation without changes, whose words are offered.
    """
    event = session.jobs.final(usual)
    found = maps.frames(event.result) if event and event.result else []
    frames = {(frame.kind, frame.layer + 1): frame for frame in found}
    with st.container(horizontal=True, gap="small", key="heads-pins"):
        if frames:
            with st.popover(gettext("Pin a word"), icon=":material/push_pin:"):
                _form(session, frames)
        for pin in session.view.changes:
            if pin.action == "pin":
                st.button(
                    plain(_pin_label(pin, frames)), icon=":material/close:", key=f"heads-{pin}",
                    help=gettext("End this pin"), on_click=_end, args=(session, pin),
                )  # fmt: skip


def _form(session: Session[Heads], frames: Frames) -> None:
    st.caption(gettext("In one row of a head, all weight goes to one word."))
    ordered = sorted(frames, key=lambda site: (KINDS.index(site[0]), site[1]))
    heads = [
        (*site, head)
        for site in ordered
        for head in (None, *range(1, len(frames[site].weights) + 1))
    ]
    kind, layer, _ = st.selectbox(
        gettext("Head"), heads, index=1, key="heads-pin-head",
        format_func=lambda one: _name(*one),
    )  # fmt: skip
    frame = frames[kind, layer]
    row = st.selectbox(
        gettext("Row: the word that looks"), range(len(frame.query_labels)),
        format_func=lambda i: f"{i}: {frame.query_labels[i]}", key=f"heads-pin-row-{kind}",
    )  # fmt: skip
    # A word being written sees those before it alone.
    last = row + 1 if kind == "decoder" else len(frame.key_labels)
    st.selectbox(
        gettext("Key: the word that it looks at"), range(last),
        format_func=lambda i: f"{i}: {frame.key_labels[i]}", key=f"heads-pin-key-{kind}",
    )  # fmt: skip
    st.button(gettext("Pin"), type="primary", on_click=_add, args=(session,), key="heads-pin-add")


def _add(session: Session[Heads]) -> None:
    """Pin what the form says now, which may be newer than what was drawn."""
    kind, layer, head = st.session_state["heads-pin-head"]
    row = st.session_state[f"heads-pin-row-{kind}"]
    key = st.session_state[f"heads-pin-key-{kind}"]
    if kind == "decoder":
        key = min(key, row)
    pin = Change(action="pin", kind=kind, layer=layer, head=head, row=row, key=key)
    session.change(replace(session.view, changes=in_order((*session.view.changes, pin))))


def _end(session: Session[Heads], pin: Change) -> None:
    kept = tuple(change for change in session.view.changes if change != pin)
    session.change(replace(session.view, changes=kept))


def _pin_label(pin: Change, frames: Frames) -> str:
    frame = frames.get((pin.kind, pin.layer))
    row = _word(frame.query_labels if frame else (), pin.row)
    key = _word(frame.key_labels if frame else (), pin.key)
    name = _name(pin.kind, pin.layer, pin.head)
    return gettext("{head}: {row} → {key}", head=name, row=row, key=key)


def _name(kind: str, layer: int, head: int | None) -> str:
    """What a head is called; None is all of its layer."""
    return head_name(kind, layer, head or gettext("all"))


def _word(labels: Sequence[str], at: int | None) -> str:
    return labels[at] if at is not None and at < len(labels) else str(at)


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


def filters(session: Session[Heads]) -> None:
    """The choices of kind, order and filter."""
    with layout.row("heads-filters"):
        _kind(session)
        draw_choice(
            session, SORT, width=_SORT_WIDTH,
            titles=lambda name: (
                gettext("Place in the model") if name == PLACE else gettext(FIGURE_TITLES[name])
            ),
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
        format_func=lambda name: gettext(_SPECIAL.get(name) or FIGURE_TITLES[name]),
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
