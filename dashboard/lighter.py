"""Does with less what Streamlit 1.67 does at every run of a page; what comes of it is the same.

A tenth of what it took to draw a page went into a dictionary of all widgets that each widget made
to look itself up in, into copies of copies for each fragment, and into the theme of each answer.
Each of a page's hundred messages woke the thread of the loop, to wait for the drawing one's lock.

And what a run has sent arrives, though a fragment is asked for before it is on its way.
"""

import functools
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from streamlit.cursor import Cursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import _is_toast_delta
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state.safe_session_state import SafeSessionState

_everything: Any = vars(SafeSessionState)["filtered_state"].fget
_populate: Any = app_session._populate_theme_msg
_ask: Any = app_session.AppSession.request_rerun
_clear: Any = app_session.AppSession._clear_queue
_SOON = 0.05  # seconds until a fragment is asked for again
_CHANGING: Any = Cursor, DeltaGenerator, SparseList  # as a page is drawn


class _Filtered(Mapping[str, Any]):
    """The state of a session by its keys; all of it is read only where all of it is asked for."""

    def __init__(self, session: SafeSessionState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        with self._session._lock:
            return self._session._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_everything(self._session))

    def __len__(self) -> int:
        return len(_everything(self._session))


def _copied(one: Any, memo: dict[int, Any]) -> Any:
    """A copy with copies of what changes as a page is drawn; what several have is copied once."""
    made = object.__new__(type(one))
    for name, value in vars(one).items():
        if isinstance(value, _CHANGING):
            value = deepcopy(value, memo)  # noqa: PLW2901
        vars(made)[name] = value.copy() if isinstance(value, dict) else value
    return made


@functools.cache
def _theme(section: str) -> CustomThemeConfig:
    made = CustomThemeConfig()
    _populate(made, section)
    return made


def _set_theme(told: CustomThemeConfig, section: str = "theme") -> None:
    if (theme := _theme(section)).ListFields():
        told.MergeFrom(theme)


def _wake(runtime: Any) -> None:
    wanted = runtime._get_async_objs()
    if not wanted.need_send_data.is_set():
        wanted.eventloop.call_soon_threadsafe(wanted.need_send_data.set)


def _ask_after_the_end(session: Any, state: Any) -> None:
    """Ask for a run; of a fragment not before all is on its way that the run before it sent.

    A run that has ended takes no requests, and all of it that still waits for the loop is dropped
    as soon as another begins: a page that had a timer stood still.
    """
    ends = session._scriptrunner and session._scriptrunner._requests._state
    if state is None or not state.fragment_id or ends is not ScriptRequestType.STOP:
        _ask(session, state)
    elif not state.is_auto_rerun:  # a timer asks again by itself
        session._event_loop.call_later(_SOON, session.request_rerun, state)


def _clear_whole_runs(session: Any, fragments: list[str] | None = None) -> None:
    """Drop what waits for the loop and is sent again by the run that begins.

    Streamlit drops what these fragments sent, and leaves what lies inside them: what other
    fragments sent there, and messages that the browser keeps, by their hashes. They arrived
    without the places they belong to, and the browser gave up. Here a run is dropped whole or not.
    """
    if not fragments:
        _clear(session)
        return
    queue, kept, again = session._browser_queue, [], False
    for told in queue._queue:
        if told.HasField("new_session"):
            run = {*told.metadata.run.fragment_ids}
            again = bool(run) and run <= {*fragments}
        if again and told.HasField("script_finished"):
            told.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if not again or not told.metadata.delta_path or _is_toast_delta(told):
            kept.append(told)
    queue._queue, queue._delta_index_map = kept, {}


def begin() -> None:
    """Do so from now on, in this process."""
    replaced: Any = SafeSessionState
    replaced.filtered_state = property(_Filtered)
    for each in _CHANGING:
        each.__deepcopy__ = _copied
    app_session._populate_theme_msg = _set_theme
    replaced = Runtime
    replaced._enqueued_some_message = _wake
    replaced = app_session.AppSession
    replaced.request_rerun = _ask_after_the_end
    replaced._clear_queue = _clear_whole_runs
