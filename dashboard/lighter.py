"""Does with less what Streamlit 1.67 does at every run of a page; what comes of it is the same.

A tenth of what it took to draw a page went into a dictionary of all widgets that each widget made
to look itself up in, into copies of copies for each fragment, and into the theme of each answer.
"""

import functools
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from streamlit.cursor import Cursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

_everything: Any = vars(SafeSessionState)["filtered_state"].fget
_populate: Any = app_session._populate_theme_msg
Copied = TypeVar("Copied", Cursor, DeltaGenerator)


class _Filtered(Mapping[str, Any]):
    """The state of a session by its keys; all of it is read only where all of it is asked for."""

    def __init__(self, session: SafeSessionState) -> None:
        self._session = session

    @property
    def _state(self) -> SessionState:
        return self._session._state

    def __getitem__(self, key: str) -> Any:
        with self._session._lock:
            return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_everything(self._session))

    def __len__(self) -> int:
        return len(_everything(self._session))

    def __repr__(self) -> str:
        return repr(_everything(self._session))


def _copied(one: Copied, memo: dict[int, Any]) -> Copied:
    """A copy with copies of what changes as a page is drawn; what several share is copied once."""
    made = object.__new__(type(one))
    for name, value in vars(one).items():
        changes = isinstance(value, (Cursor, DeltaGenerator, SparseList))
        vars(made)[name] = deepcopy(value, memo) if changes else value
    return made


def _copied_list(one: SparseList[Any], _memo: dict[int, Any]) -> SparseList[Any]:
    made = SparseList[Any]()
    made._data.update(one._data)
    return made


@functools.cache
def _theme(section: str) -> CustomThemeConfig:
    made = CustomThemeConfig()
    _populate(made, section)
    return made


def _set_theme(told: CustomThemeConfig, section: str = "theme") -> None:
    if (theme := _theme(section)).ListFields():
        told.MergeFrom(theme)


def begin() -> None:
    """Do so from now on, in this process."""
    replaced: Any = SafeSessionState
    replaced.filtered_state = property(_Filtered)
    for each in (Cursor, DeltaGenerator):
        each.__deepcopy__ = _copied
    SparseList.__deepcopy__ = _copied_list
    app_session._populate_theme_msg = _set_theme
