"""Which names browsers may ask for this server by: a stranger's name leads nowhere."""

import asyncio
import socket

import pytest
from starlette.responses import PlainTextResponse

from dashboard.headers import Hosts

EVIL = "rebound.evil.example:8501"


def asked(host, kind="http", listed=(), **headers):
    """What the app sends first to somebody who asks for that host."""
    sent = []

    async def app(scope, receive, send):
        if kind == "websocket":
            await send({"type": "websocket.accept"})
        else:
            await PlainTextResponse("secret")(scope, receive, send)

    async def receive():
        return {"type": f"{kind}.connect"}

    async def send(message):
        sent.append(message)

    given = {**({"host": host} if host is not None else {}), **headers}
    named = [(n.replace("_", "-").encode(), value.encode()) for n, value in given.items()]
    scope = {"type": kind, "method": "GET", "path": "/", "headers": named}
    asyncio.run(Hosts(app, listed)(scope, receive, send))
    return sent


def let_in(host, kind="websocket", listed=(), **headers):
    first = asked(host, kind, listed, **headers)[0]
    return first["type"] == "websocket.accept" or first.get("status") == 200


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:8501", "LOCALHOST", "app.localhost:8501", "127.0.0.1:8501",
        "[::1]:8501", "[::1]", "[fe80::1]", "192.168.1.7:8501", "10.0.0.3", "labserver:8501",
        socket.gethostname(), f"{socket.gethostname()}.local:8501", None,
    ],
)  # fmt: skip
def test_addresses_and_names_of_this_network_are_let_in(host, kind):
    assert let_in(host, kind)


@pytest.mark.parametrize(
    "host",
    [
        EVIL, "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example.", f"{socket.gethostname()}.evil.example", "other.local", "[evil.example]",
        "localhost@evil.example",
    ],
)  # fmt: skip
def test_a_name_that_another_site_may_lead_here_is_refused_though_its_origin_is_the_same(host):
    origin = f"http://{host}"
    assert not let_in(host, "websocket", origin=origin)
    assert not let_in(host, "http", origin=origin)


def test_the_refusal_says_what_would_be_right_and_nothing_of_the_app():
    (close,) = asked(EVIL, "websocket")
    assert (close["type"], close["code"]) == ("websocket.close", 1008)
    start, body = asked(EVIL)
    assert start["status"] == 421
    text = body["body"].decode()
    assert "‘rebound.evil.example’" in text
    assert "ATTENTION_HOSTS" in text
    assert "secret" not in text


def test_every_host_of_a_request_counts():
    named = [(b"host", b"localhost"), (b"host", b"evil.example")]
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": named}
    asyncio.run(Hosts(PlainTextResponse("secret"), ())(scope, None, send))
    assert sent[0]["status"] == 421


def test_a_proxy_is_trusted_until_names_are_listed():
    for added in ("x_forwarded_for", "x_forwarded_host", "x_forwarded_proto", "forwarded", "via"):
        assert let_in("lab.example", **{added: "10.0.0.9"})
    assert not let_in("lab.example", listed=["other.example"], x_forwarded_for="10.0.0.9")
    assert let_in("lab.example", listed=["other.example", "lab.example"])


@pytest.mark.parametrize(
    ("host", "listed", "expected"),
    [
        ("a.school.example", "*.school.example", True),
        ("A.School.Example:443", "*.school.example", True),
        ("school.example", "*.school.example", False),
        ("evilschool.example", "*.school.example", False),
        ("a.school.example.", "*.school.example", True),
        ("anything.example", "*", True),
        ("localhost", "lab.example", True),
    ],
)
def test_listed_names_may_stand_for_all_below_them(host, listed, expected):
    assert let_in(host, listed=[listed]) is expected


def test_the_name_of_this_machine_may_have_capitals(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Lab.School.Example")
    assert let_in("lab.school.example")


def test_what_has_no_host_such_as_a_start_is_left_alone():
    begun = []

    async def app(scope, receive, send):
        begun.append(scope["type"])

    asyncio.run(Hosts(app, ())({"type": "lifespan"}, None, None))
    assert begun == ["lifespan"]


def asked_from(origin, host="lab.example:8501"):
    """Whether a page of that origin may open a WebSocket, and what it is told first."""
    first = asked(host, "websocket", ["lab.example"], origin=origin)[0]
    return first["type"] == "websocket.accept"


def test_a_websocket_of_another_sites_page_is_refused_before_streamlit_asks_the_internet(
    monkeypatch,
):
    assert asked_from("http://lab.example:8501")
    assert asked_from("https://lab.example:8501")
    assert asked_from("http://localhost:3000")
    for origin in ("https://evil.example", "http://lab.example:1", "null", "http://[", ""):
        assert not asked_from(origin)
    own = {"server.corsAllowedOrigins": ["https://school.example "], "server.enableCORS": True,
           "browser.serverAddress": "front.example"}  # fmt: skip
    monkeypatch.setattr("streamlit.config.get_option", own.__getitem__)
    assert asked_from("https://school.example")
    assert asked_from("https://front.example")
    assert not asked_from("https://evil.example")
    monkeypatch.setitem(own, "server.enableCORS", False)
    assert asked_from("https://evil.example")
