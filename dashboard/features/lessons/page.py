"""Lessons: each asks, shows what is computed now, and lets its visitor find something by hand."""

import re
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts.template import Prepared
from dashboard.charts.walk import POINT
from dashboard.features.lessons import view as course
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Figures, Lesson, page_and_query, walked
from dashboard.features.lessons.view import Course
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import charts, live, navigation, results, shown
from dashboard.ui import session as way_back
from dashboard.ui.frame import defined
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import draw_parameter, place

_SAID = beside(__file__, "words.toml")["page"]
_LEFT = "lessons left"  # as they are in this session, by their numbers


def draw_steps(session: Session[Course]) -> None:
    """Buttons to the lesson before, to this one anew, and to the next."""
    number = session.view.lesson
    steps = (
        ("again", gettext("Ask again"), "replay", number, not session.view.guess),
        ("previous", gettext("Previous"), "arrow_back", number - 1, number == 1),
        ("next", gettext("Next"), "arrow_forward", number + 1, number == len(LESSONS)),
    )
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        for name, title, icon, to, disabled in steps:
            st.button(
                title, icon=f":material/{icon}:", disabled=disabled, key=f"lessons-{name}",
                type="tertiary" if name == "again" else "secondary",
                on_click=go, args=(session, to),
            )  # fmt: skip


def end(session: Session[Course]) -> None:
    """That the lesson is done, and the way to the next one."""
    number = session.view.lesson
    with st.container(border=True, key="lessons-end", gap="small"):
        if number == len(LESSONS):
            said = gettext("**Lesson {number} is done. It was the last one.**", number=number)
            st.markdown(said)
            navigation.link_to("race", {}, gettext("See which scoring is better at what"))
            label = gettext("Train a model with scorings of your choice")
            return navigation.link_to("training", {}, label)
        st.markdown(gettext("**Lesson {number} is done.**", number=number))
        title = gettext(LESSONS[number].title)
        st.button(
            gettext("Go on with lesson {number}: {title}", number=number + 1, title=title),
            icon=":material/arrow_forward:", type="primary", key="lessons-go-on", on_click=go,
            args=(session, number + 1),
        )  # fmt: skip


def go(session: Session[Course], number: int) -> None:
    """Open a lesson, counted from 1, as it was left; the present one anew; 0 forgets all."""
    left, here = st.session_state.setdefault(_LEFT, {}), session.view.lesson
    left[here] = course.begun(here) if number in (0, here) else session.view
    if not number:
        left.clear()
    session.change(left.get(number or here) or course.begun(number or here))


_MINUS = re.compile(r"-(?:(0(?:\.0+)?)(?![.0-9])|(?=[0-9]))")
_WORDS = re.compile(r"(?<=\\text\{)(\s*)(.+?)(?=\})")  # of a formula
_HEIGHT = 300  # px, of a figure
_RIGHT = gettext_noop(":material/check_circle: **Right.** {reason}")
_WRONG = gettext_noop(":material/cancel: **Not so.** Right would be: *{right}*. {reason}")
_FOUND = gettext_noop("**Found.** {conclusion}")


class _Places(NamedTuple):
    """Where things go that come after the controls were read."""

    progress: DeltaGenerator
    verdict: shown.Place
    figure: shown.Place
    goal: shown.Place
    end: shown.Place
    step: shown.Place


def _controls(session: Session[Course]) -> _Places:
    lesson, number = course.lesson_of(session.view), session.view.lesson
    row = st.container()
    with st.container(key=f"lesson-{lesson.name}"):
        left, right = shown.columns([1, 1], gap="large")
        with left:
            shown.header(f"{number}. {gettext(lesson.title)}")
            shown.markdown(gettext(lesson.idea))
            with st.container(
                horizontal=True, horizontal_alignment="center", vertical_alignment="center"
            ):
                for formula in lesson.formulas:
                    words = _WORDS.sub(lambda text: text[1] + gettext(text[2]), formula)
                    shown.latex(words, width="content")
            _ask(session, lesson)
            verdict = shown.container()
            with shown.container(key="lesson-terms-aside"):
                shown.caption(together(defined(term) for term in lesson.terms))
        with right:
            goal = shown.container()
            if session.view.guess:
                key, control = _key(session), course.control_of(session.view)
                session.update(at=draw_parameter(control, session.view.at, key, session.fresh))
            figure, end = shown.container(), shown.container()
            if session.view.guess:
                _lead_on(session, lesson)
        step = shown.container() if lesson.step else end
        sources, steps = st.columns([1, 1], vertical_alignment="center", gap="large")
        with sources:
            shown.caption(_sources(lesson))
        with steps:
            draw_steps(session)
    return _Places(row, verdict, figure, goal, end, step)


def _sources(lesson: Lesson) -> str:
    """What the lesson rests on: a section of the book, papers, or both."""
    papers = gettext(lesson.papers)
    book = course.cited(lesson.section) if lesson.section else ""
    if book and papers:
        return gettext("{book}; {papers}.", book=book, papers=papers)
    return gettext("{sources}.", sources=book or papers)


def _ask(session: Session[Course], lesson: Lesson) -> None:
    key = session.key(lesson.name, "guess")
    question = translated(lesson.question)
    shown.markdown(f"**{question}**")
    st.radio(
        question, [*lesson.choices], format_func=lambda name: gettext(lesson.choices[name]),
        key=place(key, session.view.guess or None, session.fresh),
        on_change=lambda: session.change(guess=st.session_state[key], at=lesson.asked),
        disabled=bool(session.view.guess), label_visibility="collapsed",
    )  # fmt: skip
    if not session.view.guess:
        st.caption(gettext("Predict first: choose an answer, and look."))


