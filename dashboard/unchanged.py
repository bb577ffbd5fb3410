"""Sends a browser what has changed, where Streamlit sends a whole page at every run.

A page is 150 messages, of which a slider changes ten. Streamlit's browser takes a run of a
*fragment* for one that leaves everything else as it is. So a run of the whole page is told to the
browser as a fragment's, as long as nothing disappears: then all is sent as Streamlit would. What
stands around a page waits for the run's end, since it says a title, and then another one.
"""

from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_FRAGMENT = "unchanged"  # no fragment has this name
_MOST_SENT = 1000
# A browser keeps a large message for so many runs after its last use. It is sent its hash alone
# for half as many, since the next run is asked for before it forgets at the end of this one. What
# it shows all the time is named to it now and then.
_KEPT_RUNS, _NAMED_RUNS, _SHOWN_RUNS = 40, 20, 10
_AROUND = "logo", "navigation", "page_config_changed"
_MAIN = 0  # where a path begins whose elements stay; others are events, or styles


class Unchanged:
    """Stands before an ASGI app of Streamlit's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with less on the WebSocket."""
        if scope["type"] == "websocket":
            browser = _Browser(receive, send)
            receive, send = browser.receive, browser.send
        await self._app(scope, receive, send)


class _Known(NamedTuple):
    content: int | str
    fragment: str
    id: str


