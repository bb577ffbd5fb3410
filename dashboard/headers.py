"""What browsers are told to refuse: scripts, frames and connections that are not this server's."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import streamlit
from starlette.middleware import Middleware

from dashboard.hosts import Hosts, listed_hosts
from dashboard.settings import settings

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


def middleware() -> list[Middleware]:
    """For the server's app: its answers carry :func:`headers`, and strange hosts get none."""
    return [Middleware(Headers, headers=headers()), Middleware(Hosts, listed=listed_hosts())]


def headers() -> dict[str, str]:
    """The headers of every answer; the setting ``frame_ancestors`` says who may frame them.

    Raises:
        ValueError: a setting out of bounds.
    """
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
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }


def _scripts_of_the_page() -> list[str]:
    """Hashes of the scripts that stand in the page itself, which Streamlit brings."""
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    found = _INLINE.findall(page.read_text("utf-8"))
    digests = (hashlib.sha256(script.encode()).digest() for script in found)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class Headers:
    """Adds headers to every answer of an ASGI app, but to none that has them already."""

    def __init__(self, app: _App, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), what.encode()) for name, what in headers.items()]

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Answer as the app does, with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: _Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name, what) for name, what in self._headers if name not in own]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        await self._app(scope, receive, answer)
