"""While a lesson's slider moves, its chart and its sentences are those of each position."""

from types import SimpleNamespace

import pytest
from support import live_frames

from dashboard.features.lessons import page
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.view import Course
from dashboard.records.catalogue import Catalogue

pytestmark = pytest.mark.slow

FOLLOWED = {
    "cues": 1,
    "kernel": 20,
    "mask": 1,
    "positions": 10,
    "literature": 20,
}  # every how many
SELECTED = {"scoring", "transformer"}  # by a box that opens: there is nothing between two choices
MODELS = {"bahdanau", "heads", "explaining"}  # need a trained model


def followers(name):
    number = [lesson.name for lesson in LESSONS].index(name) + 1
    lesson = LESSONS[number - 1]
    view = Course(lesson=number, guess="a", at=lesson.control.default)
    session = SimpleNamespace(
        view=view, catalogue=Catalogue(), key=lambda *parts: "-".join(("lessons", *parts))
    )
    return page._followers(session, lesson)


@pytest.mark.parametrize(("name", "each"), FOLLOWED.items())
def test_each_frame_is_what_the_lesson_draws_there(name, each):
    (one,) = followers(name)
    got = live_frames.check(one, each)
    assert list(got["tables"]) == ["lesson"]
    assert len({*got["words"]["now"]}) > 1


def test_each_lesson_with_a_slider_follows_it():
    assert {lesson.name for lesson in LESSONS} == {*FOLLOWED, *SELECTED, *MODELS}
    assert not [one for name in SELECTED for one in followers(name)]
    assert all(len(followers(name)) == 1 for name in MODELS)


def test_a_curve_is_near_between_two_frames():
    (one,) = followers("kernel")
    got = live_frames.frames(one)
    assert live_frames.between(one, got, "lesson", "queries", "prediction") < 0.04
