"""Server: who the visitor is; for administrators the work of all, the limits and the disk."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import SecretStr

from dashboard.features.server.view import LINK, ServerView
from dashboard.language import gettext, translated
from dashboard.records.beside import beside
from dashboard.settings import Settings, description, settings, variable
from dashboard.storage.files import home
from dashboard.ui import navigation, owner
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench
from dashboard.visitors import Visitor

_HEIGHT = 300  # px
_POLL = 2.0  # seconds
_DIGITS = 8  # of an owner
_MB = 2**20
_WORDS = beside(__file__, "words.toml")


def _controls(_session: Session[ServerView]) -> None:
    visitor = owner.visitor()
    role = "visitor" if visitor.presents else visitor.role
    st.markdown(f"**{gettext(_WORDS['called'][role])}**")
    may = _WORDS["roles"][role]
    if visitor.presents:
        may = _WORDS["classroom"]
    elif visitor.logged_in and role == "visitor":
        may = _WORDS["not_named"]
    st.caption(gettext(may))
    _login()
    if visitor.administers or not settings().administrator_token.get_secret_value():
        return
    with st.form("server-token", border=False, enter_to_submit=True):
        given = st.text_input(
            gettext("Administrator's token"), type="password", key="server-token-text"
        )
        if st.form_submit_button(gettext("Administer this server")):
            if not (problem := owner.give_token(given)):
                st.rerun()
            st.text(problem)


def _login() -> None:
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        return
    inside, label = user["is_logged_in"], gettext("Log in")
    if inside:
        st.text(str(user.get("email") or user.get("name") or ""))
        label = gettext("Log out")
    act, name = (st.logout, "logout") if inside else (st.login, "login")
    st.button(label, icon=f":material/{name}:", key=f"server-{name}", on_click=act)


def _results(_session: Session[ServerView], _: None) -> None:
    visitor = owner.visitor()
    if not visitor.administers:
        return
    st.fragment(_work, run_every=_POLL)()
    _trainings(visitor)
    _limits()
    _disk()


def _work() -> None:
    backend = workbench().backend
    capacity, loads = backend.capacity(), backend.loads()
    st.header(gettext("Computations"), anchor=False)
    st.caption(gettext(
        "{running} of {workers} workers busy, {waiting:,} waiting, {sessions:,} sessions",
        running=capacity.running, workers=capacity.workers, waiting=capacity.queued,
        sessions=len(backend.clients()),
    ))  # fmt: skip
    rows = [
        {gettext("Computation"): each.name, gettext("Sessions"): each.clients,
         gettext("Runs for"): gettext("waits") if each.seconds is None
         else gettext("{seconds:.0f} s", seconds=each.seconds)}
        for each in loads
    ]  # fmt: skip
    if rows:
        _table(rows, gettext("What runs and what waits"))


def _trainings(visitor: Visitor) -> None:
    st.header(gettext("Trainings of all"), anchor=False)

    def who(name: str) -> str:
        if name == visitor.owner:
            return gettext("you")
        return name.rpartition("-")[2][:_DIGITS] or gettext("this machine")

    rows = [
        {gettext("Training"): translated(one.facts.get("title", "")),
         gettext("State"): translated(one.state),
         gettext("Owner"): who(one.owner), gettext("Note"): translated(one.note)}
        for one in owner.trainings().list()
    ]  # fmt: skip
    if rows:
        _table(rows, gettext("The trainings of all owners"))
    else:
        st.caption(gettext("None."))
    navigation.link_to("training", {}, gettext("Pause, cancel or remove them"))


def _limits() -> None:
    st.header(gettext("Settings"), anchor=False)
    chosen = settings()
    rows = [
        {gettext("Variable"): f"`{variable(name)}`",
         gettext("Value"): plain(_shown(getattr(chosen, name))),
         gettext("Sets"): translated(description(name))}
        for name in Settings.model_fields
    ]  # fmt: skip
    # Its texts are long: a table wraps them, a data frame cuts them off.
    with st.container(key="server-settings"):
        st.table(
            pd.DataFrame(rows), border="horizontal", hide_index=True,
            alt=gettext("Every setting of this server"),
        )  # fmt: skip
    st.caption(gettext("They are read from the environment when the server starts."))


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return gettext("set") if value.get_secret_value() else gettext("not set")
    return "" if value is None else str(value)


def _disk() -> None:
    st.header(gettext("Disk"), anchor=False)
    folder = home()
    st.caption(plain(str(folder)))
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    rows = [
        {gettext("Folder"): path.name, gettext("Files"): len(sizes := _sizes(path)),
         "MB": round(sum(sizes) / _MB, 1)}
        for path in folders
    ]  # fmt: skip
    if rows:
        _table(rows, gettext("What lies in the data folder"))


def _sizes(folder: Path) -> list[int]:
    """Bytes of every file below a folder; what goes meanwhile is left out."""
    found = []
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink():
                found.append(path.stat().st_size)
    return found


def _table(rows: list[dict[str, Any]], alt: str) -> None:
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt=alt)


PAGE = Page(
    name="server", **_WORDS["heading"], link=LINK, controls=_controls, keeps=False,
    results=_results, height=_HEIGHT, catalogue=False,
)  # fmt: skip
