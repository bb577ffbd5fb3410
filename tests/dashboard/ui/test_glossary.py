"""The glossary that every page can open."""

import re

import pytest
from streamlit.testing.v1 import AppTest
from support.texts import catalogues, texts

from dashboard.features.lessons.course import LESSONS
from dashboard.ui.frame import TERMS


def _page():
    import streamlit as st

    from dashboard.ui import navigation
    from dashboard.ui.frame import glossary_button

    st.navigation(navigation.menu(), position="hidden")
    glossary_button()


@pytest.fixture
def opened():
    def page(*, opened=True, sought=""):
        app = AppTest.from_function(_page)
        app.session_state["glossary"] = opened
        app.session_state["glossary-sought"] = sought
        return app.run()

    return page


def test_a_closed_glossary_sends_none_of_its_words(opened):
    app = opened(opened=False)
    assert not app.exception
    assert len(app.markdown) == 0


def test_an_open_one_explains_every_term(opened):
    (text,) = (one.value for one in opened().markdown)
    assert [part.partition(":")[0] for part in text.split("\n\n")] == [f"**{t}**" for t in TERMS]


def test_a_term_is_found_by_some_of_its_letters(opened):
    (text,) = (one.value for one in opened(sought="Query ").markdown)
    assert text == f"**query**: {TERMS['query']}"
    app = opened(sought="zebra")
    assert len(app.markdown) == 0
    assert [one.value for one in app.caption] == ["No term has these letters. Try fewer of them."]


@pytest.mark.usefixtures("chinese")
def test_a_term_is_found_in_either_language_and_has_both_names(opened):
    for sought in ("查询", "query"):
        text = opened(sought=sought).markdown[0].value
        assert "**查询**（query）：" in text


@pytest.mark.parametrize("sought", ["held-out", "Held out", "beam", "nats", "bleu", "copied"])
def test_words_that_stand_on_pages_are_found(opened, sought):
    assert opened(sought=sought).markdown


def test_terms_stand_in_the_order_of_the_alphabet():
    assert [*TERMS] == sorted(TERMS, key=str.lower)


def test_a_term_that_no_lesson_explains_stands_on_a_page():
    pages = [
        text.one for folder in catalogues() for text in texts(folder).values()
        if folder.name != "ui" or text.one not in {*TERMS, *TERMS.values()}
    ]  # fmt: skip
    said = {re.sub(r"\W", " ", text.lower()) for text in pages}
    taught = {term for lesson in LESSONS for term in lesson.terms}
    for term in {*TERMS} - taught:
        word = re.compile(rf"\b{re.sub('-', ' ', term.lower())}")
        assert any(word.search(text) for text in said), term


def test_it_leads_to_the_lessons(opened):
    (link,) = opened().get("page_link")
    assert link.proto.page == "lessons"


def test_every_meaning_is_one_sentence():
    assert all(meaning.endswith(".") and len(meaning) < 170 for meaning in TERMS.values())
