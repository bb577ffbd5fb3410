"""By which names browsers may ask for this server, from whose pages, and what they must refuse.

A page of another site may have its own name lead to this server's address. Its requests then come
from the same origin for the browser and for Streamlit, and only ``Host`` still has the strange
name. So ``Host`` must be a name that nobody else can have led here (against DNS rebinding).

A WebSocket of another site's page is refused here already. Streamlit would refuse it too, but
would first ask a service on the internet for this machine's address, and answer nobody meanwhile.
"""

import base64
import hashlib
import ipaddress
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config

from dashboard.records.text import shown
from dashboard.settings import settings, variable

# What a proxy adds. A page cannot add it to a WebSocket, without which it reaches nothing.
_OF_PROXIES = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "via")

_OWN_ORIGINS = ("localhost", "127.0.0.1", "0.0.0.0")  # nosec B104


class Hosts:
    """Refuses requests and WebSockets that ask for a server of another name.

    Those ``listed`` are let in, ``*.`` before a name for all below it, ``*`` for any; where there
    are none, a proxy in front is trusted to let in the right ones.
    """

    def __init__(self, app: ASGIApp, listed: Sequence[str]) -> None:
        self._app, self._listed = app, tuple(listed)
        own = socket.gethostname().lower()
        self._own = {own, f"{own}.local"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, or refuse: a WebSocket with 403, a request with 421."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            for host in headers.getlist("host"):
                if not self._lets_in(host, headers):
                    await _refuse(host, scope, receive, send)
                    return
            if scope["type"] == "websocket" and not _is_ours(headers):
                await WebSocketClose(code=1008, reason="unknown origin")(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _lets_in(self, host: str, headers: Headers) -> bool:
        name = _name(host)
        if _nobody_elses(name) or name in self._own:
            return True
        if self._listed:
            return any(_matches(name, each) for each in self._listed)
        return any(each in headers for each in _OF_PROXIES)


def _is_ours(headers: Headers) -> bool:
    """Whether a page of this server opens the WebSocket, or one that Streamlit's settings name."""
    origin = headers.get("origin")
    if origin is None or origin.partition("://")[2] == headers.get("host"):
        return True
    if not config.get_option("server.enableCORS"):
        return True
    listed = {*_OWN_ORIGINS, config.get_option("browser.serverAddress")}
    sites = (site.strip() for site in config.get_option("server.corsAllowedOrigins"))
    try:
        listed |= {urlsplit(site).hostname for site in sites}
        return urlsplit(origin).hostname in listed
    except ValueError:
        return False


def _name(host: str) -> str:
    """``Host`` in lower case without its port and the brackets of an address."""
    text = host.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def _nobody_elses(name: str) -> bool:
    """Whether no other site can lead that name here: an address, or a name of this network."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost")
    return True


def _matches(name: str, listed: str) -> bool:
    return listed == "*" or name == listed or (listed[:2] == "*." and name.endswith(listed[1:]))


async def _refuse(host: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocketClose(code=1008, reason="unknown host")(scope, receive, send)
        return
    text = (
        f"This server is not known as {shown(_name(host))}. Ask for it by its address in numbers "
        f"or as localhost, or have {variable('hosts')} list that name where it is started.\n"
    )
    await PlainTextResponse(text, status_code=421)(scope, receive, send)


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Of every page but the first: else Streamlit looks for the server below the page, for two 404s.
SERVER_IS = (
    "window.__streamlit = { BACKEND_BASE_URL: "
    "location.origin + location.pathname.replace(/[^/]*\\/?$/, '') }"
)


def middleware() -> list[Middleware]:
    """For the server's app: its answers carry :func:`headers`, and strange hosts get none."""
    return [
        Middleware(SecurityHeaders, headers=headers()),
        Middleware(Hosts, listed=settings().hosts.split()),
    ]


def headers() -> dict[str, str]:
    """The headers of every answer; the setting ``frame_ancestors`` says who may frame them."""
    policy = {
        "default-src": "'self'",
        # Streamlit makes a blob of a component's script; only a script that runs can make one.
        "script-src": " ".join(["'self'", "blob:", *_scripts_of_the_page()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self' ws: wss:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": settings().frame_ancestors,
    }
    return {
        "content-security-policy": "; ".join(f"{name} {what}" for name, what in policy.items()),
        "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    }  # fmt: skip


def _scripts_of_the_page() -> list[str]:
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    found = [*_INLINE.findall(page.read_text("utf-8")), SERVER_IS]
    digests = (hashlib.sha256(script.encode()).digest() for script in found)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class SecurityHeaders:
    """Adds headers to every answer of an ASGI app, but to none that has them already."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), what.encode()) for name, what in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name, what) for name, what in self._headers if name not in own]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        await self._app(scope, receive, answer)
