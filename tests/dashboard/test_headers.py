"""What browsers are told, on every answer of the server's app."""

import asyncio
import base64
import hashlib
import re
from pathlib import Path

import streamlit
from starlette.responses import PlainTextResponse

import streamlit_app
from dashboard.asked_uploads import AskedUploads
from dashboard.headers import SERVER_IS, Hosts, SecurityHeaders, headers, middleware
from dashboard.owners import Owners
from dashboard.previews import Previews
from dashboard.serving import FormerLinks
from dashboard.sockets import Sockets
from dashboard.unchanged import Unchanged


def answered(app, kind="http"):
    """Names and values of the headers that the app answers a request with."""
    sent = []

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "method": "GET", "path": "/", "headers": []}
    asyncio.run(app(scope, receive, send))
    return {name.decode(): what.decode() for name, what in sent[0].get("headers", ())}


def policy():
    parts = headers()["content-security-policy"].split("; ")
    return {name: words for name, *words in map(str.split, parts)}


def test_every_answer_has_them():
    found = answered(SecurityHeaders(PlainTextResponse("hello"), headers()))
    assert found.items() >= headers().items()
    assert found["content-length"] == "5"
    assert found["x-content-type-options"] == "nosniff"


def test_an_answer_keeps_its_own():
    own = PlainTextResponse("hello", headers={"Referrer-Policy": "no-referrer"})
    assert answered(SecurityHeaders(own, headers()))["referrer-policy"] == "no-referrer"


def test_what_is_no_request_is_left_alone():
    async def accept(scope, receive, send):
        await send({"type": "websocket.accept"})

    assert answered(SecurityHeaders(accept, headers()), kind="websocket") == {}


def test_only_what_comes_from_here_is_run():
    allowed = policy()
    assert allowed["default-src"] == ["'self'"]
    assert allowed["object-src"] == ["'none'"]
    page = (Path(streamlit.__file__).parent / "static/index.html").read_text("utf-8")
    (inline,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(one.encode()).digest() for one in (inline, SERVER_IS))
    known = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert allowed["script-src"] == ["'self'", "blob:", *known]
    assert allowed["base-uri"] == allowed["form-action"] == ["'self'"]
    assert {"ws:", "wss:"} < {*allowed["connect-src"]}, "over TLS as well"
    assert {"blob:", "data:"} < {*allowed["img-src"]}
    assert ("data:" in allowed["font-src"], "blob:" in allowed["worker-src"]) == (True, True)
    assert not {"'unsafe-eval'", "*", "https:"} & {
        word for part in allowed.values() for word in part
    }


def test_frames_are_a_setting(monkeypatch):
    assert policy()["frame-ancestors"] == ["'self'"]
    monkeypatch.setenv(
        "ATTENTION_FRAME_ANCESTORS", "https://school.example https://*.school.example"
    )
    wanted = ["https://school.example", "https://*.school.example"]
    assert policy()["frame-ancestors"] == wanted


def test_the_server_uses_them(monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTS", "lab.example *.school.example")
    _, hosts = own = middleware()
    assert [each.cls for each in own] == [SecurityHeaders, Hosts]
    assert hosts.kwargs == {"listed": ["lab.example", "*.school.example"]}
    used = [each.cls for each in streamlit_app.app._user_middleware]
    own = [Sockets, SecurityHeaders, Hosts, FormerLinks, AskedUploads, Owners, Previews, Unchanged]
    assert used == own
