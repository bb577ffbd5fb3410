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
    state, store, said = st.session_state, owner.run_store().exercises, f"exercise-said-{id}"
    try:
        question = store.find(id)
        if said not in state:  # a page that was loaded anew
            last = store.last(id, owner.owner())
            state[said] = (last.name, last.answer, _judged(last.correct)) if last else ("", "", "")
            state[f"exercise-hints-{id}"] = last.hints if last else 0
    except (KeyError, StorageError):
        state.pop(_OPEN, None)
        st.text(gettext(_SAID["none"]))
        return
    state[_OPEN] = id, question.page
    if question.page == navigation.current().name:
        with st.container(border=True, key="exercise-panel", gap="small"):
            _form(id, question)


def _judged(right: bool | None) -> str:
    return _SAID["taken" if right is None else "right" if right else "wrong"]


def _form(id: str, question: Any) -> None:
    state, taken, said = st.session_state, f"exercise-hints-{id}", f"exercise-said-{id}"
    used, hints = state[taken], question.hints
    st.text(question.text)
    if question.ended:
        st.text(gettext(_SAID["ended"]))
    for hint in hints[:used]:
        st.text(hint)
    given = None if question.ended else _fields(id, question, state[said], used)
    *handed_in, verdict = state[said]
    if verdict and question.ended:
        st.text(" · ".join(handed_in))
    if verdict and given in (None, handed_in):  # none stands beside another answer
        st.markdown(gettext(verdict))
    with st.container(horizontal=True, gap="small"):
        if used < len(hints):
            hint = gettext("Hint {number} of {count}", number=used + 1, count=len(hints))
            st.button(hint, key="exercise-hint", on_click=state.update, args=({taken: used + 1},))
        if st.button(gettext("Close the exercise"), key="exercise-close", type="tertiary"):
            state.pop(_OPEN, None)
            st.query_params.pop(PARAMETER, None)
            st.rerun()


def _fields(id: str, question: Any, said: tuple[str, str, str], used: int) -> list[str]:
    """The name and the answer as they stand in the form; what is handed in is stored."""
    state, (name, answer, _) = st.session_state, said
    named, key, label = f"exercise-name-{id}", f"exercise-answer-{id}", gettext("Your answer")
    state.setdefault(named, name or state.get(_NAME, ""))
    if answer:
        state.setdefault(key, answer)
    with st.form(f"exercise-form-{id}", border=False):
        left, right = st.columns(2)
        name = left.text_input(gettext("Your name"), key=named)
        if question.choices:
            answer = right.radio(label, question.choices, index=None, key=key, format_func=plain)
        else:
            answer = right.text_input(label, key=key)
        given = st.form_submit_button(gettext("Hand in"), type="primary")
    name, answer = lines(name), lines(answer or "")
    if given:
        state[_NAME] = name
        try:
            judged = owner.run_store().exercises.hand_in(id, owner.owner(), name, answer, used)
            state[f"exercise-said-{id}"] = name, answer, _judged(judged)
        except ValueError as error:
            st.text(translated(str(error)))
    return [name, answer]
