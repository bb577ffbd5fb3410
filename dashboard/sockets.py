"""Limits on open connections: how many there are, and how long one may be silent.

uvicorn waits for the rest of a request, and Streamlit for the first message of a WebSocket, for as
long as a client likes, and each such client keeps file descriptors from all others.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.AutoRerun_pb2 import AutoRerun, StopAutoRerun
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard import limits
from dashboard.settings import Settings, variable
from dashboard.visitors import network

_REFUSAL_SECONDS = 2.0  # for the head of a request that is refused
_BEING_REFUSED = 64  # connections; further ones are closed without a word
_FILES_EACH = 5  # descriptors of a session: 4 were counted for one that says nothing
_FILES_BESIDES = 200  # of workers, the store and the log
_SESSION = 2  # the place of a session's id among the protocols of a WebSocket
_ALL = "page"  # a fragment that there is not
_SECONDS_TO_ASK = 0.2
_POLICY = 1008  # the code of a WebSocket that is closed for what it did

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How many seconds a client may take.

    Until the ``head`` of a request is there, between two pieces of its ``body``, and until the
    ``first`` message of a WebSocket is there, which browsers send at once.
    """

    head: float = 10.0
    body: float = 20.0
    first: float = 15.0


class Sockets:
    """Bounds the connections of the server that runs an ASGI app.

    A request whose head or body does not come is closed, and so is a WebSocket that says nothing
    after it was opened. Beyond the settings ``connections`` and ``connections_per_address``
    further ones get status 503 and a sentence.

    The address is the client's. Where a proxy is in front, it is the one that its
    ``X-Forwarded-For`` names, if uvicorn trusts that proxy (``FORWARDED_ALLOW_IPS``).
    """

    def __init__(self, app: ASGIApp, chosen: Settings, patience: Patience = Patience()) -> None:
        self._app, self._chosen, self._patience = app, chosen, patience
        self._open: Counter[str] = Counter()  # WebSockets by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; when the server starts, bound its connections."""
        if scope["type"] == "lifespan":
            self._bound_server(receive)
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _bound_server(self, receive: Receive) -> None:
        """Have uvicorn, whose method ``receive`` is, make connections that know their limits."""
        config: Any = getattr(getattr(receive, "__self__", None), "config", None)
        if not hasattr(config, "http_protocol_class"):
            _log.warning("connections have no limits here: the server is not uvicorn")
            return
        files = limits.raise_open_files()
        most = min(self._chosen.connections, max(1, (files - _FILES_BESIDES) // _FILES_EACH))
        if most < self._chosen.connections:
            _log.warning(
                "%d connections instead of %d (%s): this process may open %d files",
                most, self._chosen.connections, variable("connections"), files,
            )  # fmt: skip
        bounds = Bounds(
            most=most, per_address=self._chosen.connections_per_address,
            proxies=getattr(config.loaded_app, "trusted_hosts", ()), patience=self._patience,
        )  # fmt: skip
        config.http_protocol_class = bounded(config.http_protocol_class, bounds)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = network((scope.get("client") or ("",))[0])
        if self._open[address] >= self._chosen.connections_per_address:
            text = _too_many_of_one(self._chosen.connections_per_address)
            await PlainTextResponse(text, status_code=503)(scope, receive, send)
            return
        self._open[address] += 1
        try:
            if _resumes(scope):
                await self._app(scope, receive, send)  # its browser may have nothing to say
            else:
                await self._listen(scope, receive, send)
        finally:
            self._open[address] -= 1
            self._open += Counter()  # forgets addresses without any

    async def _listen(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app go on with a WebSocket once its first message is there.

        Before, it would make a session, with three file descriptors and two minutes of its own.

        A browser that names a session which there is not was another server's, or this one's
        before it died. It believes that its page is whole, says nothing, and loses the visitor's
        next change. So it is asked to look at its page again.
        """
        heard: list[Message] = []

        async def accept(message: Message) -> None:
            await send(message)
            if message["type"] == "websocket.accept":
                asks = len(scope["subprotocols"]) > _SESSION
                if asks:
                    again = AutoRerun(fragment_id=_ALL, interval=_SECONDS_TO_ASK)
                    await send(_message(ForwardMsg(auto_rerun=again)))
                try:
                    async with asyncio.timeout(self._patience.first):
                        heard.append(await receive())
                except TimeoutError:
                    await send({"type": "websocket.close", "code": _POLICY, "reason": "silence"})
                    raise _SilentError from None
                if heard[0]["type"] == "websocket.disconnect":
                    raise _SilentError
                if asks:
                    heard[0] = _of_the_whole_page(heard[0])
                    enough = StopAutoRerun(fragment_ids=[_ALL])
                    await send(_message(ForwardMsg(stop_auto_rerun=enough)))

        async def hear() -> Message:
            return heard.pop() if heard else await receive()

        with suppress(_SilentError):
            await self._app(scope, hear, accept)


class _SilentError(Exception):
    """A WebSocket was closed before it said anything."""


def _resumes(scope: Scope) -> bool:
    """Whether a WebSocket names a session that there is, as its third protocol."""
    names = scope.get("subprotocols", ())[_SESSION:]
    if not names or not runtime.exists():
        return False
    return runtime.get_instance()._session_mgr.get_session_info(names[0]) is not None


def _message(content: ForwardMsg) -> Message:
    return {"type": "websocket.send", "bytes": content.SerializeToString()}


def _of_the_whole_page(message: Message) -> Message:
    """The answer to the question, which names a fragment, as Streamlit understands it."""
    with suppress(Exception):  # what is no message the app refuses
        said = BackMsg.FromString(message.get("bytes") or b"")
        if said.rerun_script.fragment_id == _ALL:
            said.rerun_script.fragment_id, said.rerun_script.is_auto_rerun = "", False
            return {**message, "bytes": said.SerializeToString()}
    return message


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How many connections of a server may be open, in all and of one address.

    ``proxies`` are addresses that stand for many visitors, and may have more.
    """

    most: int
    per_address: int
    proxies: Container[str] = ()
    patience: Patience = Patience()


def bounded(base: type[Any], bounds: Bounds) -> type[Any]:
    """Return a protocol of HTTP with limits.

    The base is uvicorn's; it has its attributes ``connections``, ``client`` and ``cycle``.
    """
    return type("BoundedProtocol", (_Bounded, base), {"bounds": bounds})


class _Bounded(asyncio.Protocol):
    """Comes before a protocol of uvicorn, which answers."""

    bounds: Bounds
    connections: set[Any]
    client: tuple[str, int] | None
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: Any
    _refusal = ""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        bounds, excess = self.bounds, len(self.connections) - self.bounds.most
        if excess > _BEING_REFUSED:
            transport.abort()
            return
        if excess > 0:
            self._refusal = (
                "This server has as many connections open as it takes "
                f"({variable('connections')}); try again in a minute.\n"
            )
        elif self._neighbours() > bounds.per_address:
            self._refusal = _too_many_of_one(bounds.per_address)
        self._wait(_REFUSAL_SECONDS if self._refusal else bounds.patience.head)

    def data_received(self, data: bytes) -> None:
        if self._refusal:
            self._answer(503, "Service Unavailable", self._refusal)
            return
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._wait(None)  # it ends, or it is a WebSocket now
        elif self._answers():
            self._wait(self.bounds.patience.body if self.cycle.more_body else None)
        elif self._timer is None:
            self._wait(self.bounds.patience.head)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def _neighbours(self) -> int:
        """The connections of this one's address, itself among them; 0 for a proxy's."""
        if self.client is None or self.client[0] in self.bounds.proxies:
            return 0
        own = network(self.client[0])
        return sum(bool(one.client) and network(one.client[0]) == own for one in self.connections)

    def _answers(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, seconds: float | None) -> None:
        """Give the client so many seconds from now; None for any number."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self._answer(408, "Request Timeout", "The rest of this request did not come in time.\n")

    def _answer(self, status: int, phrase: str, text: str) -> None:
        self._wait(None)
        if self.transport.is_closing():
            return
        if not self._answers():
            self.transport.write(
                f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                f"Content-Length: {len(text.encode())}\r\nRetry-After: 60\r\n"
                f"Connection: close\r\n\r\n{text}".encode()
            )
        self.transport.close()


def _too_many_of_one(most: int) -> str:
    return (
        f"{most:,} connections are open from your network, which is the most that this server "
        f"takes ({variable('connections_per_address')}); close some of its pages, or ask who "
        "runs it.\n"
    )
