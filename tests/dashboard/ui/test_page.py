"""The one order in which every page is drawn."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from dashboard.ui import session
from dashboard.ui.results import PATIENCE


def _drawn():
    """A page that notes what it is asked for, in order."""
    from dataclasses import dataclass

    import streamlit as st

    from dashboard.links.fields import Setting
    from dashboard.links.link import Link
    from dashboard.records.parameter import Parameter
    from dashboard.records.request import Request
    from dashboard.ui.fields import draw_setting
    from dashboard.ui.page import Page

    sides = Parameter(name="sides", title="Sides", default=3, low=1, high=11, step=1)

    @dataclass(frozen=True, kw_only=True)
    class View:
        sides: int = 3

    field = Setting(name="sides", parameter=sides)
    order = st.session_state.setdefault("order", [])
    order.clear()

    def controls(session):
        order.append(f"controls {session.view.sides} {session.fresh}")
        draw_setting(session, field)
        return st.container()

    def requests(view, catalogue):
        asked = f"requests {view.sides} {dict(st.query_params)}"
        if asked not in order:  # it is asked again, in case results bring follow-ups
            order.append(asked)
        return [Request.make("regression", scoring="gaussian", seed=view.sides)]

    def results(session, place):
        (found,) = session.jobs.done()
        order.append(f"results {len(found.tables)} {session.fresh}")
        place.text("drawn")

    def empty(catalogue):
        order.append("empty?")
        return st.session_state.get("nothing", False)

    Page(
        name="shapes", title="Shapes", explanation="How many sides.", controls=controls,
        requests=requests, results=results, empty=empty,
        link=Link(default=lambda _: View(), fields=(field,)),
    ).show()  # fmt: skip


@pytest.fixture
def page(backend):
    def opened(**link):
        app = AppTest.from_function(_drawn, default_timeout=60)
        for key, value in link.items():
            app.query_params[key] = value
        return app.run()

    return opened


def test_controls_come_before_the_link_and_the_link_before_requests_and_results(page):
    app = page(sides="5")
    assert app.session_state["order"] == [
        "empty?", "controls 5 True", "requests 5 {'sides': '5'}", "results 3 False",
    ]  # fmt: skip
    assert [title.value for title in app.title] == ["Shapes"]


def test_what_a_widget_says_is_in_the_link_and_in_the_request(page, backend):
    app = page()
    app.slider(key="shapes-sides").set_value(7).run()
    assert app.session_state["order"][1:3] == ["controls 3 False", "requests 7 {'sides': '7'}"]
    assert [one.seed for one in backend.submitted.values() if one.task == "regression"] == [3, 7]


def test_what_was_refused_is_said_until_something_is_changed(page):
    app = page(sides="99", x="1")
    said = [text.value for text in app.text]
    assert any("need 1 <= sides <= 11, so 11 is used" in text for text in said)
    assert any("unknown parameter ‘x’" in text for text in said)
    assert [text.value for text in app.run().text] == said
    app.slider(key="shapes-sides").set_value(2).run()
    assert not any("sides" in text.value for text in app.text)


@pytest.fixture
def back(monkeypatch):
    """Says that a run goes back in history; holds the addresses that are told to the browser."""
    told = []
    from_dict = QueryParams.from_dict
    monkeypatch.setattr(
        QueryParams, "from_dict", lambda self, query: told.append(query) or from_dict(self, query)
    )

    def go(app, **link):
        context = session.get_script_run_ctx
        going = SimpleNamespace(is_history_navigation=True)
        monkeypatch.setattr(session, "get_script_run_ctx", lambda: going)
        app.query_params.clear()
        app.query_params.update(link)
        told.clear()
        app.run()
        monkeypatch.setattr(session, "get_script_run_ctx", context)
        return told[-1:]

    return go


def test_back_wins_over_a_widget_that_was_moved_since(page, back):
    """The browser tells both at once where it went back before the move was answered."""
    app = page()
    app.slider(key="shapes-sides").set_value(7)
    assert back(app) == [{}]
    assert app.session_state["order"][1:3] == ["controls 3 True", "requests 3 {}"]
    assert app.slider(key="shapes-sides").value == 3


def test_back_tells_the_address_again(page, back):
    """A run that was under way may have written its own after the browser had gone back."""
    app = page(sides="5")
    app.slider(key="shapes-sides").set_value(7).run()
    assert back(app, sides="5") == [{"sides": "5"}]
    assert app.slider(key="shapes-sides").value == 5
    assert back(app, sides="5") == [{"sides": "5"}]


def test_an_empty_page_asks_for_nothing(page, backend):
    app = AppTest.from_function(_drawn, default_timeout=60)
    app.session_state["nothing"] = True
    app.run()
    assert app.session_state["order"] == ["empty?"]
    assert [one.task for one in backend.submitted.values()] == ["catalogue"]


def _followed():
    """A page that asks for two more results, each once the one before is there."""
    from types import SimpleNamespace

    from dashboard.records.request import Request
    from dashboard.ui.page import Page

    asked = [Request.make("regression", seed=seed) for seed in range(3)]
    waited, wanted = [], []
    jobs = SimpleNamespace(
        want=wanted.append, wait=waited.append, patience=lambda seconds: 3 * seconds,
    )  # fmt: skip
    page = Page(
        name="followed", title="", explanation="", link=None, controls=None, results=None,
        requests=lambda view, catalogue: asked[:1],
        follow_ups=lambda view, catalogue, jobs: asked[1 : 1 + len(waited)],
    )  # fmt: skip
    page._ask(SimpleNamespace(view=None, catalogue=None, jobs=jobs))
    return [len(one) for one in wanted], waited


def test_what_follows_from_results_is_waited_for_as_long_as_they_were():
    assert _followed() == ([1, 2, 3], [3 * PATIENCE] * 3)
