"""The table of pages is whole, and links between pages lead where they say."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from dashboard.ui import jobs, navigation
from dashboard.ui.navigation import installed
from dashboard.ui.page import Page

FEATURES = Path(dashboard.__file__).parent / "features"


def test_every_feature_is_in_the_table_once():
    folders = {path.parent.name for path in FEATURES.glob("*/page.py")}
    names = [entry.name for entry in installed()]
    assert sorted(names) == sorted(folders)


@pytest.mark.parametrize("what", ["title", "icon", "path"])
def test_no_two_pages_share(what):
    found = [getattr(entry, what) for entry in installed()]
    assert len({*found}) == len(found)


@pytest.mark.parametrize("entry", installed(), ids=lambda entry: entry.name)
def test_every_page_is_declared_under_its_folders_name(entry):
    page = importlib.import_module(f"dashboard.features.{entry.name}.page").PAGE
    assert isinstance(page, Page)
    assert page.name == entry.name
    assert entry.purpose


def _link():
    import streamlit as st

    from dashboard.ui import navigation

    st.navigation(navigation.menu()["Understand"], position="hidden")
    navigation.link_to("heads", {"text": "go .", "off": "cross.1.all"}, "Look closer", "tune")


def test_a_link_carries_its_query_and_its_label():
    (link,) = AppTest.from_function(_link).run().get("page_link")
    assert link.proto.page == "heads"
    assert link.proto.label == "Look closer"
    assert link.proto.icon == ":material/tune:"
    assert link.proto.query_string == "text=go+.&off=cross.1.all"


def test_each_run_gets_pages_of_its_own_though_they_are_made_once():
    entry = installed()[3]
    one, other = navigation._page(entry), navigation._page(entry)
    assert one is not other
    assert vars(one).keys() == vars(other).keys()
    assert navigation._made.cache_info().hits
    navigation.look_again()
    assert not navigation._made.cache_info().currsize


def test_links_between_pages_are_made_here_alone():
    """Elsewhere they would leave out the language."""
    made = [path.name for path in FEATURES.parent.rglob("*.py")
            if re.search(r"\b(page_link|switch_page)\(", path.read_text("utf-8"))]  # fmt: skip
    assert made == ["navigation.py"]


def test_a_link_carries_the_language_that_was_chosen():
    def page():
        import streamlit as st

        from dashboard.language import gettext
        from dashboard.ui import navigation, speaking

        speaking.begin()
        st.navigation(navigation.menu()[gettext("Understand")], position="hidden")
        navigation.link_to("heads", {"text": "go ."}, gettext("Heads"))

    app = AppTest.from_function(page)
    (link,) = app.run().get("page_link")
    assert link.proto.query_string == "text=go+."
    app = AppTest.from_function(page)
    app.query_params["lang"] = "zh"
    (link,) = app.run().get("page_link")
    assert link.proto.query_string == "text=go+.&lang=zh"


def test_the_page_that_is_shown_is_known_by_its_name(backend, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))

    def page(name):
        from dashboard.ui import navigation

        navigation._opener(name)()
        navigation.st.text(navigation.location(navigation.current()))

    waits = []
    monkeypatch.setattr(jobs, "listeners", [waits.append])
    names = ("runs", "norms", "regression", "start")
    locations = ("/runs", "/normalisation", "/regression", "/")
    for name, location in zip(names, locations, strict=True):
        app = AppTest.from_function(page, args=(name,), default_timeout=60).run()
        assert not app.exception
        assert app.text[-1].value == location
    drawn = [wait for wait in waits if wait.what == "drawn"]
    assert [wait.page for wait in drawn] == [*names]
    assert all(0 < wait.seconds < 60 for wait in drawn)
    assert {wait.page for wait in waits} <= {entry.name for entry in installed()}


def test_an_address_has_the_parameters_of_its_link():
    train = next(entry for entry in installed() if entry.name == "training")
    assert navigation.address(train, {}) == "/train"
    assert navigation.address(train, {"show": "a b", "x": "&"}) == "/train?show=a+b&x=%26"
    assert navigation.address(installed()[0], {"width": "0.2"}) == "/?width=0.2"


def test_a_page_of_the_workbench_keeps_its_turn_until_it_is_drawn(monkeypatch):
    drawn = []
    page = SimpleNamespace(PAGE=SimpleNamespace(show=lambda: drawn.append("page")))
    monkeypatch.setattr(navigation, "_module", lambda _: page)
    monkeypatch.setattr(navigation.TURNS, "waiting", lambda: drawn.append("wait"))
    navigation._opener("regression")()
    assert drawn == ["page"]
