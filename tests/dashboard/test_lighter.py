"""What Streamlit does with less gives what it gave, in the order in which it was told."""

import asyncio
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.cursor import Cursor, RunningCursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from dashboard import lighter

MESSAGE, END = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.SHUTDOWN


@pytest.fixture
def lightened(monkeypatch):
    """Streamlit as a server of ours has it, and afterwards as it was."""
    for owner, name in (
        (SafeSessionState, "filtered_state"), (app_session, "_populate_theme_msg"),
        (AppSession, "_on_scriptrunner_event"), (Runtime, "_enqueued_some_message"),
        (DeltaGenerator, "__deepcopy__"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    for owner in (Cursor, SparseList):
        monkeypatch.setattr(owner, "__deepcopy__", None, raising=False)
    lighter.begin()


def test_a_session_says_the_same_of_each_key(lightened):
    state = SessionState()
    state["chosen"], state["nothing"] = 3, None
    state._old_state |= {"$$ID-1-None": 1, "$$STREAMLIT_INTERNAL_KEY_x": 2}
    found = SafeSessionState(state, lambda: None).filtered_state
    assert dict(found) == state.filtered_state == {"chosen": 3, "nothing": None}
    assert "chosen" in found
    assert "unknown" not in found
    assert found["nothing"] is None


def test_a_copied_place_goes_on_by_itself(lightened):
    cursor = RunningCursor(0)
    main: Any = DeltaGenerator(cursor=cursor)
    inner: Any = DeltaGenerator(cursor=cursor.open_block(), parent=main)
    inner._creating_fragment_id = "fragment"
    copied_main, copied = deepcopy((main, inner))
    inner._cursor.lock_element()
    main._cursor.lock_element()
    assert copied._parent is copied_main
    assert copied._creating_fragment_id == "fragment"
    assert copied_main._cursor.delta_path == [0, 1]
    assert copied._cursor.delta_path == [0, 0, 0]
    assert inner._cursor.delta_path == [0, 0, 1]


@pytest.mark.parametrize("section", ["theme", "theme.light", "theme.dark.sidebar"])
def test_an_answer_has_the_same_theme(section, lightened):
    usual, found = CustomThemeConfig(), CustomThemeConfig()
    lighter._populate(usual, section)
    app_session._populate_theme_msg(found, section)
    assert found == usual


class Loop:
    """A loop that does later what it is given."""

    def __init__(self):
        self.due = []

    def call_later(self, _seconds, what, *more):
        self.due.append(lambda: what(*more))

    def run(self):
        while self.due:
            self.due.pop(0)()


def test_a_runs_messages_come_together_and_before_its_end(lightened):
    loop, heard = Loop(), []
    session = SimpleNamespace(
        _event_loop=loop, _call_soon_on_event_loop=loop.due.append,
        _handle_scriptrunner_event_on_event_loop=lambda *what, **more: heard.append((what, more)),
    )  # fmt: skip
    tell: Any = AppSession._on_scriptrunner_event
    for number in range(5):
        tell(session, "runner", event=MESSAGE, forward_msg=number)
    assert len(loop.due) == 1
    loop.run()
    assert [more["forward_msg"] for _, more in heard] == [*range(5)]
    tell(session, "runner", event=MESSAGE, forward_msg=5)
    tell(session, None, END, page_script_hash="p")
    loop.run()
    assert heard[5:] == [(("runner", MESSAGE), {"forward_msg": 5}),
                         ((None, END), {"page_script_hash": "p"})]  # fmt: skip


def test_a_loop_is_woken_once_for_many_messages(lightened):
    woken, wanted = [], set()
    objects = SimpleNamespace(
        need_send_data=SimpleNamespace(is_set=lambda: bool(wanted), set=None),
        eventloop=SimpleNamespace(call_soon_threadsafe=woken.append),
    )
    runtime: Any = SimpleNamespace(_get_async_objs=lambda: objects)
    Runtime._enqueued_some_message(runtime)
    wanted.add(True)
    Runtime._enqueued_some_message(runtime)
    assert len(woken) == 1


class Transport:
    def __init__(self):
        self.written, self.closed = [], False

    def write(self, data):
        self.written.append(data)

    def set_protocol(self, protocol):
        self.protocol = protocol

    def is_closing(self):
        return self.closed

    def close(self):
        self.closed = True


def test_a_websocket_writes_together_and_before_it_closes():
    transport = Transport()
    gathering: Any = lighter.Gathering(transport)

    async def talk():
        gathering.write(b"head")
        assert transport.written == [b"head"]
        gathering.set_protocol("websocket")
        for letter in (b"a", b"b", b"c"):
            gathering.write(letter)
        await asyncio.sleep(0.05)
        assert transport.written == [b"head", b"abc"]
        gathering.write(b"bye")
        gathering.close()
        await asyncio.sleep(0.05)

    asyncio.run(talk())
    assert transport.written[2:] == [b"bye"]
    assert gathering.protocol == "websocket"
    assert transport.closed