class _Browser:
    """What the browser at the other end of a connection shows, by path."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._runs = 0  # that have ended
        self._used: dict[str, int] = {}  # after how many runs a hash was sent last
        self._shown: dict[tuple[int, ...], _Known] = {}
        self._sent: dict[str, _Known] = {}  # by their hashes, which Streamlit may send instead
        self._seen: set[tuple[int, ...]] = set()  # in this run
        self._run: list[Message] = []  # this run's messages, while some are kept back
        self._around: dict[str, list[Message]] = {}  # what this run says around the page, by kind
        self._around_before: dict[str, list[Message]] = {}
        self._page = ""
        self._keeps = False  # whether this run's unchanged messages are kept back
        self._restless = False  # timers run, or something is shown only while a run lasts

    async def receive(self) -> Message:
        """Pass on what the browser says; of the messages that it has, those that it will keep."""
        message = await self._receive()
        with suppress(Exception):  # what cannot be read, Streamlit answers
            told = BackMsg.FromString(message["bytes"])
            known = told.rerun_script.cached_message_hashes
            kept = [one for one in known if one in self._used]
            if len(kept) < len(known):
                known[:] = kept
                return {**message, "bytes": told.SerializeToString()}
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on, changed or not; or keep it back."""
        if message["type"] != "websocket.send" or not message.get("bytes"):
            await self._send(message)
            return
        told = ForwardMsg.FromString(message["bytes"])
        kind = told.WhichOneof("type")
        if kind == "new_session":
            message = self._begin(told)
        elif kind in ("delta", "ref_hash") and told.metadata.delta_path:
            if await self._is_kept_back(told, message):
                return
        elif kind in ("auto_rerun", "delta"):
            await self._send_whole()  # the browser ends timers when a run of the whole page begins
            self._restless = True
        elif kind in _AROUND:
            # A new visitor's first run names no page at its begin.
            self._page = told.navigation.page_script_hash or self._page
            self._around.setdefault(kind, []).append(message)
            if self._keeps:
                return
        elif kind == "script_finished":
            self._runs += 1
            oldest = self._runs - _NAMED_RUNS
            self._used = {name: runs for name, runs in self._used.items() if runs > oldest}
            for each in self._end(told, message):
                await self._send(each)
            return
        await self._send(message)

    def _begin(self, told: ForwardMsg) -> Message:
        told.new_session.config.max_cached_message_age = _KEPT_RUNS
        page, whole = told.new_session.page_script_hash, not told.metadata.run.fragment_ids
        self._keeps = whole and page == self._page and bool(self._shown) and not self._restless
        self._page, self._seen, self._around = page, set(), {}
        self._run = [_message(told)] if self._keeps else []
        self._restless = self._restless and not whole
        return _as_fragment(told) if self._keeps else _message(told)

    async def _is_kept_back(self, told: ForwardMsg, message: Message) -> bool:
        if self._keeps:
            self._run.append(message)
        name = (told.ref_hash or told.hash) if told.metadata.cacheable else ""
        fresh = not name or self._runs - self._used.get(name, 0) <= _SHOWN_RUNS
        if await self._is_known(told) and self._keeps and fresh:
            return True
        if name:
            self._used[name] = self._runs
        return False

    async def _is_known(self, told: ForwardMsg) -> bool:
        """Whether the browser shows this already; it does from now on."""
        path = tuple(told.metadata.delta_path)
        content = told.hash or told.ref_hash or hash(told.SerializeToString())
        before = self._shown.get(path)
        same = before is not None and before.content == content
        now = before if before and same else self._named(told, content)
        if self._keeps and before and not same and (now is None or before.id != now.id):
            # Until a run of the whole page ends, the browser shows the one that was here, too.
            self._run.pop()
            await self._send_whole()
        self._shown[path] = now or _Known(content, before.fragment if before else "", "")
        self._seen.add(path)
        if told.delta.WhichOneof("type") == "new_transient":
            self._restless = True
            return False
        stays = path[0] == _MAIN or told.delta.new_element.WhichOneof("type") == "html"
        # A value that a widget is to take may have been changed by the visitor since.
        if same and stays and not getattr(_part(told), "set_value", False):
            return True
        if before:  # a block of another kind loses what it held
            for other in [one for one in self._shown if one[: len(path)] == path != one]:
                if other not in self._seen:
                    self._shown[other] = _Known("", "", "")
        return False

    def _named(self, told: ForwardMsg, content: int | str) -> _Known | None:
        """What a message brings; None where it only names one of long ago."""
        if told.ref_hash:
            return self._sent.get(told.ref_hash)
        now = _Known(content, told.delta.fragment_id, str(getattr(_part(told), "id", "")))
        if told.hash:
            self._sent[told.hash] = now
            if len(self._sent) > _MOST_SENT:
                del self._sent[next(iter(self._sent))]
        return now

    async def _send_whole(self) -> None:
        """Send this run once more from its begin, and keep nothing of it back from here on."""
        self._keeps, run = False, self._run
        self._run = []
        for each in [*run, *chain(*self._around.values())]:
            await self._send(each)

    def _end(self, told: ForwardMsg, message: Message) -> list[Message]:
        """What ends the run: as it is, as a fragment's, or all of the run once more."""
        status, run = told.script_finished, self._run
        around, before = self._around if self._keeps else {}, self._around_before
        changed = chain(*(said for kind, said in around.items() if said != before.get(kind)))
        self._run, self._around_before = [], {**before, **self._around}
        if status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
            gone = [path for path, known in self._shown.items()
                    if known.fragment in told.metadata.run.fragment_ids
                    and path not in self._seen]  # fmt: skip
            for path in gone:
                del self._shown[path]
        elif status == ForwardMsg.FINISHED_SUCCESSFULLY:
            if self._keeps and self._shown.keys() <= self._seen:
                told.script_finished = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
                return [*changed, _as_fragment(told)]
            self._shown = {path: self._shown[path] for path in self._seen}
            return [*run, *chain(*around.values()), message]
        elif status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self._shown = {}
        return [*changed, message]


def _as_fragment(told: ForwardMsg) -> Message:
    told.metadata.run.fragment_ids.append(_FRAGMENT)
    return _message(told)


def _message(told: ForwardMsg) -> Message:
    return {"type": "websocket.send", "bytes": told.SerializeToString()}


def _part(told: ForwardMsg) -> Any:
    """The element or the block that a message brings; None of another message."""
    delta = told.delta
    part: Any = delta.new_element if delta.WhichOneof("type") == "new_element" else delta.add_block
    kind = part.WhichOneof("type")
    return getattr(part, kind) if kind else None
