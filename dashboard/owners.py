"""Gives every browser an owner: a random id in a signed cookie that no script can read.

What a visitor makes is kept under that id. It says nothing of who they are, and whoever knows an
id cannot make the cookie that stands for it.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from itsdangerous import BadSignature, Signer
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.settings import settings
from dashboard.storage.files import home, locked, make_folder, replace

COOKIE = "attention_owner"
_SALT = "attention-workbench owner"
_ID = re.compile(r"[0-9a-f]{32}\Z")
_KEY_FILE = "owners.key"
_SECONDS = 400 * 24 * 3600  # as long as browsers keep a cookie


class Owners:
    """Sets the cookie on the pages that an ASGI app answers with, where there is no valid one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does."""
        if scope["type"] != "http" or not _asks_for_page(connection := HTTPConnection(scope)):
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                cookie = (b"set-cookie", _cookie(connection).encode("latin-1"))
                message["headers"] = [*message.get("headers", ()), cookie]
            await send(message)

        await self._app(scope, receive, answer)


def owner_of(cookies: Mapping[str, str]) -> str:
    """The id in a browser's cookie, 32 hexadecimal digits; empty if there is no valid one."""
    with suppress(BadSignature, UnicodeError):
        id = _signer().unsign(cookies.get(COOKIE, "")).decode("ascii")
        return id if _ID.match(id) else ""
    return ""


def new_cookie() -> str:
    """The value of a new owner's cookie."""
    return _signer().sign(secrets.token_hex(16)).decode("ascii")


def signature(text: str) -> str:
    """A digest of a text that nobody can make who has not this server's secret."""
    return _signer().get_signature(text).decode("ascii")


def _asks_for_page(connection: HTTPConnection) -> bool:
    wanted = connection.scope["method"] == "GET" and settings().owners
    html = "text/html" in connection.headers.get("accept", "")
    return wanted and html and not owner_of(connection.cookies)


def _cookie(connection: HTTPConnection) -> str:
    forwarded = connection.headers.get("x-forwarded-proto", "").split(",")[0].strip()
    response = Response()
    response.set_cookie(
        COOKIE, new_cookie(), max_age=_SECONDS, httponly=True, samesite="lax",
        secure="https" in (connection.url.scheme, forwarded),
    )  # fmt: skip
    return response.headers["set-cookie"]


def _signer() -> Signer:
    secret = settings().cookie_secret.get_secret_value()
    return _signing(secret.encode() if secret else _own_key(home()))


@lru_cache(maxsize=4)
def _signing(key: bytes) -> Signer:
    return Signer(key, salt=_SALT, digest_method=hashlib.sha256)


@cache
def _own_key(folder: Path) -> bytes:
    """The key in the data folder, made when first needed.

    Where the folder cannot be written the key lives as long as this process.
    """
    path, made = folder / _KEY_FILE, secrets.token_bytes(32)
    with suppress(OSError):
        if not path.is_file() or not path.stat().st_size:
            make_folder(folder)
            with locked(folder / "owners.lock", 10.0):  # servers may start at once
                if not path.is_file() or not path.stat().st_size:
                    replace(path, made)
        return path.read_bytes()
    return made