def _lead_on(session: Session[Course], lesson: Lesson) -> None:
    """States of other pages to try, from which a way leads back."""
    with st.container(gap="xsmall", key="lesson-tries"):
        st.markdown(gettext("**Try this**"))
        for to, label in lesson.tries.items():
            page, query = page_and_query(to, session.view.at)
            checked = navigation.checked(page, query, session.catalogue)
            navigation.link_to(page, checked, gettext(label))
    pages = {page_and_query(to, session.view.at)[0] for to in lesson.tries}
    way_back.leave(session.view.lesson, course.LINK.format(session.view, session.catalogue), pages)


def _results(session: Session[Course], places: _Places) -> None:
    view, lesson = session.view, course.lesson_of(session.view)
    seen = lesson.request(view.at, session.catalogue)
    asked = lesson.request(lesson.asked, session.catalogue)
    reached = False
    if seen is None or asked is None:
        with places.figure:
            results.absent(gettext(_SAID["no_model"]), _HEIGHT, "lesson-figure")
    else:
        if view.guess:
            reached = _answered(session, places, asked, seen)
        with places.figure:
            results.results(
                session.jobs, seen, lambda result: _figure(session, lesson, result), _HEIGHT,
                "lesson-figure", grows=True,
            )  # fmt: skip
        live.follow(session, _followers(session, lesson))
    if reached:
        with places.end:
            end(session)
    if lesson.step and view.guess:
        with places.step:
            shown.markdown(gettext(lesson.step_text))
            results.results(
                session.jobs, lesson.step, _step, _HEIGHT, "lesson-step", grows=True
            )  # fmt: skip
    with places.progress:
        course.progress(view.lesson, lesson.name * reached, lambda number: go(session, number))


def _answered(session: Session[Course], places: _Places, asked: Request, seen: Request) -> bool:
    """What was right, and the goal, as far as both are computed; whether the goal is reached."""
    view, lesson = session.view, course.lesson_of(session.view)
    ends = [session.jobs.final(request) for request in (asked, seen)]
    right, found = (event.result if event else None for event in ends)
    if right:
        figures = lesson.measured(right, lesson.asked)
        best, reason = lesson.answer(figures), _said(lesson.reason, figures)
        words = gettext(_WRONG, right=gettext(lesson.choices[best]), reason=reason)
        with places.verdict:
            shown.markdown(gettext(_RIGHT, reason=reason) if view.guess == best else words)
    if not found:
        return False
    reached = lesson.reached(lesson.measured(found, view.at))
    with places.goal:
        shown.markdown(f":material/target: **{translated(lesson.goal)}**")
        live.words("goal", _how_far(lesson, view.at, found), _sliders(session, lesson), "markdown")
    return reached


def _how_far(lesson: Lesson, at: Scalar, result: Result) -> str:
    figures = lesson.measured(result, at)
    if not lesson.reached(figures):
        return _said(lesson.missed, figures)
    return gettext(_FOUND, conclusion=_said(lesson.conclusion, figures))


def _now(lesson: Lesson, at: Scalar, result: Result) -> str:
    return _said(lesson.now, lesson.measured(result, at))


def _figure(session: Session[Course], lesson: Lesson, result: Result) -> None:
    at, sliders = session.view.at, _sliders(session, lesson)
    alt, draw, prepare = lesson.figure(result, at)
    charts.show_filled(
        f"lesson {alt} {result.digest}", draw, prepare, alt,
        follows=("lesson", live.standing(sliders)),
    )  # fmt: skip
    live.words("now", _now(lesson, at, result), sliders, "markdown")


def _key(session: Session[Course]) -> str:
    return session.key(course.lesson_of(session.view).name, "at")


def _sliders(session: Session[Course], lesson: Lesson) -> list[live.Slider]:
    """The lesson's control, once it moves, where it is a slider."""
    spec, view, catalogue = course.control_of(session.view), session.view, session.catalogue
    if not view.guess or isinstance(spec.default, str):
        return []

    def asked(value: Scalar) -> dict[str, Request]:
        request = lesson.request(value, catalogue)
        return {"seen": request} if request else {}

    return [live.Slider(_key(session), spec, float(view.at), asked)]


def _followers(session: Session[Course], lesson: Lesson) -> list[live.Followers]:
    def drawn(at: Scalar, found: live.Found) -> Prepared:
        return lesson.figure(found["seen"], at).prepare()

    said = {"goal": _how_far, "now": _now}
    words = {name: lambda at, found, say=say: say(lesson, at, found["seen"])
             for name, say in said.items()}  # fmt: skip
    return [live.Followers(each, {"lesson": drawn}, words) for each in _sliders(session, lesson)]


def _step(result: Result) -> None:
    alt, draw, prepare = walked(result)
    charts.show_filled(f"lesson {alt} {result.digest}", draw, prepare, alt)
    shown.caption(gettext(POINT))


def _said(sentence: str, figures: Figures) -> str:
    """The sentence with its figures, and with minus signs, which 0 never has."""
    return _MINUS.sub(lambda found: found[1] or "−", gettext(sentence, **figures))


PAGE = Page(
    name="lessons", **beside(__file__, "words.toml")["heading"], link=course.LINK,
    part=lambda view: str(view.lesson), parts=course.answered, controls=_controls,
    requests=course.requests, results=_results, height=_HEIGHT, keeps=False,
)  # fmt: skip
