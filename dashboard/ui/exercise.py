"""An exercise that a student has open, above its page; every page's link understands its id."""

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
    state = st.session_state
    try:
        question = owner.run_store().exercises.find(id)
    except (KeyError, StorageError):
        state.pop(_OPEN, None)
        st.text(gettext(_SAID["none"]))
        return
    state[_OPEN] = id, question.page
    if question.page == navigation.current().name:
        with st.container(border=True, key="exercise-panel", gap="small"):
            _form(id, question)


def _form(id: str, question: Any) -> None:
    state, store = st.session_state, owner.run_store().exercises
    hints, named = question.hints, f"exercise-name-{id}"
    taken, said = f"exercise-hints-{id}", f"exercise-said-{id}"
    used = state.setdefault(taken, 0)
    st.text(question.text)
    if question.ended:
        st.text(gettext(_SAID["ended"]))
    for hint in hints[:used]:
        st.text(hint)
    with st.form(f"exercise-form-{id}", border=False):
        left, right = st.columns(2)
        state.setdefault(named, state.get(_NAME, ""))
        name = left.text_input(gettext("Your name"), key=named)
        label, key = gettext("Your answer"), f"exercise-answer-{id}"
        if question.choices:
            answer = right.radio(label, question.choices, index=None, key=key, format_func=plain)
        else:
            answer = right.text_input(label, key=key)
        given = st.form_submit_button(gettext("Hand in"), type="primary", disabled=question.ended)
    if given:
        state.pop(said, None)
        state[_NAME] = name
        try:
            right = store.hand_in(id, owner.owner(), lines(name), lines(answer or ""), used)
            judged = _SAID["right" if right else "wrong"]
            state[said] = _SAID["taken"] if right is None else judged
        except ValueError as error:
            st.text(translated(str(error)))
    if said in state:
        st.markdown(gettext(state[said]))
    with st.container(horizontal=True, gap="small"):
        if used < len(hints):
            hint = gettext("Hint {number} of {count}", number=used + 1, count=len(hints))
            st.button(hint, key="exercise-hint", on_click=state.update, args=({taken: used + 1},))
        if st.button(gettext("Close the exercise"), key="exercise-close", type="tertiary"):
            state.pop(_OPEN, None)
            st.query_params.pop(PARAMETER, None)
            st.rerun()
