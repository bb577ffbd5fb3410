"""Server: who the visitor is; for administrators the work of all, the limits and the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import SecretStr

from dashboard import navigation
from dashboard.features.server.view import LINK, ServerView
from dashboard.records.catalogue import Catalogue
from dashboard.settings import Settings, settings, variable
from dashboard.storage.home import home
from dashboard.ui import owner
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench
from dashboard.visitors import Visitor

_HEIGHT = 300  # px
_POLL = 2.0  # seconds
_DIGITS = 8  # of an owner
_MB = 2**20
_ROLES = {
    "visitor": "You may open every link. Who has logged in may also train and upload.",
    "author": "You may train and upload. What you make is yours; links show it to others.",
    "administrator": "You may also reload plugins, and see and stop the work of all.",
}
_NOT_NAMED = (
    "You may open every link. To train and upload as well, ask who runs this server to name your "
    "e-mail address."
)


def _controls(_session: Session[ServerView], _catalogue: Catalogue) -> None:
    visitor = owner.visitor()
    role = visitor.role
    st.markdown(f"**You are: {role}**")
    st.caption(_NOT_NAMED if visitor.logged_in and role == "visitor" else _ROLES[role])
    if visitor.presents:
        st.caption("This server shows only: nothing is trained or uploaded here.")
    _login()
    if settings().administrator_token.get_secret_value() and not visitor.administers:
        _token()


def _login() -> None:
    """The way in and out, where one can log in."""
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        return
    if user["is_logged_in"]:
        st.text(str(user.get("email") or user.get("name") or ""))
        st.button("Log out", icon=":material/logout:", key="server-logout", on_click=st.logout)
    else:
        st.button("Log in", icon=":material/login:", key="server-login", on_click=st.login)


def _token() -> None:
    with st.form("server-token", border=False, enter_to_submit=True):
        given = st.text_input("Administrator's token", type="password", key="server-token-text")
        if st.form_submit_button("Administer this server"):
            if owner.give_token(given):
                st.rerun()
            st.text("This is not the token.")


def _results(_session: Session[ServerView], _catalogue: Catalogue, _: None) -> None:
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
    st.header("Computations", anchor=False)
    st.caption(
        f"{capacity.running} of {capacity.workers} workers busy, {capacity.queued:,} waiting, "
        f"{len(backend.clients()):,} sessions"
    )
    rows = [
        {"Computation": each.name, "Sessions": each.clients,
         "Runs for": "waits" if each.seconds is None else f"{each.seconds:.0f} s"}
        for each in loads
    ]  # fmt: skip
    if rows:
        _table(rows, "What runs and what waits")


def _trainings(visitor: Visitor) -> None:
    st.header("Trainings of all", anchor=False)
    rows = [
        {"Training": one.facts.get("title", ""), "State": one.state,
         "Owner": _who(one.owner, visitor), "Note": one.note}
        for one in owner.trainings().list()
    ]  # fmt: skip
    if rows:
        _table(rows, "The trainings of all owners")
    else:
        st.caption("None.")
    navigation.link_to("training", {}, "Pause, cancel or remove them")


def _who(name: str, visitor: Visitor) -> str:
    if name == visitor.owner:
        return "you"
    return name.rpartition("-")[2][:_DIGITS] or "this machine"


def _limits() -> None:
    st.header("Settings", anchor=False)
    chosen = settings()
    rows = [
        {"Variable": variable(name), "Value": _shown(getattr(chosen, name)),
         "Sets": (one.description or "").replace("`", "")}
        for name, one in Settings.model_fields.items()
    ]  # fmt: skip
    _table(rows, "Every setting of this server")
    st.caption("They are read from the environment when the server starts.")


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else "not set"
    return "" if value is None else str(value)


def _disk() -> None:
    st.header("Disk", anchor=False)
    folder = home()
    st.caption(plain(str(folder)))
    rows = [
        {"Folder": path.name, "Files": len(sizes), "MB": round(sum(sizes) / _MB, 1)}
        for path in _folders(folder)
        for sizes in [list(_sizes(path))]
    ]
    if rows:
        _table(rows, "What lies in the data folder")


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of every file below a folder; what goes meanwhile is left out."""
    for path in folder.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                yield path.stat().st_size
        except OSError:
            continue


def _table(rows: list[dict[str, Any]], alt: str) -> None:
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt=alt)


PAGE = Page(
    name="server",
    title="Server",
    explanation="Who you are on this server and what you may do; for those who run it, its work, "
    "its limits and its disk.",
    link=LINK,
    controls=_controls,
    keeps=False,
    results=_results,
    height=_HEIGHT,
    catalogue=False,
)
