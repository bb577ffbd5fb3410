"""The QR code beside a page's link; the copying itself is tried in a browser."""

import re
import xml.etree.ElementTree as ET

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui import frame
from dashboard.visitors import Visitor


def _page():
    import streamlit as st

    from dashboard.ui.frame import copy_button

    copy_button(st.session_state["link"], st.session_state["instead"])


@pytest.fixture
def opened():
    def page(link, *instead):
        app = AppTest.from_function(_page)
        app.session_state["link"], app.session_state["instead"] = link, instead
        app.session_state["share"] = True
        return app.run()

    return page


def test_the_code_is_dark_on_light_with_a_quiet_zone():
    drawn = ET.fromstring(frame.qr_code("http://localhost:8501/heads?a=1"))
    light, dark = drawn.findall(".//{*}path") or drawn.findall(".//path")
    assert light.get("fill") == "#fff"
    assert dark.get("stroke") == "#000"
    corner = re.match(r"M(\d+)", dark.get("d"))
    assert corner
    assert int(corner[1]) == 4  # modules of light around it


def test_the_link_stands_as_text_beside_its_code(opened):
    app = opened("http://localhost:8501/heads?a=1")
    assert not app.exception
    assert [one.value for one in app.code] == ["http://localhost:8501/heads?a=1"]
    assert len(app.get("image")) == 1
    assert "Only this machine can open this address" in app.caption[-1].value


def test_the_link_that_is_shown_is_the_one_that_others_can_open(opened, monkeypatch):
    told = []
    monkeypatch.setattr(frame, "for_others", lambda _: "http://192.0.2.7:8501/heads?a=1")
    monkeypatch.setattr(frame, "_copy", lambda data, **_: told.append(data))
    app = opened("http://localhost:8501/heads?a=1", "gaussian")
    assert [one.value for one in app.code] == ["http://192.0.2.7:8501/heads?a=1"]
    assert [one.value for one in app.caption] == [
        "Whoever opens this link sees this page as it is now.",
        "It names gaussian: the typed formula is wrong\\.",
    ]
    assert told[0]["text"] == "http://localhost:8501/heads?a=1"
    assert told[0]["done"] == "Link copied with gaussian: the typed formula is wrong"
    assert [one.proto.label for one in app.get("page_link")] == ["Make an exercise"]
    reader = Visitor(owner="", role="author", classroom=True)
    monkeypatch.setattr(frame.owner, "visitor", lambda: reader)
    app = opened("http://localhost:8501/heads?a=1")
    assert not app.get("page_link"), "an exercise is made by those who make"
    assert len(app.caption) == 1


def test_a_link_too_long_for_a_camera_says_what_to_do_instead(opened):
    app = opened("http://localhost:8501/heads?a=" + "x" * 1200)
    assert not app.get("image")
    assert "share the run" in app.caption[-1].value
