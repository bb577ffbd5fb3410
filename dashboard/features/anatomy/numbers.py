"""The numbers of one step, to be changed: valid lengths, sizes, and the tensors themselves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dashboard.features.anatomy import parameters as bounds
from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.examples import Sizes
from dashboard.features.anatomy.state import Anatomy
from dashboard.features.anatomy.view import LENGTHS, sizes_by_name
from dashboard.language import gettext, gettext_noop
from dashboard.records.parameter import pairs
from dashboard.ui.session import Session
from dashboard.ui.widgets import draw_parameters, place

_TITLES = {"q": gettext_noop("Queries"), "k": gettext_noop("Keys"), "v": gettext_noop("Values")}
_LENGTHS_HELP = gettext_noop(
    "How many keys each query may see: one number per batch row (2, 6), or one per query, batch "
    "rows parted by a slash (1, 3 / 2, 4). Empty: all of them."
)
_LENGTHS_OF = "anatomy lengths of"  # what the text in the field was written for


def refit(session: Session[Anatomy], before: Anatomy) -> None:
    """Drop the numbers, which another layout or other sizes leave no place for.

    Lengths stay if somebody chose them and they are still possible.

    Args:
        before: the view before it got its layout or sizes.
    """
    session.update(q="", k="", v="")
    kept = LENGTHS.default(session.view)
    if before.lengths != LENGTHS.default(before):
        with suppress(tensors.TensorError):
            kept = LENGTHS.parse(before.lengths, session.view)
    session.update(lengths=kept)


def lengths(session: Session[Anatomy], width: int) -> None:
    """The field of the valid lengths; px wide."""
    view = session.view
    written_for = (view.example, view.layout, view.sizes)
    moved = st.session_state.get(_LENGTHS_OF) != written_for
    st.session_state[_LENGTHS_OF] = written_for
    given = st.text_input(
        gettext("Valid lengths"),
        key=place(session.key("lengths"), view.lengths, session.fresh or moved),
        help=gettext(_LENGTHS_HELP),
        width=width,
        placeholder=gettext("all"),
    )
    try:
        session.update(lengths=LENGTHS.parse(given, view))
    except tensors.TensorError as error:
        st.text(
            gettext("Valid lengths: {error}; {used} is used", error=error, used=view.lengths)
            if view.lengths
            else gettext("Valid lengths: {error}; none is used", error=error)
        )


def sizes(session: Session[Anatomy]) -> None:
    """The sizes of queries, keys and values, in a menu."""
    before = session.view
    with st.popover(gettext("Sizes"), icon=":material/straighten:"):
        chosen = draw_parameters(
            bounds.SIZES, pairs(sizes_by_name(before)), session.key("size"), session.fresh
        )
    values = dict(chosen)
    session.update(sizes=Sizes(*(int(values[each.name]) for each in bounds.SIZES)))
    if session.view.sizes != before.sizes:
        refit(session, before)


def editors(session: Session[Anatomy]) -> None:
    """The tensors of one batch row, in a menu."""
    names = [name for name in "qkv" if session.view.editable(name)]
    with st.popover(gettext("Edit numbers"), icon=":material/edit:", disabled=not names):
        st.caption(gettext("A line per row, as it stands or as Python prints it."))
        rows = range(session.view.sizes.batch)
        lost = st.session_state.get("anatomy-edited") not in rows
        row = st.segmented_control(
            gettext("Batch row"), rows, key=place("anatomy-edited", 0, session.fresh or lost)
        )
        for name in names:
            _editor(session, name, row or 0)
        if any(getattr(session.view, name) for name in names):
            st.button(gettext("Back to the example's"), on_click=_forget, args=(session,))


def _forget(session: Session[Anatomy]) -> None:
    session.change(replace(session.view, q="", k="", v=""))


def _editor(session: Session[Anatomy], name: str, row: int) -> None:
    view = session.view
    text, shape = view.text_of(name), view.sizes.of(name)
    matrices = list(tensors.read(text, shape))
    # One field per batch row and example: what was typed elsewhere does not belong here.
    key = f"anatomy-{name}-{row}-{view.example}-{view.layout}-{view.seed}-{shape}"
    title = gettext(_TITLES[name])
    given = st.text_area(
        gettext("{title}, {rows} × {columns}", title=title, rows=shape[1], columns=shape[2]),
        key=place(key, tensors.write_lines(matrices[row]), session.fresh),
        height=min(40 + 26 * shape[1], 200),
    )
    try:
        matrices[row] = tensors.read_lines(given, shape[1:])
    except tensors.TensorError as error:
        st.text(gettext("{field}: {error}", field=title, error=error))
        return
    written = tensors.write(matrices)
    if written != text:
        session.update(**{name: written})
