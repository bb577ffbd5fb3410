"""Links of the page *Lessons*, and those that lead from its lessons to other pages."""

import importlib

import pytest
from support.catalogue import FACTS, named, normaliser, scoring

from dashboard.features.anatomy import view as anatomy
from dashboard.features.lessons import view
from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import page_and_query
from dashboard.features.lessons.view import LINK, address, begun, requests, section_online
from dashboard.records.catalogue import Catalogue

TRIES = [(lesson.name, to) for lesson in LESSONS for to in lesson.tries]


def checkpoint(name, model, scored):
    held = next(one for one in FACTS["checkpoints"] if one["name"] == "one")
    corpus = {**held["card"]["corpus"], "name": "phrasebook", "sides": ["English", "French"]}
    card = {**held["card"], "model": model, "scoring": scored, "corpus": corpus}
    return {"name": name, "card": card, "fault": ""}


@pytest.fixture(scope="module")
def installed():
    """The catalogue of the tests, with the models that ship."""
    facts = {**FACTS}
    facts["checkpoints"] = [
        *(one for one in FACTS["checkpoints"] if not one["name"].startswith("twin")),
        checkpoint("bahdanau_additive_phrasebook", "bahdanau", "additive"),
        checkpoint("transformer_scaled_dot_phrasebook", "transformer", "scaled_dot"),
    ]
    facts["models"] = [*FACTS["models"], named("transformer", "translation")]
    facts["scorings"] = [*FACTS["scorings"], scoring("dot")]
    facts["normalisers"] = [*FACTS["normalisers"], normaliser("off_by_one")]
    facts["datasets"] = [
        *FACTS["datasets"],
        named("phrasebook", "translation", aligned=True, sides=["English", "French"]),
    ]
    return Catalogue.of(facts)


def test_a_bare_address_is_the_first_lesson_with_its_question_open(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert (view, problems) == (begun(1), [])
    assert LINK.format(view, catalogue) == {}


def test_a_link_says_lesson_answer_and_control(catalogue):
    link = {"lesson": "2", "guess": "b", "at": "0.2"}
    view, problems = LINK.parse(link, catalogue)
    assert (view.lesson, view.guess, view.at) == (2, "b", 0.2)
    assert not problems
    assert LINK.format(view, catalogue) == link


def test_an_answer_puts_the_control_where_the_question_asks(catalogue):
    view, _ = LINK.parse({"lesson": "4", "guess": "a"}, catalogue)
    assert view.at == LESSONS[3].asked
    assert LINK.format(view, catalogue) == {"lesson": "4", "guess": "a"}


def test_the_control_stands_still_before_the_answer(catalogue):
    view, problems = LINK.parse({"lesson": "2", "at": "0.2"}, catalogue)
    assert (view.at, problems) == (LESSONS[1].control.default, [])


def test_what_no_lesson_has_is_named(catalogue):
    view, problems = LINK.parse({"lesson": "11", "guess": "z", "at": "often"}, catalogue)
    assert (view.lesson, view.guess, view.at) == (10, "", LESSONS[9].control.default)
    assert len(problems) == 3


def test_the_answer_is_computed_while_the_question_is_read(catalogue):
    asked = [dict(request.parameters)["width"] for request in requests(begun(2), catalogue)]
    assert asked == [LESSONS[1].control.default, LESSONS[1].asked]


@pytest.mark.parametrize(("lesson", "to"), TRIES)
def test_every_part_of_a_link_to_try_is_accepted_and_changes_what_is_seen(lesson, to, installed):
    page, query = page_and_query(to, 0.5)
    link = importlib.import_module(f"dashboard.features.{page}.view").LINK
    view, problems = link.parse(query, installed)
    assert not problems
    written = link.format(view, installed)
    assert link.parse(written, installed) == (view, [])
    assert view != link.default(installed)
    for name in query:
        if (page, name) in {("heads", "a"), ("alignment", "corpus"), ("regression", "b")}:
            continue  # the default there already; they stay in the link should that change
        less = {key: value for key, value in query.items() if key != name}
        assert link.parse(less, installed)[0] != view, f"{name} changes nothing"


@pytest.mark.parametrize("at", [-1.5, 0.0, 2.0])
def test_the_step_that_lesson_1_takes_apart_is_the_one_that_it_shows(at, installed):
    to = next(iter(LESSONS[0].tries))
    page, query = page_and_query(to, at)
    (asked,) = anatomy.requests(anatomy.LINK.parse(query, installed)[0], installed)
    shown = LESSONS[0].request(at, installed)
    assert (page, asked.scoring, asked.parameters) == ("anatomy", shown.scoring, shown.parameters)
    asked, shown = dict(asked.options), dict(shown.options)
    assert {name: asked[name] for name in shown} == shown
    assert not asked["lengths"]


def test_a_section_is_read_online_one_chapter_later_and_in_the_visitors_language():
    assert section_online("10.3") == "11.3"
    assert address("10.3", "zh").startswith("https://zh.d2l.ai/")
    assert address("10.3", "fr") == address("10.3", "en")
    assert address("10.3", "en").startswith("https://d2l.ai/")


def test_the_row_of_lessons_links_each_in_the_visitors_language(monkeypatch):
    monkeypatch.setattr(view.speaking, "in_link", lambda: {"lang": "zh"})
    row = view._row_of(3, LESSONS[2])
    assert row["link"] == "?lesson=3&lang=zh"
    assert row["open"] == f"3. {row['title']}"
    assert row["finished"] == f"3. {row['title']}, done"
