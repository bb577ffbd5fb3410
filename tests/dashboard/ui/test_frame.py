from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.jobs.backend import Event
from dashboard.ui import frame
from dashboard.visitors import Visitor


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ((), "Heads · Attention Workbench"),
        (("Dot product", "Cosine"), "Dot product, Cosine · Heads · Attention Workbench"),
        (("Dot product", "Dot product"), "Dot product · Heads · Attention Workbench"),
        (("a" * 40, "b" * 40), f"{'a' * 40}, {'b' * 17}… · Heads · Attention Workbench"),
        (("a" * 58, "b"), f"{'a' * 58}, b"[:58] + "… · Heads · Attention Workbench"),
    ],
)
def test_a_tab_is_named_by_what_its_page_shows(monkeypatch, shown, wanted):
    named = []
    monkeypatch.setattr(st, "set_page_config", lambda **given: named.append(given))
    frame.name_tab("Heads", shown)
    assert named == [{"page_title": wanted}]


def _many():
    from dashboard.ui.frame import _plugin_problems, notice

    about = {"plugin": "odd", "message": "is broken", "advice": ""}
    _plugin_problems([{**about, "advice": "mend it"}, *[about] * 9])
    notice([f"refused {number}" for number in range(11)])


def test_of_many_problems_eight_are_told_and_the_others_counted():
    app = AppTest.from_function(_many).run()
    told = [one.value for one in app.text]
    assert told == ["odd: is broken"] * 8 + [f"refused {number}" for number in range(8)]
    assert [one.value for one in app.caption] == [
        "What to do: mend it", "and 2 more: see the page Plugins", "and 3 more",
    ]  # fmt: skip


def _listing():
    from dashboard.ui.frame import catalogue_or_wait

    assert catalogue_or_wait(1, 10) is None


@pytest.mark.parametrize("administers", [True, False])
def test_where_no_plugins_can_be_listed_the_reason_is_told(monkeypatch, administers):
    pressed = []
    failed = Event(number=1, stage="failed", note="It died", facts={"stderr": "line 7"})
    bench = SimpleNamespace(catalogue=lambda _: failed, refresh=lambda: pressed.append("refresh"))
    who = Visitor(owner="", role="administrator" if administers else "author")
    monkeypatch.setattr(frame, "workbench", lambda: bench)
    monkeypatch.setattr(frame, "reload", lambda: pressed.append("reload"))
    monkeypatch.setattr(frame.owner, "visitor", lambda: who)
    app = AppTest.from_function(_listing).run()
    assert [one.value for one in app.text] == ["It died"]
    assert [one.value for one in app.code] == ["line 7"]
    app.button[0].click().run()
    assert pressed == ["reload" if administers else "refresh"]


def _acting():
    import streamlit as st

    from dashboard.records.catalogue import Catalogue
    from dashboard.ui.frame import actions

    actions(st.container(), "http://localhost/heads", Catalogue(), part="2")


@pytest.mark.usefixtures("chinese")
def test_the_browser_is_told_the_page_with_its_part_and_the_language(monkeypatch):
    told = []
    monkeypatch.setattr(frame, "_script", lambda data, **_: told.append(data))
    monkeypatch.setattr(frame.navigation, "current", lambda: SimpleNamespace(name="heads"))
    app = AppTest.from_function(_acting).run()
    assert not app.exception
    ((page, tag),) = [(one["page"], one["tag"]) for one in told]
    assert (page, tag) == ("heads 2", "zh-Hans")
