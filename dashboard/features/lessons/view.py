"""What the page *Lessons* shows, its link, and its requests: ``/lessons?lesson=2&guess=b&at=0.2``.

``guess`` is the answer that was given, ``at`` where the lesson's control stands. Before an answer
is given the control stands still.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Lesson
from dashboard.language import gettext_noop
from dashboard.links.fields import Choice, Setting
from dashboard.links.link import Link
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Scalar

_LESSON = Parameter(name="lesson", title="Lesson", default=1, low=1, high=len(LESSONS), step=1)


@dataclass(frozen=True, kw_only=True)
class Course:
    """What the page shows.

    Args:
        lesson: counted from 1.
        guess: the name of a choice; empty while the question is open.
        at: where the lesson's control stands.
    """

    lesson: int = 1
    guess: str = ""
    at: Scalar = LESSONS[0].given


def lesson_of(view: Course) -> Lesson:
    """The lesson that is seen."""
    return LESSONS[view.lesson - 1]


def begun(number: int) -> Course:
    """A lesson, counted from 1, as it begins."""
    return Course(lesson=number, at=LESSONS[number - 1].given)


def control_of(view: Course) -> Parameter:
    """The lesson's control; its default is where the question, or its answer, puts it."""
    lesson = lesson_of(view)
    return replace(lesson.control, default=lesson.asked if view.guess else lesson.given)


def requests(view: Course, catalogue: Catalogue) -> Iterable[Request]:
    """What is seen, and what the question is about, so that its answer comes at once."""
    lesson = lesson_of(view)
    for value in dict.fromkeys((view.at, lesson.asked)):
        if request := lesson.request(value, catalogue):
            yield request


def _standing(view: Course) -> Course:
    """The control does not move before the question is answered."""
    return view if view.guess else replace(view, at=lesson_of(view).given)


GUESS: Choice[Course] = Choice(
    name="guess",
    title=gettext_noop("Your answer"),
    options=lambda view, _: tuple(lesson_of(view).choices),
    default=lambda _view, _catalogue: "",
)
LINK: Link[Course] = Link(
    default=lambda _: Course(),
    fields=(
        Setting(name="lesson", parameter=_LESSON),
        GUESS,
        Setting(name="at", parameter=lambda view, _: control_of(view)),
    ),
    fitted=lambda view, _: _standing(view),
)
