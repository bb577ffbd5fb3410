"""The visitor of this session, and what is theirs."""

import functools
import hmac
import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.own_trainings import OwnTrainings
from dashboard.language import ended, gettext, translated
from dashboard.settings import settings
from dashboard.storage.bundle import MB
from dashboard.storage.files import home
from dashboard.ui.workbench import workbench
from dashboard.visitors import Browser, NotAllowed, Visitor, identify, network

if TYPE_CHECKING:
    from dashboard.storage.runs import Runs


def run_store() -> "Runs":
    """The store that the settings name, opened when first asked for, else a StorageError."""
    given = settings()
    limits = (given.runs, given.run_space * MB, given.run_space_total * MB, given.run_days)
    return _opened(home(), given.database.get_secret_value(), given.blobs, limits)


@functools.lru_cache(maxsize=4)
def _opened(root: Path, database: str, blobs: str, limits: tuple[int, int, int, float]) -> "Runs":
    # SQLAlchemy takes a third of a second to import, and most visitors keep nothing.
    from dashboard.storage.runs import Limits, Runs

    runs, own, total, days = limits
    chosen = Limits(runs=runs, owner_bytes=own, total_bytes=total, days=days)
    return Runs(root, database=database, blobs=blobs, limits=chosen)


def picture_path(id: str) -> str:
    """Where a run's picture is on this server, below its address."""
    return f"preview/{id}.png"


_ADMITTED = "administrator"  # the key in a session
_LONGEST_WAIT, _HOUR = 60.0, 3600.0  # seconds after a wrong token

_log = logging.getLogger(__name__)


def owner() -> str:
    """The owner of what this session makes; empty for the user of this machine."""
    return visitor().owner


def visitor() -> Visitor:
    """Who this session belongs to, and what they may do; for runs and their callbacks.

    A page asks several times, of a connection that stays while its run lasts.
    """
    context, chosen = get_script_run_ctx(), settings()
    token = context is not None and bool(st.session_state.get(_ADMITTED))
    known = getattr(_run, "known", None)
    if known is None or known[0] is not context or known[1:3] != (token, chosen):
        known = _run.known = context, token, chosen, identify(_browser(), chosen)
    return known[3]


def refusal(what: str) -> str:
    """Why this visitor may not make something, such as ``Training``; empty if they may."""
    try:
        visitor().see_that_it_makes(what)
    except NotAllowed as error:
        return ended(translated(str(error)))
    return ""


def trainings() -> OwnTrainings:
    """The trainings as this visitor may use them."""
    return OwnTrainings(workbench().trainings, visitor())


def give_token(token: str) -> str:
    """Make this session an administrator's if the token is right; else say why it is not."""
    wanted, wrong = settings().administrator_token.get_secret_value(), _wrong_tokens()
    address = network(_browser().address)
    if seconds := wrong.guess(address):
        return gettext(
            "Wrong tokens came from your network; try again in {seconds:.0f} s.",
            seconds=math.ceil(seconds),
        )
    right = bool(wanted) and hmac.compare_digest(token.encode(), wanted.encode())
    st.session_state[_ADMITTED] = right
    if right:
        wrong.forget(address)
        return ""
    _log.warning("a wrong administrator's token from %s", address or "this machine")
    return gettext("This is not the token.")


class WrongTokens:
    """How long a network waits for its next guess: twice as long after each, up to a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._guesses: dict[str, tuple[int, float]] = {}  # how many, and when the last was

    def guess(self, address: str) -> float:
        """Return the seconds until the network may guess; 0 if it may now, which counts as wrong.

        What is an hour old is forgotten.
        """
        now = self._clock()
        with self._lock:
            self._guesses = {
                each: known for each, known in self._guesses.items() if known[1] > now - _HOUR
            }
            count, last = self._guesses.get(address, (0, -math.inf))
            if count and (seconds := last + min(2.0**count, _LONGEST_WAIT) - now) > 0:
                return seconds
            self._guesses[address] = count + 1, now
        return 0.0

    def forget(self, address: str) -> None:
        """Forget the guesses of a network, which were followed by the right one."""
        with self._lock:
            self._guesses.pop(address, None)


@st.cache_resource(show_spinner=False)
def _wrong_tokens() -> WrongTokens:
    return WrongTokens()


def _browser() -> Browser:
    context = get_script_run_ctx()
    # Without a server, as in a test of a page, the page is its user's own.
    if context is None or not runtime.exists() or type(runtime.get_instance()) is not _SERVER:
        return Browser(session="", local=True, headers={"host": "localhost"})
    user = st.user.to_dict() if _logins() else context.user_info
    return Browser(
        session=context.session_id, cookies=st.context.cookies.to_dict(),
        headers={name.lower(): value for name, value in st.context.headers.to_dict().items()},
        local=st.context.ip_address is None, user=user if "is_logged_in" in user else None,
        token=bool(st.session_state.get(_ADMITTED)), address=st.context.ip_address or "",
    )  # fmt: skip


@functools.cache
def _logins() -> bool:
    """Whether one can log in here: by this server's secrets, as they were when first asked for.

    Where there are none, Streamlit looks for their files again at every question.
    """
    return "is_logged_in" in st.user.to_dict()


_run = threading.local()  # whom this thread's run serves, and what that follows from
_SERVER = runtime.Runtime
