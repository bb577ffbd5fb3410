"""Looking for plugins again, and saying what that changed."""

from __future__ import annotations

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, translated
from dashboard.pages import look_again
from dashboard.records.catalogue import Catalogue
from dashboard.records.catalogue_diff import describe_changes
from dashboard.ui import owner
from dashboard.ui.results import POLL, details
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_MOST_SAID = 3  # changes that pop up with their words; the others are counted
_BEFORE, _CHANGES = "catalogue before", "catalogue changes"


def reload() -> None:
    """Look for plugins again; once new workers have them, the page says what changed.

    Raises:
        NotAllowed: the visitor does not administer this server.
    """
    owner.visitor().see_that_it_administers(gettext_noop("Reloading plugins"))
    look_again()
    before = workbench().catalogue()
    if isinstance(before, Catalogue):
        st.session_state[_BEFORE] = before
    workbench().reload()


def changes(catalogue: Catalogue, *, aloud: bool = True) -> tuple[str, ...]:
    """What the last reload of this session changed, until there is another catalogue.

    Args:
        aloud: whether the changes pop up when they are first known; not on a page that lists
            them.
    """
    before: Catalogue | None = st.session_state.get(_BEFORE)
    if before is not None and before is not catalogue:
        del st.session_state[_BEFORE]
        for one in st.session_state.values():
            if isinstance(one, Session):  # what it waited for may be of the old code
                one.jobs.forget()
        sentences = tuple(describe_changes(before, catalogue))
        st.session_state[_CHANGES] = (catalogue, sentences)
        if aloud:
            _pop_up(sentences)
    known, sentences = st.session_state.get(_CHANGES, (None, ()))
    return sentences if known is catalogue else ()


def status() -> None:
    """How far a reload is, or why plugins were not reloaded; for administrators alone."""
    if not owner.visitor().administers:
        return
    if workbench().reloading() is not None:
        st.fragment(run_every=POLL)(_under_way)()
    elif failure := workbench().failure:
        _given_up(failure)


def _under_way() -> None:
    events = workbench().reloading()
    if events is None:
        st.rerun()
    latest = events[-1] if events else None
    note = latest.note if latest and latest.note else gettext_noop("starting new workers")
    said = gettext("Reloading plugins: {note}", note=translated(note))
    with st.container(border=True, key="reloading", gap="xsmall"):
        fraction = latest.fraction if latest and latest.fraction else 0.0
        st.progress(fraction, text=plain(said))
        st.caption(gettext("Until new workers are ready, all pages go on with the present ones."))


def _given_up(failure: Event) -> None:
    st.session_state.pop(_BEFORE, None)
    with st.container(border=True, key="reload-failed", gap="xsmall"):
        title = gettext("Plugins were not reloaded")
        st.markdown(f":material/error: **{title}**")
        stopped = gettext("New workers were stopped before they were ready.")
        st.text(translated(failure.note) or stopped)
        st.caption(gettext("All pages go on with the plugins and the workers that they had."))
        details(failure)
        st.button(gettext("Close"), key="reload-failed-close", type="tertiary", on_click=_close)


def _close() -> None:
    workbench().failure = None


def _pop_up(sentences: tuple[str, ...]) -> None:
    """One message for all changes, which goes away by itself."""
    words = [plain(translated(sentence)) for sentence in sentences[:_MOST_SAID]]
    if (more := len(sentences) - _MOST_SAID) > 0:
        words.append(gettext("and {count:,} more: see the page Plugins", count=more))
    if len(sentences) > 1:
        words.insert(0, gettext("**{count:,} changes**", count=len(sentences)))
    st.toast("\n\n".join(words), icon=":material/extension:", duration="short")
