"""The ten lessons: their words, and what real results say of their questions and goals."""

from __future__ import annotations

import re
from string import Formatter

import pyarrow as pa
import pytest

from dashboard.features.anatomy import task as anatomy
from dashboard.features.heads import task as heads
from dashboard.features.lessons.chapter import SECTIONS
from dashboard.features.lessons.course import LESSONS, scoring
from dashboard.features.positions import task as positions
from dashboard.features.regression import task as regression
from dashboard.features.translation import task as translation
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.result import Result
from dashboard.ui.terms import TERMS

TASKS = {
    "anatomy": anatomy, "heads": heads, "positions": positions, "regression": regression,
    "translation": translation,
}  # fmt: skip
TRAINED = ("bahdanau_additive_phrasebook", "transformer_scaled_dot_phrasebook")
SLOW = {"scoring", "bahdanau", "heads", "transformer", "explaining"}  # models, millions of numbers
# What the question of each lesson has for its answer today.
ANSWERS = {
    "cues": "b", "kernel": "b", "scoring": "c", "mask": "c", "bahdanau": "b", "heads": "b",
    "positions": "c", "transformer": "b", "literature": "b", "explaining": "c",
}  # fmt: skip


class Context:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


@pytest.fixture(scope="module")
def shipped():
    """A catalogue of the trained models that lessons use, and of nothing else."""
    found = {
        name: Checkpoint(name=name, title="", model="", scoring="", corpus="phrasebook")
        for name in TRAINED
    }
    return Catalogue(checkpoints=found)


def values(control):
    """All that a control can be moved to."""
    if control.choices:
        return [*control.choices]
    count = round((control.high - control.low) / control.step)
    kind = type(control.default)
    return [kind(round(control.low + i * control.step, 6)) for i in range(count + 1)]


def words(lesson):
    """Everything that the lesson says."""
    return "\n".join(
        [lesson.title, lesson.idea, lesson.question, *lesson.choices.values(), lesson.reason,
         lesson.now, lesson.goal, lesson.conclusion, *(TERMS[term] for term in lesson.terms)]
    )  # fmt: skip


def mentions(text, term):
    return re.search(rf"\b{re.escape(term)}s?\b", text, re.IGNORECASE)


def test_there_are_ten_lessons_of_ten_names():
    assert len({lesson.name for lesson in LESSONS}) == len({one.title for one in LESSONS}) == 10
    assert [lesson.section for lesson in LESSONS] == [
        "10.1", "10.2", "10.3", "10.3", "10.4", "10.5", "10.6", "10.7", "", "",
    ]  # fmt: skip
    assert {lesson.section for lesson in LESSONS} - {""} <= SECTIONS.keys()
    assert all(lesson.section or lesson.papers for lesson in LESSONS)


def test_each_term_of_the_glossary_is_explained_where_it_first_stands():
    introduced = [term for lesson in LESSONS for term in lesson.terms]
    assert len(introduced) == len({*introduced})
    assert {*introduced} <= {*TERMS}
    early = [
        f"{lesson.name} uses {term}, which {later.name} explains"
        for number, lesson in enumerate(LESSONS, 1)
        for later in LESSONS[number:]
        for term in later.terms
        if mentions(words(lesson), term)
    ]
    assert not early


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_short_and_asks_something_open(lesson):
    assert len(lesson.idea.split()) <= 60
    assert len(lesson.choices) == 3
    assert ANSWERS[lesson.name] in lesson.choices
    assert lesson.control.name == "at"
    assert lesson.given == lesson.control.default != lesson.asked
    assert {lesson.given, lesson.asked} <= {*values(lesson.control)}


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.name in SLOW)) for one in LESSONS],
    ids=lambda lesson: lesson.name,
)
def test_real_results_answer_the_question_and_the_goal_can_be_reached(lesson, shipped):
    kept = {}

    def figures(value):
        request = lesson.request(value, shipped)
        assert request
        if request not in kept:
            kept[request] = TASKS[request.task].perform(request, Context())
        return lesson.measured(kept[request], value)

    seen = figures(lesson.asked)
    assert lesson.answer(seen) == ANSWERS[lesson.name]
    assert not lesson.reached(seen)
    found = [value for value in values(lesson.control) if lesson.reached(figures(value))]
    assert 0 < len(found) < len(values(lesson.control)) / 2
    for sentence in (lesson.reason, lesson.now, lesson.missed):
        assert any(name for _, name, *_ in Formatter().parse(sentence))
    for sentence in (lesson.reason, lesson.now, lesson.missed, lesson.conclusion):
        assert not re.search(r"nan|inf\b|\{", sentence.format(**figures(found[0])))


def test_nothing_smaller_than_what_is_given_shows_how_the_largest_weight_grows(monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        scoring, "lines", lambda result, alt, series, **more: drawn.update(series=series, **more)
    )
    rows = [{"d": d, "scoring": name, "largest": d / 10} for d in (1, 2, 4, 8)
            for name in ("dot", "scaled_dot")]  # fmt: skip
    result = Result(tables={"spread": pa.Table.from_pylist(rows)})
    scoring.SCORING.figure(result, "4")
    assert drawn["series"] == drawn["marked"]
    assert [*drawn["series"].values()] == [[(4, 0.4)]] * 2
    scoring.SCORING.figure(result, "8")
    assert [*drawn["series"].values()] == [[(4, 0.4), (8, 0.8)]] * 2
    assert drawn["ticks"] == [4, 8]


@pytest.mark.slow
def test_the_translations_that_lessons_quote_are_the_models(shipped):
    by_name = {lesson.name: lesson for lesson in LESSONS}

    def said(name):
        request = by_name[name].request(1, shipped)
        assert request
        return TASKS[request.task].perform(request, Context()).facts["tokens"]

    assert said("bahdanau") == ["j'", "ai", "une", "voiture", "rouge", ".", "<eos>"]
    assert len(said("heads")) == 8


def test_no_lesson_leads_to_a_measurement():
    """A class that follows it would measure one after the other."""
    links = [to.query for lesson in LESSONS for to in lesson.tries if to.page == "complexity"]
    assert links == [{}]
