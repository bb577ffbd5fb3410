"""Pinning a row of a head to one word, on the page *Heads*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard.charts import MapFrame
from dashboard.features.heads.listing import head_name
from dashboard.features.heads.view import Heads
from dashboard.language import gettext
from dashboard.records.interventions import KINDS, Change, in_order
from dashboard.records.request import Request
from dashboard.ui import maps
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

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
                    plain(_said(pin, frames)), icon=":material/close:", key=f"heads-{pin}",
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


def _said(pin: Change, frames: Frames) -> str:
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
