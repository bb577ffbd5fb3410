"""Runs: what was kept from a page or brought from elsewhere, seen again without computing."""

from __future__ import annotations

import streamlit as st

from dashboard.features.runs import card
from dashboard.features.runs.bundle_import import add_run, store_upload
from dashboard.features.runs.one import one
from dashboard.features.runs.view import LINK, RunsView
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.storage.bundle import LARGEST_ARCHIVE, MB
from dashboard.storage.files import BundleError, StorageError
from dashboard.ui import owner, results, upload
from dashboard.ui.owner import run_store
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_ROWS = 20
_DAMAGED_SHOWN, _NOTE_SHOWN = 8, 120
_MANY, _SEARCH_WIDTH = 5, 360  # runs from which on they are searched; px
_COLUMNS = (2, 4, 3)  # of a run, as wide as each is
_UPLOAD, _PENDING = "runs-import", "runs import"


def _results(session: Session[RunsView], _: None) -> None:
    _finish_import(session)
    _problem()
    if session.view.id:
        one(session, session.view.id, LINK.format(session.view, session.catalogue))
    else:
        _all(session)


def _import(session: Session[RunsView]) -> None:
    if not owner.visitor().makes:
        return
    with st.popover(gettext("Import a run"), icon=":material/upload_file:", type="tertiary"):
        st.caption(gettext("A zip of a page or of a panel that a dashboard like this one wrote."))
        upload.uploader(
            gettext("File"), key=_UPLOAD, types=["zip"], megabytes=LARGEST_ARCHIVE // MB,
            take=_start_import,
        )  # fmt: skip


def _problem() -> None:
    """What became of the last import or deletion, if it failed; on the page, not in a menu."""
    if problem := st.session_state.get(card.PROBLEM):
        with st.container(border=True, key="runs-problem"):
            st.text(problem)


def _refused(error: Exception) -> str:
    return gettext("Refused: {reason}.", reason=translated(str(error)))


def _start_import() -> None:
    file = st.session_state[_UPLOAD]
    for key in (_PENDING, card.PROBLEM):
        st.session_state.pop(key, None)
    if file is None:
        return
    try:
        owner.visitor().see_that_it_makes(gettext_noop("Importing"))
        st.session_state[_PENDING] = (store_upload(file.getvalue()), file.name)
    except ValueError as error:
        st.session_state[card.PROBLEM] = _refused(error)


def _finish_import(session: Session[RunsView]) -> None:
    """Wait while a worker reads the uploaded file, and open the run; a problem is shown."""
    if _PENDING not in st.session_state:
        return
    request, source = st.session_state[_PENDING]
    session.jobs.want([request])
    status = st.empty()
    with st.spinner(gettext("A worker reads the file")):
        while not session.jobs.wait(results.POLL):
            if events := session.jobs.progress(request):
                status.caption(
                    plain(translated(events[-1].note))
                )  # also lets this run be interrupted
    event = session.jobs.final(request)
    del st.session_state[_PENDING]
    session.jobs.want([])  # forget the result
    try:
        if event is not None:
            taken = add_run(run_store(), request, event, source, owner.owner())
            session.change(RunsView(id=taken.id))
    except (BundleError, StorageError) as error:
        st.session_state[card.PROBLEM] = _refused(error)
    st.rerun()


def _all(session: Session[RunsView]) -> None:
    visitor = owner.visitor()
    try:
        kept, damaged = run_store().scan(None if visitor.administers else visitor.owner)
    except StorageError as error:
        with st.container(border=True, key="runs-unreadable"):
            title = gettext("The stored runs cannot be read")
            st.markdown(f":material/error: **{title}**")
            st.text(translated(str(error)))
        return
    for id, reason in damaged[:_DAMAGED_SHOWN]:
        said = gettext(
            "The run {id} is not shown: {reason}.", id=plain(id), reason=plain(translated(reason))
        )
        st.caption(f":material/warning: {said}")
    if len(damaged) > _DAMAGED_SHOWN:
        said = gettext("and {count:,} more.", count=len(damaged) - _DAMAGED_SHOWN)
        st.caption(f":material/warning: {said}")
    if not kept:
        with st.container(border=True, key="runs-none"):
            title = gettext("No run yet")
            st.markdown(f":material/bookmark: **{title}**")
            st.text(
                gettext("Press “Keep” on a page whose panels are computed, or import a run.")
                if visitor.makes
                else together([
                    owner.refusal("Keeping"),
                    gettext("A link to a run opens it here all the same."),
                ])
            )  # fmt: skip
        return
    if len(kept) > _MANY:
        wanted = st.text_input(
            gettext("Search"), key="runs-search", icon=":material/search:",
            placeholder=gettext("words of a name, a note or a page"), width=_SEARCH_WIDTH,
        )  # fmt: skip
        kept = card.found(kept, wanted)
        if not kept:
            st.text(gettext("No run has all these words."))
    shown = kept[: st.session_state.get("runs-shown", _ROWS)]
    for run in shown:
        with st.container(border=True, key=f"run-{run.id}"):
            seen, words, buttons = st.columns(_COLUMNS, vertical_alignment="center")
            with seen:
                card.picture(run)
            with words:
                card.title(run)
                if run.note:
                    st.text(run.note.partition("\n")[0][:_NOTE_SHOWN])
            with buttons, st.container(horizontal=True, horizontal_alignment="right"):
                st.button(
                    gettext("Open"),
                    key=f"run-{run.id}-open",
                    on_click=session.change,
                    args=(RunsView(id=run.id),),
                )
                card.buttons(session, run)
    if len(kept) > len(shown):
        more = gettext("Show {count:,} more", count=len(kept) - len(shown))
        st.button(more, key="runs-more", on_click=_show_more)


def _show_more() -> None:
    st.session_state["runs-shown"] = st.session_state.get("runs-shown", _ROWS) + _ROWS


PAGE = Page(
    name="runs",
    title="Runs",
    explanation="What was kept, or brought from another dashboard: shown from what was stored, "
    "nothing is computed again.",
    link=LINK,
    controls=lambda _session: None,
    keeps=False,
    results=_results,
    buttons=_import,
    catalogue=False,
)
