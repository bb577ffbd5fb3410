"""Leads links from the time when *Kernel regression* was the first page to where it is now.

``/?a=gaussian&data=step`` became ``/regression?a=gaussian&data=step``. Such links stand in mails,
in papers and in runs that were kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from starlette.responses import RedirectResponse

from dashboard.links.fields import LETTERS

# What a parameter of the page's link begins with: a panel, the problem, what may be set about it.
NAMES = frozenset((*LETTERS, "data", "points", "noise", "queries", "seed", "device"))
_NOW = "regression"

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class FormerLinks:
    """Redirects such links; everything else is answered by the ASGI app."""

    def __init__(self, app: _App) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Answer with 307, or as the app does."""
        if scope["type"] == "http" and _is_first_page(scope) and _names_panels(scope):
            # Relative: a proxy may have taken a part of the path away.
            where = f"{_NOW}?{scope['query_string'].decode('latin-1')}"
            await RedirectResponse(where, status_code=307)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_first_page(scope: _Message) -> bool:
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return scope["method"] in ("GET", "HEAD") and scope["path"] == (f"/{base}/" if base else "/")


def _names_panels(scope: _Message) -> bool:
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return any(name.partition(".")[0] in NAMES for name, _ in query)
