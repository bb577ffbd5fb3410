"""What a link shows where it is shared: a title, a sentence and a picture, as Open Graph has it.

Streamlit sends every visitor the same page and draws the rest by script, which those who make a
preview do not run. So the page's head says it: which page it is, and of a run its name and its
picture. The head also says the language, for those who read the page aloud, and what is waited
for, which ``loading.css`` writes where nothing is drawn yet.
"""

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.charts.figures import HEIGHT, WIDTH
from dashboard.headers import SERVER_IS
from dashboard.language import ENGLISH, gettext_noop, languages, said_in, tag
from dashboard.storage.files import StorageError
from dashboard.ui.navigation import installed
from dashboard.ui.owner import picture_path, run_store
from dashboard.ui.speaking import remembered

SITE = "Attention Workbench"
_KEPT = gettext_noop("A page of the Attention Workbench, as it was kept.")
_FIRST = gettext_noop("The first charts of this run")
_WAITS = {
    "drawing": gettext_noop("Loading …"), "opening": gettext_noop("Loading {title} …"),
    "gone": gettext_noop("The server is not answering. This page comes back by itself."),
}  # fmt: skip
_LOADING = Path(__file__).with_name("loading.css").read_text("utf-8")
_NO_PICTURE = gettext_noop("Attention Workbench; this run has no picture of its own")
_RUN = re.compile(r"[0-9a-f]{32}\Z")
_GENERAL = "preview.png"  # the picture of every link that has none of its own
_LONGEST = 300  # characters of a description
_AGE = "public, max-age=86400"
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
_HTML = re.compile(r'<html lang="[a-z]*">')


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What is said of a link; ``picture`` is a path on this server, ``alt`` what it shows."""

    title: str
    description: str
    picture: str = _GENERAL
    alt: str = SITE


class Previews:
    """Puts it into the head of the pages that an ASGI app answers with, and ``?embed=true``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, pages with a head of their own."""
        page = _path(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if page is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        begun: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
                if not _is_html(message):
                    await send(message)
            elif not _is_html(begun):
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await _answer(send, begun, await _with_head(request, page, bytes(body)))

        await self._app(_as_plain(scope), receive, collect)


def routes() -> list[Route]:
    """Where the pictures are: ``/preview/<id of a run>.png``, and ``/preview.png``."""
    return [
        Route(f"/{picture_path('{id}')}", _picture, methods=["GET"]),
        Route(f"/{_GENERAL}", _general, methods=["GET"]),
    ]


async def _general(_: Request) -> Response:
    """The workbench's own picture, made by :func:`dashboard.charts.figures.preview`."""
    found = await asyncio.to_thread(Path(__file__).with_name(_GENERAL).read_bytes)
    return Response(found, media_type="image/png", headers={"cache-control": _AGE})


async def _picture(request: Request) -> Response:
    """A run's picture; whoever has the run's link may see it, as they may see the run."""
    id, found = request.path_params["id"], b""

    def read() -> bytes:
        store = run_store()
        return store.picture(store.find(id))

    if _RUN.match(id):
        with suppress(KeyError, StorageError):
            found = await asyncio.to_thread(read)
    if not found:
        return Response("No such picture.", status_code=404, media_type="text/plain")
    return Response(found, media_type="image/png", headers={"cache-control": _AGE})


def preview(page: str, run: str = "", language: str = ENGLISH) -> Preview:
    """What is said of a page as in the address, else of the first one; or of a run by its id."""
    if page == "runs" and _RUN.match(run):
        with suppress(KeyError, StorageError):
            found = run_store().find(run)
            note = " ".join(found.note.split())
            return Preview(
                title=found.name, description=note[:_LONGEST] or said_in(language, _KEPT),
                picture=picture_path(run) if found.picture else _GENERAL,
                alt=said_in(language, _FIRST if found.picture else _NO_PICTURE),
            )  # fmt: skip
    pages = installed()
    entry = next((entry for entry in pages if entry.path == page), pages[0])
    title, purpose = (entry.said(text, language) for text in (entry.title, entry.purpose))
    return Preview(title=f"{title} · {SITE}", description=purpose[:1].upper() + purpose[1:])


async def _with_head(request: Request, page: str, body: bytes) -> bytes:
    language = _language(request)
    said = await asyncio.to_thread(preview, page, request.query_params.get("id", ""), language)
    text = body.decode("utf-8", errors="replace")
    embedded = " data-embed" if request.query_params.get("embed", "").lower() == "true" else ""
    text = _HTML.sub(f'<html lang="{tag(language)}"{embedded}>', text, count=1)
    script = f"\n    <script>{SERVER_IS}</script>" if page else ""
    head = _head(request, said) + script + _style(said, language)
    return _TITLE.sub(lambda _: head, text, count=1).encode()


def _style(said: Preview, language: str) -> str:
    title = said.title.removesuffix(f" · {SITE}")
    told = {n: said_in(language, text).replace("{title}", title) for n, text in _WAITS.items()}
    words = "; ".join(f"--{n}: {json.dumps(w, ensure_ascii=False)}" for n, w in told.items())
    words = words.replace("<", r"\3c ")  # no tag ends a style sheet
    return f"\n    <style>:root {{ {words} }}\n{_LOADING}</style>"


def _head(request: Request, said: Preview) -> str:
    base = _base(request)
    facts = {
        "og:site_name": SITE, "og:type": "website", "og:title": said.title,
        "og:description": said.description, "description": said.description,
        "og:image": f"{base}/{said.picture}", "og:image:alt": said.alt,
        "og:image:type": "image/png",
        "og:image:width": f"{WIDTH}", "og:image:height": f"{HEIGHT}",
        "twitter:card": "summary_large_image",
    }  # fmt: skip
    kinds = {name: "property" if name.startswith("og:") else "name" for name in facts}
    metas = (f'<meta {kinds[n]}="{n}" content="{escape(what)}" />' for n, what in facts.items())
    return "\n    ".join([f"<title>{escape(said.title)}</title>", *metas])


def _base(request: Request) -> str:
    """The server's address as the visitor wrote it, which a proxy may serve by https."""
    forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip()
    scheme = forwarded if forwarded in ("http", "https") else request.url.scheme
    folder = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{request.url.netloc}" + (f"/{folder}" if folder else "")


def _language(request: Request) -> str:
    """The language in which the page will be drawn, as a browser knows it."""
    asked = request.query_params.get("lang", "")
    browser = request.headers.get("accept-language", "").partition(",")[0].partition("-")[0]
    found = (asked, remembered(request.cookies), browser.lower())
    return next((one for one in found if one in languages()), ENGLISH)


def _path(scope: Scope) -> str | None:
    folder = str(st.get_option("server.baseUrlPath")).strip("/")
    path = scope["path"].strip("/").removeprefix(folder).strip("/")
    return path if path in {"", *(entry.path for entry in installed())} else None


def _is_html(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] == 200 and kind.startswith("text/html")


def _as_plain(scope: Scope) -> Message:
    """The request without what would be answered by a compressed page, a file, or none."""
    left = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    own = [(name, what) for name, what in scope["headers"] if name.lower() not in left]
    return {**scope, "headers": own, "extensions": {}}


async def _answer(send: Send, begun: Message, body: bytes) -> None:
    headers = MutableHeaders(raw=[*begun["headers"]])
    for name in ("etag", "last-modified"):
        del headers[name]
    headers["content-length"] = str(len(body))
    headers.add_vary_header("accept-language, cookie")
    await send({**begun, "headers": headers.raw})
    await send({"type": "http.response.body", "body": body})
