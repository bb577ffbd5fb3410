"""The user's own table: uploaded once, named by its sha256, remembered by the session."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.controls import plain
from dashboard.runs.blobs import Blobs
from dashboard.runs.regression_link import UPLOAD, is_upload

_KEY = "regression-upload"
_NAMES = "uploaded tables"
_MEGABYTES = 20
_EXAMPLE = "x,y\n0.5,1.5\n1.0,2.7\n2.5,3.3"


def known(data: str) -> list[str]:
    """The tables this session may choose: those it uploaded, and the one of its link."""
    names = list(_names())
    return names if data in names or not is_upload(data) else [*names, data]


def title(data: str) -> str:
    """What a table is called: its file's name, if this session uploaded it."""
    return _names().get(data, f"Table {data.removeprefix(UPLOAD)[:8]}…")


def button(use: Callable[[str], None]) -> None:
    """Asks for a table.

    Args:
        use: gets ``upload:<sha256>`` of a table that was just taken in.
    """
    with st.popover("Your data", icon=":material/upload_file:"):
        st.markdown("**A CSV file with two or more columns of numbers**")
        st.caption("The last column is what to predict, all before it are inputs. For example:")
        st.code(_EXAMPLE, language=None)
        st.file_uploader(
            "CSV file",
            type=["csv", "tsv", "txt"],
            key=_KEY,
            max_upload_size=_MEGABYTES,
            on_change=_take,
            args=(use,),
            label_visibility="collapsed",
        )
        if problem := st.session_state.get(f"{_KEY} problem"):
            st.text(problem)
        st.caption(plain("Kept on this server only; a link to it works where the file is kept."))


def _take(use: Callable[[str], None]) -> None:
    file = st.session_state[_KEY]
    st.session_state.pop(f"{_KEY} problem", None)
    if file is None:
        return
    try:
        data = UPLOAD + Blobs().put(file.getvalue())
    except (ValueError, OSError) as error:
        st.session_state[f"{_KEY} problem"] = f"{file.name}: {error}"
        return
    _names()[data] = file.name
    use(data)


def _names() -> dict[str, str]:
    return st.session_state.setdefault(_NAMES, {})
