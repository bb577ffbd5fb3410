"""Links from when Kernel regression was the first page lead to it still."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard import serving
from dashboard.features.regression import view as regression
from dashboard.features.start import view as start
from dashboard.links.fits import DATA, data_parameters
from dashboard.ui.navigation import installed

FROZEN = json.loads((Path(__file__).parent / "links/frozen.json").read_text("utf-8"))["links"]
LINKS = [one["query"] for one in FROZEN if one["page"] == "regression"]


@pytest.fixture
def client():
    methods = ["GET", "HEAD", "POST"]
    answer = Route("/{path:path}", lambda _: PlainTextResponse("page"), methods=methods)
    app = Starlette(routes=[answer], middleware=[Middleware(serving.FormerLinks)])
    return TestClient(app, follow_redirects=False)


def test_every_link_of_then_leads_to_the_page_of_now(client, catalogue):
    usual = regression.default_view(catalogue)
    saying = [link for link in LINKS if regression.LINK.parse(link, catalogue)[0] != usual]
    assert len(saying) > len(LINKS) / 2
    path = next(entry.path for entry in installed() if entry.name == "regression")
    for query in saying:
        written = urlencode(query, doseq=True)
        answer = client.get(f"/?{written}")
        assert (answer.status_code, answer.headers.get("location")) == (307, f"{path}?{written}")


@pytest.mark.parametrize("query", ["", "?width=0.2", "?utm_source=mail", "?embed=true"])
def test_a_link_to_the_start_page_stays(client, query):
    assert client.get(f"/{query}").text == "page"


@pytest.mark.parametrize("query", ["a=", "a.width=0.5", "x=1&data.noise=0.2"])
def test_a_name_says_enough_whatever_comes_behind_it(client, query):
    assert client.get(f"/?{query}").headers["location"] == f"regression?{query}"


def test_other_pages_and_other_methods_are_left_alone(client):
    assert client.get("/translation?a=bahdanau.additive").text == "page"
    assert client.post("/?a=gaussian").text == "page"


def test_who_asks_for_the_head_alone_is_led_there_too(client):
    """As mail programs and chats do before they show a link."""
    answer = client.head("/?a=gaussian")
    assert (answer.status_code, answer.headers.get("location")) == (307, "regression?a=gaussian")
    assert client.head("/?width=0.2").status_code == 200


def test_below_a_path_of_its_own_the_same_holds(client, monkeypatch):
    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": "lab/"}.get)
    assert client.get("/lab/?a=gaussian").headers["location"] == "regression?a=gaussian"
    assert client.get("/?a=gaussian").text == "page"


def test_every_name_of_the_bare_pages_link_is_known(catalogue):
    own = {each.name for each in data_parameters(catalogue, DATA)}
    fields = {field.name for field in regression.LINK.fields} - {"panels", "settings"}
    # Came after the page had moved.
    fields -= {"one_scale", "columns", "letters", "validation", "rows", "along"}
    assert own | fields | set("abcd") <= serving.NAMES
    assert not serving.NAMES & {field.name for field in start.LINK.fields}
