"""The visitor of this session, and what is theirs."""

from __future__ import annotations

import hmac
import time

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.own_trainings import OwnTrainings
from dashboard.language import translated
from dashboard.language.joining import ended
from dashboard.settings import settings
from dashboard.ui.workbench import workbench
from dashboard.visitors import Browser, NotAllowed, Visitor, identify

_ADMITTED = "administrator"  # the key in a session
_SECONDS_AFTER_A_WRONG_TOKEN = 1.0


def owner() -> str:
    """The owner of what this session makes; empty for the user of this machine.

    Works inside a script run and its callbacks.
    """
    return visitor().owner


def visitor() -> Visitor:
    """Who this session belongs to, and what they may do. Works as :func:`owner`."""
    return identify(_browser(), settings())


def refusal(what: str) -> str:
    """Why this visitor may not make something, such as ``Training``; empty if they may."""
    try:
        visitor().see_that_it_makes(what)
    except NotAllowed as error:
        return ended(translated(str(error)))
    return ""


def trainings() -> OwnTrainings:
    """The trainings as this visitor may use them. Works as :func:`owner`."""
    return OwnTrainings(workbench().trainings, visitor())


def give_token(token: str) -> bool:
    """Make this session an administrator's if the token is right; whether it is."""
    wanted = settings().administrator_token.get_secret_value()
    right = bool(wanted) and hmac.compare_digest(token.encode(), wanted.encode())
    if not right:
        time.sleep(_SECONDS_AFTER_A_WRONG_TOKEN)
    st.session_state[_ADMITTED] = right
    return right


def _browser() -> Browser:
    context = get_script_run_ctx()
    # Without a server, as in a test of a page, the page is its user's own.
    if context is None or not runtime.exists() or type(runtime.get_instance()) is not _SERVER:
        return Browser(session="", local=True, headers={"host": "localhost"})
    user = st.user.to_dict()
    return Browser(
        session=context.session_id,
        cookies=st.context.cookies.to_dict(),
        headers={name.lower(): value for name, value in st.context.headers.to_dict().items()},
        local=st.context.ip_address is None,
        user=user if "is_logged_in" in user else None,
        token=bool(st.session_state.get(_ADMITTED)),
    )


_SERVER = runtime.Runtime
