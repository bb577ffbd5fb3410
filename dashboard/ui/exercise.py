"""An exercise that a student has open, above its page; every page's link understands its id."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from dashboard.language import gettext, translated
from dashboard.records.beside import beside
from dashboard.records.text import lines, plain
from dashboard.storage.files import ID, StorageError
from dashboard.ui import navigation, owner

PARAMETER = "exercise"  # of every page's link
_OPEN = "exercise open"  # its id and its page
_NAME = "exercise name"  # kept for the next exercise
_SAID = beside(__file__, "words.toml")["exercise"]


def in_link() -> dict[str, str]:
    """What the address of this page says of the open exercise; nothing on other pages."""
    id, page = st.session_state.get(_OPEN, ("", ""))
    return {PARAMETER: id} if page == navigation.current().name else {}


def draw() -> None:
    """The question and its answer, on the page that the open exercise is about."""
    asked = st.query_params.get(PARAMETER, "")
    if id := asked if ID.match(asked) else st.session_state.get(_OPEN, ("", ""))[0]:
        _panel(id)


@st.fragment
def _panel(id: str) -> None:
    state, store, said = st.session_state, owner.run_store().exercises, f"exercise-said-{id}"
    try:
        question = store.find(id)
        if said not in state:  # a page that was loaded anew
            state[said] = store.last(id, owner.owner())
    except (KeyError, StorageError):
        state.pop(_OPEN, None)
        st.text(gettext(_SAID["none"]))
        return
    state[_OPEN] = id, question.page
    if question.page == navigation.current().name:
        with st.container(border=True, key="exercise-panel", gap="small"):
            _form(id, question, said)


def _form(id: str, question: Any, said: str) -> None:
    state, hints = st.session_state, question.hints
    st.text(question.text)
    draw_hints(hints[: state[said][3]])
    if question.ended:
        st.text(gettext(_SAID["ended"]))
    given = None if question.ended else _fields(id, question, said)
    name, answer, right, used = state[said]
    if answer and given in (None, (name, answer)):  # no verdict stands beside another answer
        taken = _SAID["taken"] if right is None else _SAID["right" if right else "wrong"]
        st.markdown(gettext(taken, answer=plain(answer)))
    with st.container(horizontal=True, gap="small"):
        if used < len(hints) and not question.ended:
            hint = gettext("Hint {number} of {count}", number=used + 1, count=len(hints))
            st.button(hint, key="exercise-hint", on_click=_hint, args=(id, said))
        if st.button(gettext("Close the exercise"), key="exercise-close", type="tertiary"):
            state.pop(_OPEN, None)
            st.query_params.pop(PARAMETER, None)
            st.rerun()


def draw_hints(hints: Sequence[str]) -> None:
    """Each with its number."""
    for number, hint in enumerate(hints, 1):
        st.text(gettext("Hint {number}: {hint}", number=number, hint=hint))


def _hint(id: str, said: str) -> None:
    name, answer, right, used = st.session_state[said]
    st.session_state[said] = name, answer, right, used + 1
    with suppress(KeyError, StorageError):  # which the form says where it is drawn
        owner.run_store().exercises.took_hint(id, owner.owner(), name, used + 1)


def _fields(id: str, question: Any, said: str) -> tuple[str, str]:
    """The name and the answer as they stand in the form; what is handed in is stored."""
    state, (name, answer, _, used) = st.session_state, st.session_state[said]
    named, key, label = f"exercise-name-{id}", f"exercise-answer-{id}", gettext("Your answer")
    state.setdefault(named, name or state.get(_NAME, ""))
    if answer:
        state.setdefault(key, answer)
    with st.form(f"exercise-form-{id}", border=False):
        left, right = st.columns(2)
        name = lines(left.text_input(gettext("Your name"), key=named))
        if question.choices:
            answer = right.radio(label, question.choices, index=None, key=key, format_func=plain)
        else:
            answer = right.text_input(label, key=key)
        given = st.form_submit_button(gettext("Hand in"), type="primary")
        st.caption(gettext(_SAID["kept" if question.keep else "forgotten"]))
    answer = lines(answer or "")
    if given:
        state[_NAME] = name
        try:
            found = owner.run_store().exercises.hand_in(id, owner.owner(), name, answer, used)
            state[said] = name, answer, found, used
        except ValueError as error:
            st.text(translated(str(error)))
    return name, answer
