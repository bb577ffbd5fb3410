"""A visitor's session over Streamlit's own WebSocket protocol: what a browser does, unpainted.

A session opens pages by their links, presses buttons, uploads files, and looks again at what is
not finished as often as the page asks a browser to.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import time
import urllib.request
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates

PATIENCE = 120.0  # seconds for one answer
_FAILURES = ("**This panel failed**", "**This cannot be computed**")
_XSRF = "_streamlit_xsrf"
_ELSEWHERE = "192.0.2.1"  # an address of documentation


class Shown(NamedTuple):
    """An element of the page, and the fragment that drew it; empty for the script itself."""

    element: Element
    fragment: str


class Visit:
    """One session of one browser.

    Args:
        url: of the server.
        cookies: of the browser, see :func:`new_browser`.
        afar: whether it comes from another machine, as a proxy would say; else it is used by the
            server's own user, who administers it.

    Attributes:
        shown: what the page shows, by its place.
        polled: seconds between two looks at each unfinished part of the page, by its fragment.
        sent_to: the path that the page sent the browser to, as to log in; empty for none.
    """

    def __init__(
        self, url: str, cookies: Mapping[str, str] | None = None, *, afar: bool = False
    ) -> None:
        self._afar = afar
        self._url, self._cookies = url, dict(cookies or {})
        self.shown: dict[tuple[int, ...], Shown] = {}
        self.polled: dict[str, float] = {}
        self.sent_to = ""
        self._popovers: dict[tuple[int, ...], str] = {}
        self._page, self._script, self._query, self._session = "", "", "", ""
        self._socket: websockets.ClientConnection | None = None

    async def __aenter__(self) -> Visit:
        """Begin; the connection is made when there is something to say, as a browser's is."""
        return self

    async def _connect(self) -> websockets.ClientConnection:
        headers = {"X-Forwarded-For": _ELSEWHERE} if self._afar else {}
        if self._cookies:
            headers["Cookie"] = _joined(self._cookies)
            headers["Origin"] = self._url  # else nobody has logged in
        protocols = filter(None, ("streamlit", self._cookies.get(_XSRF)))
        return await websockets.connect(
            self._url.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[*map(websockets.Subprotocol, protocols)],
            additional_headers=headers,
            max_size=None, compression=None, open_timeout=60,
        )  # fmt: skip

    async def __aexit__(self, *_: object) -> None:
        """Leave, as when the tab is closed."""
        if self._socket is not None:
            await self._socket.close()

    async def open(self, page: str, query: str, *, patience: float = PATIENCE) -> float:
        """Open a link and wait until everything of it is there; return the seconds it took.

        Args:
            page: its path in the address.

        Raises:
            TimeoutError: something of it is unfinished after ``patience`` seconds.
        """
        began = time.perf_counter()
        async with asyncio.timeout(patience):
            await self.show(page, query)
            await self.finish()
        return time.perf_counter() - began

    async def show(self, page: str, query: str = "") -> None:
        """Open a link as :meth:`open` does, but take it as it is when its script has ended."""
        self._page, self._script, self._query = page, "", query
        await self.run()

    async def finish(self) -> None:
        """Look again at what is unfinished, as often as the page asks for it."""
        while self.polled:
            await asyncio.sleep(min(self.polled.values()))
            await self.look()

    async def look(self) -> None:
        """Have every unfinished part drawn once again; one that is done has the page drawn."""
        for fragment in [*self.polled]:
            if fragment in self.polled:
                await self.run(fragment=fragment)

    async def press(self, key: str) -> None:
        """Press the button of that key and wait for the end of the script.

        Raises:
            LookupError: there is no such button, or it is disabled.
        """
        pressed = WidgetStates()
        pressed.widgets.add(id=self.button(key), trigger_value=True)
        await self.run(pressed)

    async def unfold(self, key: str) -> None:
        """Open the popover of that key, which is drawn only once it is open.

        Raises:
            LookupError: there is no such popover.
        """
        for popover in self._popovers.values():
            if popover.endswith(f"-{key}"):
                opened = WidgetStates()
                opened.widgets.add(id=popover, bool_value=True)
                await self.run(opened)
                return
        raise LookupError(f"no popover {key!r} on this page")

    async def run(self, widgets: WidgetStates | None = None, *, fragment: str = "") -> None:
        """Run the page's script, or a fragment of it, to its end."""
        await self._ask(widgets, fragment)
        while True:
            answer = await self._receive()
            if answer.WhichOneof("type") != "script_finished":
                continue
            part = answer.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
            # A whole page is told as a fragment where the browser shows most of it already.
            whole = "unchanged" in answer.metadata.run.fragment_ids
            if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY or (
                part and (fragment or whole)
            ):
                return

    async def type(self, key: str, texts: Iterable[str], pause: float) -> None:
        """Type into the text field of that key; each text is sent whether or not its page came.

        Args:
            texts: what stands in the field after each key.
            pause: seconds between two keys.

        Raises:
            LookupError: there is no such field.
        """
        ids = [one.element.text_input.id for one in self.shown.values()]
        field = next((each for each in ids if each.endswith(f"-{key}")), None)
        if field is None:
            raise LookupError(f"no text field {key!r} on this page")
        reading = asyncio.create_task(self._follow())
        try:
            for text in texts:
                typed = WidgetStates()
                typed.widgets.add(id=field, string_value=text)
                await self._ask(typed)
                await asyncio.sleep(pause)
                for fragment in [*self.polled]:
                    await self._ask(fragment=fragment)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            await self._receive()

    async def _ask(self, widgets: WidgetStates | None = None, fragment: str = "") -> None:
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = "" if self._script else self._page
        message.rerun_script.page_script_hash = self._script
        if widgets is not None:
            message.rerun_script.widget_states.CopyFrom(widgets)
        if fragment:
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = widgets is None
        await self._send(message)

    async def upload(self, key: str, name: str, content: bytes) -> None:
        """Give a file to the uploader of that key.

        Raises:
            LookupError: there is no such uploader.
            OSError: the server refused it.
        """
        ids = [one.element.file_uploader.id for one in self.shown.values()]
        uploader = next((each for each in ids if each.endswith(f"-{key}")), None)
        if uploader is None:
            raise LookupError(f"no uploader {key!r} on this page")
        asked = BackMsg()
        asked.file_urls_request.request_id = uuid.uuid4().hex
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.session_id = self._session
        await self._send(asked)
        while (answer := await self._receive()).WhichOneof("type") != "file_urls_response":
            pass
        (place,) = answer.file_urls_response.file_urls
        await asyncio.to_thread(self._put, place.upload_url, name, content)
        given = WidgetStates()
        files = given.widgets.add(id=uploader).file_uploader_state_value
        info = files.uploaded_file_info.add(name=name, size=len(content), file_id=place.file_id)
        info.file_urls.CopyFrom(place)
        await self.run(given)

    def button(self, key: str) -> str:
        """Return the id of the button of that key.

        Raises:
            LookupError: there is no such button, or it is disabled.
        """
        for one in self.shown.values():
            button = one.element.button
            if button.id.endswith(f"-{key}") and not button.disabled:
                return button.id
        raise LookupError(f"no enabled button {key!r} on this page")

    def buttons(self) -> list[str]:
        """The ids of all buttons that can be pressed; each ends in the button's key."""
        buttons = [one.element.button for one in self.shown.values()]
        return [button.id for button in buttons if button.id and not button.disabled]

    def texts(self) -> list[str]:
        """What stands on the page as text, markdown and captions."""
        found = []
        for one in self.shown.values():
            kind = one.element.WhichOneof("type")
            if kind in ("text", "markdown"):
                found.append(getattr(one.element, kind).body)
            elif kind == "progress":
                found.append(one.element.progress.text)
        return found

    def errors(self) -> list[str]:
        """What the page shows as an error: of the script, or of a job."""
        raised = [
            one.element.exception.message for one in self.shown.values()
            if one.element.WhichOneof("type") == "exception"
        ]  # fmt: skip
        texts = self.texts()
        failed = [
            f"{text}: {' '.join(texts[place + 1 : place + 2])}"
            for place, text in enumerate(texts) if any(each in text for each in _FAILURES)
        ]  # fmt: skip
        return [*raised, *failed]

    def links(self) -> list[str]:
        """Where the buttons that are links lead."""
        return [url for one in self.shown.values() if (url := one.element.link_button.url)]

    def tables(self) -> list[pa.Table]:
        """The data of all charts and tables on the page."""
        packed = []
        for one in self.shown.values():
            kind = one.element.WhichOneof("type")
            if kind == "vega_lite_chart":
                chart = one.element.vega_lite_chart
                packed += [each.data.data for each in chart.datasets]
                if chart.data.data:
                    packed.append(chart.data.data)
            elif kind == "dataframe":
                packed.append(one.element.dataframe.arrow_data.data)
        return [pa.ipc.open_stream(each).read_all() for each in packed if each]

    def specifications(self) -> list[dict[str, Any]]:
        """The specifications of all charts on the page."""
        elements = [one.element for one in self.shown.values()]
        charts = [e.vega_lite_chart for e in elements if e.WhichOneof("type") == "vega_lite_chart"]
        return [json.loads(chart.spec) for chart in charts]

    async def _send(self, message: BackMsg) -> None:
        if self._socket is None:
            self._socket = await self._connect()
        await self._socket.send(message.SerializeToString())

    async def _receive(self) -> ForwardMsg:
        answer = ForwardMsg()
        assert self._socket is not None
        async with asyncio.timeout(PATIENCE):  # wait_for may lose a cancellation in Python 3.11
            packed = await self._socket.recv()
        assert isinstance(packed, bytes)
        answer.ParseFromString(packed)
        kind = answer.WhichOneof("type")
        if kind == "new_session":
            self._begin([*answer.metadata.run.fragment_ids])
            self._session = answer.new_session.initialize.session_id
        elif kind == "auth_redirect":
            self.sent_to = answer.auth_redirect.url
        elif kind == "navigation":
            self._script = answer.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = answer.page_info_changed.query_string  # what the address bar says now
        elif kind == "delta":
            self._draw(tuple(answer.metadata.delta_path), answer)
        elif kind == "auto_rerun":
            self.polled[answer.auto_rerun.fragment_id] = answer.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in answer.stop_auto_rerun.fragment_ids:
                self.polled.pop(fragment, None)
        return answer

    def _begin(self, fragments: list[str]) -> None:
        """Forget what is drawn anew: everything, or what these fragments had drawn."""
        if not fragments:
            self.shown, self.polled, self._popovers = {}, {}, {}
        for place in [p for p, one in self.shown.items() if one.fragment in fragments]:
            del self.shown[place]

    def _draw(self, place: tuple[int, ...], answer: ForwardMsg) -> None:
        below = [p for p in self.shown if p[: len(place)] == place and p != place]
        for each in below:
            del self.shown[each]
        if answer.delta.WhichOneof("type") == "new_element":
            self.shown[place] = Shown(answer.delta.new_element, answer.delta.fragment_id)
        else:
            self.shown.pop(place, None)
            if popover := answer.delta.add_block.popover.id:
                self._popovers[place] = popover

    def _put(self, address: str, name: str, content: bytes) -> None:
        edge = uuid.uuid4().hex
        body = (
            f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: text/plain\r\n\r\n"
        ).encode() + content + f"\r\n--{edge}--\r\n".encode()  # fmt: skip
        headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Cookie": _joined(self._cookies),
            "X-Xsrftoken": self._cookies.get(_XSRF, ""),
        }
        request = urllib.request.Request(
            f"{self._url}/{address.lstrip('/')}", data=body, headers=headers, method="PUT"
        )
        urllib.request.urlopen(request, timeout=PATIENCE).close()


def _joined(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def new_browser(url: str) -> dict[str, str]:
    """The cookies of a browser that has opened the server's first page."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        request = urllib.request.Request(url + path, headers={"Accept": "text/html"})
        opener.open(request, timeout=PATIENCE).close()
    return {cookie.name: cookie.value or "" for cookie in jar}
