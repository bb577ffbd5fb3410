"""Takes a file in only where a page asks for one.

Streamlit's upload address takes any file of any session and keeps it in memory until the session
ends, whether or not a page shows an uploader. Here it is refused before its body is read.
"""

import asyncio
import math
import re
import threading
import time
from collections.abc import Callable

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from dashboard.owners import owner_of
from dashboard.settings import settings
from dashboard.storage.bundle import LARGEST_ARCHIVE

_ADDRESS = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)/?\Z")
_SECONDS_BETWEEN_PAGES = 60.0  # in which a file may still come for a page that is drawn anew
_SECONDS_FOR_A_FILE = 300.0
_SECONDS_UNTIL_READ = 60.0
_SMALL = 2**20  # bytes of a file for which there is room when there is none for larger ones
_HELD = 4  # files of the largest size that all sessions together may have in memory
_ENVELOPE = 2**16  # bytes of a request beside its file
_MB = 2**20


class Uploaders:
    """Which sessions show an uploader now. Every method may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._until: dict[str, tuple[str, float]] = {}

    def show(self, session: str, cookie: str) -> None:
        """Note that a session shows one, and the owner in its browser's cookie."""
        with self._lock:
            self._until[session] = (cookie, math.inf)

    def redraw(self, session: str) -> None:
        """Note that a session's page is drawn anew; it may show none this time."""
        now = self._clock()
        with self._lock:
            for known, (cookie, until) in [*self._until.items()]:
                if until < now:
                    del self._until[known]
                elif known == session and until == math.inf:
                    self._until[known] = (cookie, now + _SECONDS_BETWEEN_PAGES)

    def shows(self, session: str, cookie: str) -> bool:
        """Whether a session shows one, and its browser has a cookie of the same owner."""
        with self._lock:
            owner, until = self._until.get(session, ("", -math.inf))
        return until >= self._clock() and owner == cookie


@st.cache_resource(show_spinner=False)
def uploaders() -> Uploaders:
    """Those of this process."""
    return Uploaders()


class AskedUploads:
    """Refuses a file that no page asked for, and bounds the memory of those that are taken in.

    A whole file must come in ``patience`` seconds.
    """

    def __init__(
        self, app: ASGIApp, shown: Uploaders | None = None, *,
        clock: Callable[[], float] = time.monotonic, patience: float = _SECONDS_FOR_A_FILE,
    ) -> None:  # fmt: skip
        self._app, self._shown, self._clock, self._patience = app, shown, clock, patience
        self._coming: dict[str, int] = {}  # bytes that are being received, by session
        self._came: dict[tuple[str, str], float] = {}  # when, by session and file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, or refuse."""
        found = _ADDRESS.search(scope.get("path", "")) if scope["type"] == "http" else None
        if found is None or scope["method"] != "PUT":
            await self._app(scope, receive, send)
            return
        session, name = found.groups()
        connection = HTTPConnection(scope)
        length = connection.headers.get("content-length", "")
        size = int(length) if length.isascii() and length.isdigit() else -1
        status, problem = self._refusal(session, connection, size)
        if problem:
            closing = {"connection": "close"}
            answer = PlainTextResponse(f"{problem}\n", status_code=status, headers=closing)
            await answer(scope, receive, send)
            return
        self._coming[session] = size
        try:
            async with asyncio.timeout(self._patience):
                await self._app(scope, receive, send)
        except TimeoutError:
            late = PlainTextResponse("The file did not come in time.\n", status_code=408)
            await late(scope, receive, send)
        finally:
            del self._coming[session]
            self._came[session, name] = self._clock()

    def _refusal(self, session: str, connection: HTTPConnection, size: int) -> tuple[int, str]:
        """The status and the sentence of a refusal; an empty sentence if the file may come."""
        most = max(settings().upload_megabytes * _MB, LARGEST_ARCHIVE)
        if size < 0:
            return 411, "A file needs a Content-Length."
        if size > most + _ENVELOPE:
            return 413, f"Need a file of at most {most // _MB} MB."
        cookie = owner_of(connection.cookies)
        shown = self._shown or uploaders()
        if not cookie and settings().owners:
            return 403, "Files are taken from browsers that send this server's cookie."
        if not shown.shows(session, cookie):
            return 403, "No page of this browser asks for a file now; open the page again."
        if session in self._coming:
            return 409, "Another file of this page is still coming."
        room = (_HELD if size > _SMALL else _HELD + 1) * most - sum(self._coming.values()) - size
        if self._make_room(session, room) > room:
            return 503, "Many files are being uploaded here; try again in a minute."
        return 200, ""

    def _make_room(self, session: str, room: int) -> int:
        """Forget files in memory that are there no more, or that their pages have surely read.

        A page reads its file as soon as that is there. So of the session that uploads, all go but
        the newest, and if there is no room, those of others that came a minute ago or earlier.

        Returns:
            The bytes that are still in memory.
        """
        files = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
        if not isinstance(files, MemoryUploadedFileManager):
            return 0
        sizes = {
            (owner, name): len(one.data)
            for owner, each in [*files.file_storage.items()] for name, one in [*each.items()]
        }  # fmt: skip
        self._came = {each: when for each, when in self._came.items() if each in sizes}
        own = [each for each in sizes if each[0] == session][:-1]
        before = self._clock() - _SECONDS_UNTIL_READ
        others = [each for each, when in self._came.items() if when <= before]
        for each in [*own, *sorted(others, key=self._came.__getitem__)]:
            if each in sizes and (each[0] == session or sum(sizes.values()) > room):
                files.remove_file(*each)
                del sizes[each]
        return sum(sizes.values())
