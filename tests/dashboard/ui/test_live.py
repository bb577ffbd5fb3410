"""Frames of sliders: asked for by addresses that a session was given, and made once."""

import asyncio
import gzip
import json

import pyarrow as pa
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dashboard.jobs.backend import Event
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result
from dashboard.records.sweep import sweep
from dashboard.ui import live


class Backend:
    def __init__(self, note=""):
        self.note, self.submitted = note, []

    def submit(self, request, *, client="", work=0.0, time_limit=None):
        self.submitted.append((request, client))
        self.limit = time_limit
        return "job"

    def wait(self, job, timeout):
        if self.note:
            return Event(number=1, stage="failed", note=self.note)
        held = pa.array([Result(facts={"n": 1}).to_bytes()], pa.large_binary())
        result = Result(tables={"results": pa.table({"result": held})})
        return Event(number=1, stage="done", result=result)


@pytest.fixture
def backend(monkeypatch):
    made = Backend()
    monkeypatch.setattr(live, "workbench", type("Bench", (), {"backend": made}))
    known = live.Offers()
    monkeypatch.setattr(live, "offers", lambda: known)
    return made


def offered(make=lambda found: gzip.compress(json.dumps(len(found)).encode()), fails=""):
    asked = Request.make("regression")
    live.offers().add("a" * 32, live.Offer(sweep=lambda: sweep([asked]), make=make, client="me"))


def client():
    return TestClient(Starlette(routes=live.routes()))


def test_frames_are_made_once_for_all_who_ask_and_may_be_kept_for_ever(backend):
    offered()
    with client() as browser:
        answers = [browser.get(f"/frames/{'a' * 32}") for _ in range(3)]
    assert [one.json() for one in answers] == [1, 1, 1]
    assert [client for _, client in backend.submitted] == ["me"]
    assert answers[0].headers["content-encoding"] == "gzip"
    assert answers[0].headers["cache-control"] == "public, max-age=31536000, immutable"


def test_an_address_that_nobody_was_given_starts_no_work(backend):
    offered()
    answer = client().get(f"/frames/{'b' * 32}")
    assert answer.status_code == 404
    assert backend.submitted == []


def test_an_offer_starts_no_work_before_it_is_asked_for(backend):
    offered()
    assert backend.submitted == []


def test_a_worker_that_fails_is_asked_again_by_the_next(backend):
    offered()
    backend.note = "no such scoring"
    with client() as browser:
        answer = browser.get(f"/frames/{'a' * 32}")
        assert (answer.status_code, answer.text) == (503, "no such scoring")
        backend.note = ""
        assert browser.get(f"/frames/{'a' * 32}").status_code == 200


def test_whoever_asks_at_once_waits_for_the_same_frames(backend):
    made = []
    offered(make=lambda found: made.append(1) or b"x")

    async def several():
        return await asyncio.gather(*(live.offers().frames("a" * 32) for _ in range(5)))

    assert asyncio.run(several()) == [b"x"] * 5
    assert len(made) == 1


def test_only_the_newest_offers_are_known(backend, monkeypatch):
    monkeypatch.setattr(live, "_OFFERS", 2)
    for sign in "abc":
        live.offers().add(sign, live.Offer(sweep=lambda: None, make=lambda _: b"", client=""))
    with pytest.raises(KeyError):
        asyncio.run(live.offers().frames("a"))
    assert asyncio.run(live.offers().frames("c")) == b""


def test_an_offer_that_is_made_again_is_among_the_newest(backend, monkeypatch):
    monkeypatch.setattr(live, "_OFFERS", 2)
    for sign in "abac":
        live.offers().add(sign, live.Offer(sweep=lambda: None, make=lambda _: b"", client=""))
    assert asyncio.run(live.offers().frames("a")) == b""
    with pytest.raises(KeyError):
        asyncio.run(live.offers().frames("b"))


def test_only_so_many_frames_are_kept_and_a_worker_has_so_long_for_them(backend, monkeypatch):
    monkeypatch.setattr(live, "_KEPT", 1)
    made = []
    for sign in "ab":
        offer = live.Offer(sweep=lambda: sweep([Request.make("regression")]), client="",
                           make=lambda found, sign=sign: made.append(sign) or b"")  # fmt: skip
        live.offers().add(sign, offer)

    async def one_after_the_other():
        for sign in "aaba":
            await live.offers().frames(sign)

    asyncio.run(one_after_the_other())
    assert made == ["a", "b", "a"]
    assert backend.limit == live._LIMIT


def test_frames_are_those_of_a_widget_its_language_and_all_that_is_asked_for(monkeypatch):
    spec = Parameter(name="width", title="Width", default=1.0, low=0.0, high=4.0)

    def of(key="a-width", at=1.0, more="", seed=0):
        asked = {"fit": Request.make("regression", seed=seed)}
        return live.Slider(key, spec, at, lambda _: asked, more=more).of

    assert of() == of(at=3.0)
    found = [of(), of(key="b-width"), of(more="digest"), of(seed=1)]
    monkeypatch.setattr(live.language, "current", lambda: "zh")
    assert len({*found, of()}) == 5
