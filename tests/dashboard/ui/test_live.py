"""Frames of sliders: asked for by addresses that a session was given, and made once."""

import asyncio
import gzip
import json
import random
from dataclasses import replace
from types import SimpleNamespace

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


def test_whoever_leaves_stops_nobody_else_and_what_was_stopped_is_made_anew(backend):
    offered(make=lambda found: b"x")

    async def several():
        gone, stays = (asyncio.ensure_future(live.offers().frames("a" * 32)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == b"x"
        live.offers()._made.clear()
        stopped = asyncio.ensure_future(live.offers().frames("a" * 32))
        await asyncio.sleep(0)
        live.offers()._made["a" * 32].cancel()
        await asyncio.wait([stopped])
        return await live.offers().frames("a" * 32)

    assert asyncio.run(several()) == b"x"


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
    assert backend.limit == 30.0


def test_frames_are_those_of_a_widget_its_language_and_all_that_is_asked_for(monkeypatch):
    spec = Parameter(name="width", title="Width", default=1.0, low=0.0, high=4.0)

    def of(key="a-width", at=1.0, more="", seed=0):
        asked = {"fit": Request.make("regression", seed=seed)}
        return live.Slider(key, spec, at, lambda _: asked, more=more).of

    assert of() == of(at=3.0)
    moved = [live.Slider("a", spec, at, lambda at: {"fit": Request.make("fit", seed=int(at))})
             for at in (0.0, 3.0)]  # fmt: skip
    assert moved[0].of == moved[1].of
    found = [of(), of(key="b-width"), of(more="digest"), of(seed=1)]
    monkeypatch.setattr(live.language, "current", lambda: "zh")
    assert len({*found, of()}) == 5


WIDTH = Parameter(name="width", title="Width", default=1.0, low=0.0, high=4.0)


def slider(key="a.width", **more):
    one = Request.make("regression")
    return live.Slider(key, WIDTH, 1.5, lambda _: {"fit": one, "again": one}, most=5, **more)


@pytest.fixture
def follow(backend, monkeypatch):
    """``follow(*followers)``: what the browser is told, and what a file has, of sliders."""
    told, noted = {}, {}
    bench = type("Bench", (), {"backend": backend, "generation": 1})
    monkeypatch.setattr(live, "workbench", bench)
    monkeypatch.setattr(live, "_bridge", lambda key, data, height: told.update(data))
    monkeypatch.setattr(live.shown, "slider", noted.__setitem__)
    monkeypatch.setattr(live, "signature", str)
    monkeypatch.setattr(live, "get_script_run_ctx", lambda: SimpleNamespace(session_id="me"))

    def go(*followers, free=20.0):
        jobs = SimpleNamespace(work=lambda request: 2.0, free=free)  # of each, at each position
        live.follow(SimpleNamespace(jobs=jobs), followers)
        return told, noted

    go.bench = bench
    return go


def test_a_slider_is_followed_where_that_costs_no_more_than_a_link_may(follow):
    one = live.Followers(slider(), {})
    assert [*follow(one)[0]["sliders"]] == ["a-width"]
    assert not follow(one, free=19.0)[0]["sliders"]


def test_each_slider_has_frames_of_its_own_for_the_browser_and_in_a_file(follow, monkeypatch):
    monkeypatch.setattr(live, "spoken_now", lambda make: lambda found: b"spoken" + make(found))
    sides = {side: live.Followers(slider(f"{side}.width"), {},
                                  {"said": lambda at, found, side=side: f"{side}{at:g}"})
             for side in "ab"}  # fmt: skip
    told, noted = follow(*sides.values(), free=99)
    assert told["sayings"]["--moved"] == "{slider}: computed when you let go"
    for side, one in sides.items():
        of = told["sliders"][f"{side}-width"]
        assert (of["of"], of["at"]) == (one.slider.of, 1.5)
        offer = live.offers()._offers[of["address"].removeprefix("frames/")]
        assert offer.client == "me"
        held = noted[f"{side}.width"]
        assert held[:5] == (0.0, 4.0, 0.04, 1.5, one.slider.of)
        made = held.frames()
        assert made.startswith(b"spoken"), "in the visitor's language, on any thread"
        assert json.loads(gzip.decompress(made[6:])) == {
            "positions": [0, 1, 2, 3, 4], "wide": False, "tables": {},
            "words": {"said": [f"{side}{at}" for at in range(5)]},
        }  # fmt: skip
    wide = live.Slider("a", replace(WIDTH, low=0.1), 1.0, lambda _: {})
    assert json.loads(gzip.decompress(live._bytes(live.Followers(wide, {}), {})))["wide"]
    assert live._sweep(live.Slider("a", WIDTH, 1.0, lambda _: {})) is None, "all is there"


def test_an_address_is_of_all_that_its_frames_are_of(follow):
    def address(charts=(), words=(), more="", **given):
        names = dict.fromkeys(charts), dict.fromkeys(words)
        one = live.Followers(slider(**given), *names, more)
        return follow(one)[0]["sliders"]["a-width"]["address"]

    assert address() == address()
    found = [address(), address("c"), address((), "c"), address(more="c"), address(more="d")]
    found.append(address())
    follow.bench.generation = 2
    assert len({*found, address()}) == 6


def test_of_large_frames_texts_are_left_out_first_and_then_pictures(follow, monkeypatch):
    monkeypatch.setattr(live, "_MOST", 400)
    asked = []

    def kept(tables, *, texts, pictures):
        asked.append((texts, pictures))
        large = {(True, True): "0" * 3_000, (False, True): random.Random(0).randbytes(500).hex()}
        return large.get(asked[-1], least)

    monkeypatch.setattr(live.live, "kept", kept)
    one, least = live.Followers(slider(), {}), "few"
    results = dict.fromkeys(one.slider.requests(0.0).values())
    assert json.loads(gzip.decompress(live._bytes(one, results)))["tables"] == "few"
    assert asked == [(True, True), (False, True), (False, False)]
    least = random.Random(0).randbytes(600).hex()
    with pytest.raises(ValueError, match="need frames of at most 400 bytes, got 1,"):
        live._bytes(one, results)


def test_words_follow_sliders_in_the_browser_and_are_noted_for_a_file(monkeypatch):
    told, noted = {}, []
    monkeypatch.setattr(live, "_words", lambda **given: told.update(given))
    monkeypatch.setattr(
        live.shown, "note_text", lambda *given, **more: noted.append((given, more))
    )
    one = slider()
    live.words("name", "Said.", [one], "latex")
    assert told["key"] == "live-name"
    assert told["data"] == {
        "text": "Said.", "name": "name", "sliders": {one.of: 1.5}, "kind": "latex",
    }  # fmt: skip
    assert noted == [(("Said.", "latex"), {"follows": "name"})]
