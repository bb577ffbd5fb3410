"""The glossary that every page can open."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui.terms import TERMS


def _page():
    import streamlit as st

    from dashboard import navigation
    from dashboard.ui.glossary import glossary_button

    st.navigation(navigation.menu()["Understand"], position="hidden")
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


def test_it_leads_to_the_lessons(opened):
    (link,) = opened().get("page_link")
    assert link.proto.page == "lessons"


def test_every_meaning_is_one_sentence():
    assert all(meaning.endswith(".") and len(meaning) < 170 for meaning in TERMS.values())
