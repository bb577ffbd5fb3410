"""On pages that a lesson led to, a link leads back to it, as far as its visitor had come."""

import pytest
from streamlit.testing.v1 import AppTest

NAME = "current page"


def _page():
    import importlib

    import streamlit as st

    name = st.session_state["current page"]
    importlib.import_module(f"dashboard.features.{name}.page").PAGE.show()


@pytest.fixture
def visit(backend):
    """Goes from page to page in one session."""
    app = AppTest.from_function(_page, default_timeout=60)

    def to(name, **link):
        app.session_state[NAME] = name
        app.query_params.clear()
        for key, value in link.items():
            app.query_params[key] = value
        return app.run()

    return to


def back(app):
    return {
        one.proto.label: one.proto.query_string
        for one in app.get("page_link")
        if "Back to" in one.proto.label
    }


def test_the_way_back_is_to_the_lesson_as_it_was_left(visit):
    app = visit("lessons", lesson="2", guess="a", at="0.2")
    assert not app.exception
    assert back(app) == {}, "a lesson leads to pages, not to itself"
    assert back(visit("regression")) == {"Back to lesson 2": "lesson=2&guess=a&at=0.2"}
    assert back(visit("anatomy")) == {}, "the lesson did not lead there"
    visit("lessons", lesson="4", guess="c")
    assert back(visit("anatomy")) == {"Back to lesson 4": "lesson=4&guess=c"}


def test_who_had_no_lesson_open_or_only_its_question_is_led_nowhere(visit):
    assert back(visit("regression")) == {}
    visit("lessons", lesson="2")
    assert back(visit("regression")) == {}
