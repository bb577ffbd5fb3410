"""The page *Lessons*: its link, ``/lessons?lesson=2&guess=b&at=0.2``, and the row of all lessons.

``guess`` is the answer that was given, ``at`` where the lesson's control stands. Before an answer
is given the control stands still. Which lessons were done stands in the browser's own storage;
nothing of it is sent to the server.

The sections of *Dive into Deep Learning* are numbered as in edition 0.17 and in the Chinese
edition, which the documents of ``.github/docs/chapter.md`` print. In the English edition 1.0 the
chapter on attention is the 11th, with the same sections.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2 import component

from dashboard import language
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Lesson
from dashboard.language import ENGLISH, gettext, gettext_noop
from dashboard.links.fields import Choice, Setting
from dashboard.links.link import Link
from dashboard.records.beside import beside, read_beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import speaking

BOOK, EDITION = gettext_noop("Dive into Deep Learning"), "0.17"
_SECTIONS = beside(__file__, "book.toml")
SECTIONS = {number: facts["title"] for number, facts in _SECTIONS.items()}
# Where the book's own pages are, which in English are those of edition 1.0.
_BOOKS = {
    ENGLISH: "https://d2l.ai/chapter_attention-mechanisms-and-transformers",
    "zh": "https://zh.d2l.ai/chapter_attention-mechanisms",
}


def cited(section: str) -> str:
    """How a lesson names and links its section, such as ``"10.3"``, in the visitor's language."""
    return gettext(
        "*{book}* {edition}, section {section}, {title} ([read it online as {online}]({address}))",
        book=gettext(BOOK), edition=EDITION, section=section, title=gettext(SECTIONS[section]),
        online=section_online(section), address=address(section, language.current()),
    )  # fmt: skip


def section_online(section: str) -> str:
    """The number of a section in the English edition 1.0: one chapter later."""
    chapter, _, number = section.partition(".")
    return f"{int(chapter) + 1}.{number}"


def address(section: str, spoken: str) -> str:
    """Where a section of the chapter on attention is read, in the language if there it can be."""
    book = spoken if spoken in _BOOKS else ENGLISH
    page = _SECTIONS[section]["page"]
    return f"{_BOOKS[book]}/{page if isinstance(page, str) else page[book]}.html"


_KEY = "lessons-progress"
_HTML = '<nav><ol></ol><span class="said" role="status"></span><button></button></nav>'
_CSS, _JS = (read_beside(__file__, f"progress.{kind}") for kind in ("css", "js"))
_row = component("attention_workbench_lessons", html=_HTML, css=_CSS, js=_JS)


def progress(current: int, finished: str, choose: Callable[[int], None]) -> None:
    """Draw the row of all lessons, with ticks that only the visitor's browser knows.

    ``finished`` names the current lesson where its goal is reached now; ``choose`` is called with
    the number, from 1, of the lesson that the visitor goes to, or with 0 to start over.
    """

    def chosen() -> None:
        number: Any = st.session_state[_KEY].get("chosen")
        if isinstance(number, int) and 0 <= number <= len(LESSONS):
            choose(number)

    _row(
        key=_KEY, height="content", on_chosen_change=chosen,
        data={
            "lessons": [_row_of(number, lesson) for number, lesson in enumerate(LESSONS, 1)],
            "current": current, "finished": finished,
            "words": {
                "count": gettext("{done} of {all} done; only this browser knows"),
                "reset": gettext("Start over"),
            },
        },
    )  # fmt: skip


def _row_of(number: int, lesson: Lesson) -> dict[str, str]:
    """What the row has of one lesson; ``open`` and ``finished`` are said by a screen reader."""
    title = gettext(lesson.title)
    return {
        "name": lesson.name, "title": title, "open": f"{number}. {title}",
        "finished": gettext("{number}. {title}, done", number=number, title=title),
        "link": f"?{urlencode({'lesson': number, **speaking.in_link()})}",
    }  # fmt: skip


_LESSON = Parameter(name="lesson", title="Lesson", default=1, low=1, high=len(LESSONS), step=1)


@dataclass(frozen=True, kw_only=True)
class Course:
    """What the page shows: a lesson, counted from 1, and where its control stands."""

    lesson: int = 1
    guess: str = ""  # the name of a choice; empty while the question is open
    at: Scalar = LESSONS[0].control.default


def lesson_of(view: Course) -> Lesson:
    """The lesson that is seen."""
    return LESSONS[view.lesson - 1]


def begun(number: int) -> Course:
    """A lesson, counted from 1, as it begins."""
    return Course(lesson=number, at=LESSONS[number - 1].control.default)


def control_of(view: Course) -> Parameter:
    """The lesson's control; its default is where the question, or its answer, puts it."""
    lesson = lesson_of(view)
    return replace(lesson.control, default=lesson.asked) if view.guess else lesson.control


def requests(view: Course, catalogue: Catalogue) -> Iterable[Request]:
    """What is seen, and what the question is about, so that its answer comes at once."""
    lesson = lesson_of(view)
    for value in dict.fromkeys((view.at, lesson.asked)):
        if request := lesson.request(value, catalogue):
            yield request
    if lesson.step and view.guess:
        yield lesson.step


GUESS: Choice[Course] = Choice(
    name="guess", title="Your answer", options=lambda view, _: tuple(lesson_of(view).choices),
    default=lambda _view, _catalogue: "",
)  # fmt: skip
LINK: Link[Course] = Link(
    default=lambda _: Course(),
    fields=(
        Setting(name="lesson", parameter=_LESSON),
        GUESS,
        Setting(name="at", parameter=lambda view, _: control_of(view)),
    ),
    # The control does not move before the question is answered.
    fitted=lambda view, _: view if view.guess else begun(view.lesson),
)


def answered(
    catalogue: Catalogue, compute: Callable[[Request], Result | None]
) -> Iterable[Mapping[str, str]]:
    """The link of each lesson as it is once its question was answered rightly."""
    for number, lesson in enumerate(LESSONS, 1):
        request = lesson.request(lesson.asked, catalogue)
        if request and (result := compute(request)):
            right = lesson.answer(lesson.measured(result, lesson.asked))
            yield LINK.format(Course(lesson=number, guess=right, at=lesson.asked), catalogue)
