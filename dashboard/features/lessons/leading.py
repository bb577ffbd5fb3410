"""Where a lesson leads: to the lessons beside it, and to states of other pages."""

from __future__ import annotations

import streamlit as st

from dashboard import navigation
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Lesson
from dashboard.features.lessons.view import Course, begun
from dashboard.language import gettext
from dashboard.ui import shown
from dashboard.ui.session import Session


def steps(session: Session[Course]) -> None:
    """Buttons to the lesson before, to this one anew, and to the next."""
    number = session.view.lesson
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        st.button(
            gettext("Ask again"), icon=":material/replay:", type="tertiary", key="lessons-again",
            disabled=not session.view.guess, on_click=go, args=(session, number),
        )  # fmt: skip
        st.button(
            gettext("Previous"), icon=":material/arrow_back:", disabled=number == 1,
            key="lessons-previous", on_click=go, args=(session, number - 1),
        )  # fmt: skip
        st.button(
            gettext("Next"), icon=":material/arrow_forward:", disabled=number == len(LESSONS),
            key="lessons-next", on_click=go, args=(session, number + 1),
        )  # fmt: skip


def end(session: Session[Course]) -> None:
    """That the lesson is done, and the way to the next one."""
    number = session.view.lesson
    with st.container(border=True, key="lessons-end", gap="small"):
        if number == len(LESSONS):
            st.markdown(
                gettext("**Lesson {number} is done. It was the last one.**", number=number)
            )
            navigation.link_to("race", {}, gettext("See which scoring is better at what"))
            navigation.link_to(
                "training", {}, gettext("Train a model with scorings of your choice")
            )
            return
        st.markdown(gettext("**Lesson {number} is done.**", number=number))
        st.button(
            gettext(
                "Go on with lesson {number}: {title}",
                number=number + 1, title=gettext(LESSONS[number].title),
            ),
            icon=":material/arrow_forward:", type="primary", key="lessons-go-on", on_click=go,
            args=(session, number + 1),
        )  # fmt: skip


def lead_on(session: Session[Course], lesson: Lesson) -> None:
    """States of other pages to try."""
    shown.markdown(gettext("**Try this**"))
    with st.container(gap="xsmall"):
        for to in lesson.tries:
            query = navigation.checked(to.page, to.query, session.catalogue)
            navigation.link_to(to.page, query, gettext(to.label))


def go(session: Session[Course], number: int) -> None:
    """Open a lesson, counted from 1, with its question open."""
    session.change(begun(number))
