"""Lessons: each asks, shows what is computed now, and lets its visitor find something by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import navigation
from dashboard.features.lessons.chapter import cited
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Figures, Lesson
from dashboard.features.lessons.progress import progress
from dashboard.features.lessons.view import (
    LINK,
    Course,
    begun,
    control_of,
    lesson_of,
    requests,
)
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import results, shown
from dashboard.ui.glossary import defined
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import draw_parameter, place

_MINUS = re.compile(r"-(?=[0-9])")
_HEIGHT = 300  # px, of a figure
_RIGHT = ":material/check_circle: **Right.** {reason}"
_WRONG = ":material/cancel: **Not so.** Right would be: *{right}*. {reason}"
_FOUND = ":material/task_alt: **Found.** {conclusion}"


class _Places(NamedTuple):
    """Where things go that come after the controls were read."""

    progress: DeltaGenerator
    verdict: shown.Place
    figure: shown.Place
    goal: shown.Place


def _controls(session: Session[Course], _: Catalogue) -> _Places:
    lesson, number = lesson_of(session.view), session.view.lesson
    row, steps = st.columns([3, 2], vertical_alignment="center", gap="medium")
    with steps.container(horizontal=True, horizontal_alignment="right", gap="small"):
        _steps(session)
    with st.container(key=f"lesson-{lesson.name}"):
        left, right = shown.columns([1, 1], gap="large")
        with left:
            shown.header(f"{number}. {lesson.title}")
            shown.markdown(lesson.idea)
            with st.container(
                horizontal=True, horizontal_alignment="center", vertical_alignment="center"
            ):
                for formula in lesson.formulas:
                    shown.latex(formula, width="content")
            shown.caption(" ".join(defined(term) for term in lesson.terms))
            _ask(session, lesson)
            verdict = shown.container()
        with right:
            goal = shown.container()
            if session.view.guess:
                _move(session, lesson)
            figure = shown.container()
            if session.view.guess:
                _lead_on(session, lesson)
    book = [cited(lesson.section)] if lesson.section else []
    shown.caption("; ".join([*book, *([lesson.papers] if lesson.papers else [])]) + ".")
    return _Places(row, verdict, figure, goal)


def _steps(session: Session[Course]) -> None:
    """To the lesson before, to this one anew, and to the next."""
    number = session.view.lesson
    st.button(
        "Ask again", icon=":material/replay:", type="tertiary", key="lessons-again",
        disabled=not session.view.guess, on_click=_go, args=(session, number),
    )  # fmt: skip
    st.button(
        "Previous", icon=":material/arrow_back:", disabled=number == 1, key="lessons-previous",
        on_click=_go, args=(session, number - 1),
    )  # fmt: skip
    st.button(
        "Next", icon=":material/arrow_forward:", disabled=number == len(LESSONS),
        key="lessons-next", on_click=_go, args=(session, number + 1),
    )  # fmt: skip


def _ask(session: Session[Course], lesson: Lesson) -> None:
    key = session.key(lesson.name, "guess")

    def answer() -> None:
        session.change(replace(session.view, guess=st.session_state[key], at=lesson.asked))

    shown.markdown(f"**{lesson.question}**")
    st.radio(
        lesson.question, [*lesson.choices], format_func=lambda name: lesson.choices[name],
        key=place(key, session.view.guess or None, session.fresh), on_change=answer,
        disabled=bool(session.view.guess), label_visibility="collapsed",
    )  # fmt: skip
    if not session.view.guess:
        st.caption("Predict first: choose an answer, and look.")


def _move(session: Session[Course], lesson: Lesson) -> None:
    value = draw_parameter(
        control_of(session.view), session.view.at, session.key(lesson.name, "at"), session.fresh
    )
    session.update(at=value)


def _lead_on(session: Session[Course], lesson: Lesson) -> None:
    """States of other pages to try."""
    shown.markdown("**Try this**")
    with st.container(gap="xsmall"):
        for to in lesson.tries:
            query = navigation.checked(to.page, to.query, session.catalogue)
            navigation.link_to(to.page, query, to.label)


def _go(session: Session[Course], number: int) -> None:
    session.change(begun(number))


def _results(session: Session[Course], catalogue: Catalogue, places: _Places) -> None:
    view, lesson = session.view, lesson_of(session.view)
    seen = lesson.request(view.at, catalogue)
    asked = lesson.request(lesson.asked, catalogue)
    if seen is None or asked is None:
        with places.figure:
            results.absent(
                "This lesson needs a trained model that ships with the workbench and is not "
                "here. The other lessons do without it.", _HEIGHT, "lesson-figure",
            )  # fmt: skip
        with places.progress:
            progress(view.lesson, "", lambda number: _go(session, number))
        return
    ends = [session.jobs.final(request) for request in (asked, seen)]
    right, found = (event.result if event else None for event in ends)
    if view.guess and right:
        with places.verdict:
            _verdict(lesson, view.guess, lesson.measured(right, lesson.asked))
    reached = False
    if view.guess and found:
        figures = lesson.measured(found, view.at)
        reached = lesson.reached(figures)
        with places.goal:
            _goal(lesson, figures, reached)
    with places.figure:
        results.results(
            session.jobs, seen, lambda result: _figure(lesson, result, view), _HEIGHT,
            "lesson-figure", grows=True,
        )  # fmt: skip
    with places.progress:
        finished = lesson.name if reached else ""
        progress(view.lesson, finished, lambda number: _go(session, number))


def _verdict(lesson: Lesson, guess: str, figures: Figures) -> None:
    right, reason = lesson.answer(figures), _said(lesson.reason, figures)
    if guess == right:
        shown.markdown(_RIGHT.format(reason=reason))
    else:
        shown.markdown(_WRONG.format(right=lesson.choices[right], reason=reason))


def _goal(lesson: Lesson, figures: Figures, reached: bool) -> None:
    if reached:
        shown.markdown(_FOUND.format(conclusion=_said(lesson.conclusion, figures)))
    else:
        shown.markdown(f":material/target: **{lesson.goal}**")


def _figure(lesson: Lesson, result: Result, view: Course) -> None:
    lesson.figure(result, view.at)
    shown.caption(_said(lesson.now, lesson.measured(result, view.at)))


def _said(sentence: str, figures: Figures) -> str:
    """The sentence with its figures, and with minus signs."""
    return _MINUS.sub("−", sentence.format(**figures))


PAGE = Page(
    name="lessons",
    title="Lessons",
    explanation="Attention in ten short lessons. Each asks before it shows.",
    link=LINK,
    controls=_controls,
    requests=requests,
    results=_results,
    height=_HEIGHT,
    keeps=False,
)
