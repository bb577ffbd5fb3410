"""What Streamlit does with less gives what it gave."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from streamlit.cursor import Cursor, RunningCursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from dashboard import lighter

DONE, EARLY = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@pytest.fixture
def lightened(monkeypatch):
    """Streamlit as a server of ours has it, and afterwards as it was."""
    for owner, name in (
        (SafeSessionState, "filtered_state"), (app_session, "_populate_theme_msg"),
        (Runtime, "_enqueued_some_message"), (DeltaGenerator, "__deepcopy__"),
        (app_session.AppSession, "request_rerun"), (app_session.AppSession, "_clear_queue"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    for owner in (Cursor, SparseList):
        monkeypatch.setattr(owner, "__deepcopy__", None, raising=False)
    lighter.begin()


def test_a_session_says_the_same_of_each_key(lightened):
    state = SessionState()
    state["chosen"], state["nothing"] = 3, None
    state._old_state |= {"$$ID-1-None": 1, "$$STREAMLIT_INTERNAL_KEY_x": 2}
    session = SafeSessionState(state, lambda: None)
    found = session.filtered_state
    assert dict(found) == state.filtered_state == {"chosen": 3, "nothing": None}
    assert "chosen" in found
    assert "unknown" not in found
    assert found["nothing"] is None
    assert len(found) == 2
    assert isinstance(found, lighter._Filtered)
    object.__setattr__(session, "_lock", lock := MagicMock())
    assert found["chosen"] == 3
    lock.__enter__.assert_called_once()


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
    drawn: Any = SparseList()
    drawn[0] = "one"
    deepcopy(drawn)[1] = "two"
    assert len(drawn) == 1


@pytest.mark.parametrize(
    "section", [(), ("theme",), ("theme.light",), ("theme.dark.sidebar",), ("theme.sidebar",)]
)
def test_an_answer_has_the_same_theme(section, lightened):
    usual, found = NewSession(), NewSession()
    lighter._populate(usual.custom_theme, *section)
    app_session._populate_theme_msg(found.custom_theme, *section)
    assert found == usual
    assert app_session._populate_theme_msg is lighter._set_theme
    assert lighter._theme("theme") is lighter._theme("theme"), "it is read once"


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


@pytest.mark.parametrize("timer", [True, False])
def test_a_fragment_is_drawn_once_all_that_a_run_sent_is_on_its_way(lightened, timer):
    begun, later, requests = [], [], ScriptRequests()
    requests.on_scriptrunner_ready()  # the run is over; its last messages wait for the loop
    session: Any = SimpleNamespace(
        _scriptrunner=SimpleNamespace(_requests=requests, request_rerun=requests.request_rerun),
        _state=None, has_fragment=lambda _: True, _create_scriptrunner=begun.append,
        _event_loop=SimpleNamespace(call_later=lambda *asked: later.append(asked)),
        request_rerun=lambda state: app_session.AppSession.request_rerun(session, state),
    )  # fmt: skip
    session.request_rerun(ClientState(fragment_id="fragment", is_auto_rerun=timer))
    assert not begun
    session._scriptrunner = None  # as after its last message
    for seconds, ask, state in later:
        assert seconds <= 0.1, "a visitor waits"
        ask(state)
    assert [run.fragment_id for run in begun] == ["fragment"] * (not timer)
    session.request_rerun(ClientState())
    session.request_rerun(None)
    assert len(begun) == 2 + (not timer)
    session._scriptrunner = SimpleNamespace(
        _requests=requests, request_rerun=requests.request_rerun, request_stop=lambda: None
    )
    session.request_rerun(ClientState())
    assert len(begun) == 3 + (not timer), "a page needs nothing of the run that is over"


def begins(*fragments):
    told = ForwardMsg()
    told.new_session.SetInParent()
    told.metadata.run.fragment_ids.extend(fragments)
    return told


def sent(path, fragment="", ref=""):
    """A block of a fragment, or an element that the browser has, by its hash alone."""
    told = ForwardMsg(ref_hash=ref)
    if not ref:
        told.delta.fragment_id = fragment
        told.delta.add_block.vertical.SetInParent()
    told.metadata.delta_path.extend(path)
    return told


def toast():
    told = ForwardMsg()
    told.metadata.delta_path.extend((2, 0))
    told.delta.new_element.toast.body = "done"
    return told


def test_what_lies_inside_a_fragment_arrives_with_its_place(lightened):
    queue = ForwardMsgQueue()
    session: Any = SimpleNamespace(_browser_queue=queue)

    def wait(*messages):
        for message in messages:
            queue.enqueue(message)

    def run():
        return [sent((0, 6), "outer"), sent((0, 6, 0), "inner"), sent((0, 6, 1), ref="hash")]

    rest, page = (
        run(),
        [begins(), sent((0, 5)), *run(), sent((0, 7)), ForwardMsg(script_finished=DONE)],
    )
    for messages in (rest, page):  # of a run whose begin is on its way, and of the whole page
        wait(*messages)
        app_session.AppSession._clear_queue(session, ["outer"])
    assert [*queue._queue] == [*rest, *page]
    first = begins("outer"), *run(), toast(), ForwardMsg(script_finished=PART)
    inner = begins("inner", "outer"), sent((0, 6, 0), "inner"), ForwardMsg(script_finished=PART)
    wait(*first, *inner)
    app_session.AppSession._clear_queue(session, ["outer"])
    early = ForwardMsg(script_finished=EARLY)
    assert [*queue._queue] == [*rest, *page, begins("outer"), toast(), early, *inner]
    ends = [told.script_finished for told in queue._queue if told.HasField("script_finished")]
    assert ends == [DONE, EARLY, PART]
    wait(begins("outer"), *run())
    assert [*queue._queue][-3:] == run(), "it took the place of what was before"
    app_session.AppSession._clear_queue(session)
    assert not any(told.metadata.delta_path for told in queue._queue if told != toast())
