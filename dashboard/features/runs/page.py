"""Runs: what was kept from a page or brought from elsewhere, seen again without computing.

A run is imported through a worker: the page never parses the uploaded bytes itself. The worker
reads, checks and rewrites the file, and the page stores what the worker wrote. A file that crashes
the reader, or needs too much memory or time, ends a worker and costs this one import.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.features.runs import card
from dashboard.features.runs.one import one
from dashboard.features.runs.view import LINK, TASK, RunsView
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import UPLOAD, Request
from dashboard.records.text import one_line
from dashboard.settings import settings
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import LARGEST_ARCHIVE, MB, check_size
from dashboard.storage.files import BundleError, StorageError
from dashboard.storage.run import Description, Provenance, Run
from dashboard.ui import navigation, owner, results, upload
from dashboard.ui.owner import run_store
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.visitors import Visitor

if TYPE_CHECKING:
    from dashboard.storage.runs import Runs

_ROWS = 20
_DAMAGED_SHOWN, _NOTE_SHOWN = 8, 120
_MANY, _SEARCH_WIDTH = 5, 360  # runs from which on they are searched; px
_COLUMNS = (2, 4, 3)  # of a run, as wide as each is
_UPLOAD, _PENDING = "runs-import", "runs import"
_WAYS = {
    "regression": gettext_noop("Curves and weights to keep"),
    "translation": gettext_noop("A translation to keep"),
}


def store_upload(data: bytes) -> Request:
    """Store an uploaded bundle; return the request that has a worker read it.

    ValueError where it is larger than a bundle may be, or there is no room for it.
    """
    check_size(data)
    blobs = Blobs(largest=LARGEST_ARCHIVE, total=settings().uploads_total_megabytes * MB)
    return Request.make(TASK, data=UPLOAD + blobs.put(data))


def add_run(runs: "Runs", request: Request, event: Event, source: str, owner: str = "") -> Run:
    """Add the run that a worker has read, and delete the upload.

    BundleError where the file was rejected, or the worker did not survive it.
    """
    with suppress(OSError):
        Blobs().remove(request.data.removeprefix(UPLOAD))
    if event.result is None:
        note = translated(event.note)
        if not event.facts.get("refused"):
            note = gettext("a worker failed to read it ({reason})", reason=note)
        raise BundleError(note)
    table = event.result.tables["page"]
    description = Description.model_validate_json(event.result.facts["description"])
    made = Provenance(origin="imported", source=one_line(source), owner=owner)
    return runs.add(table["packed"][0].as_py(), description, table["picture"][0].as_py(), made)


def _results(session: Session[RunsView], _: None) -> None:
    _finish_import(session)
    # What became of the last import or deletion, if it failed; on the page, not in a menu.
    if problem := st.session_state.get(card.PROBLEM):
        with st.container(border=True, key="runs-problem"):
            st.text(problem)
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
    if _PENDING not in st.session_state:
        return
    request, source = st.session_state[_PENDING]
    session.jobs.want([request])
    status = st.empty()
    with st.spinner(gettext("A worker reads the file")):
        while not session.jobs.wait(results.POLL):
            if events := session.jobs.progress(request):
                # This also lets the run be interrupted.
                status.caption(plain(translated(events[-1].note)))
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


def _none(visitor: Visitor) -> None:
    with st.container(border=True, key="runs-none"):
        st.markdown(f":material/bookmark: **{gettext('No run yet')}**")
        if not visitor.makes:
            opens = gettext("A link to a run opens it here all the same.")
            st.text(together([owner.refusal("Keeping"), opens]))
            return
        st.text(gettext("Press “Keep” on a page whose panels are computed, or import a run."))
        for page, label in _WAYS.items():
            navigation.link_to(page, {}, gettext(label))


def _all(session: Session[RunsView]) -> None:
    visitor = owner.visitor()
    try:
        kept, damaged = run_store().scan(None if visitor.administers else visitor.owner)
    except StorageError as error:
        with st.container(border=True, key="runs-unreadable"):
            st.markdown(f":material/error: **{gettext('The stored runs cannot be read')}**")
            st.text(translated(str(error)))
        return
    for id, reason in damaged[:_DAMAGED_SHOWN]:
        told = {"id": plain(id), "reason": plain(translated(reason))}
        words = gettext("The run {id} is not shown: {reason}.", **told)
        st.caption(f":material/warning: {words}")
    if (more := len(damaged) - _DAMAGED_SHOWN) > 0:
        st.caption(f":material/warning: {gettext('and {count:,} more.', count=more)}")
    if not kept:
        _none(visitor)
        return
    if len(kept) > _MANY:
        wanted = st.text_input(
            gettext("Search"), key="runs-search", icon=":material/search:",
            placeholder=gettext("words of a name, a note or a page"), width=_SEARCH_WIDTH,
        )  # fmt: skip
        kept = card.found(kept, wanted)
        if not kept:
            st.text(gettext("No run has all these words."))
    count = st.session_state.get("runs-shown", _ROWS)
    for run in kept[:count]:
        _row(session, run)
    if len(kept) > count:
        more = gettext("Show {count:,} more", count=len(kept) - count)
        widened = {"runs-shown": count + _ROWS}
        st.button(more, key="runs-more", on_click=st.session_state.update, args=(widened,))


def _row(session: Session[RunsView], run: Run) -> None:
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
                gettext("Open"), key=f"run-{run.id}-open", on_click=session.change,
                args=(RunsView(id=run.id),),
            )  # fmt: skip
            card.buttons(session, run)


PAGE = Page(
    name="runs", **beside(__file__, "words.toml")["heading"], link=LINK,
    controls=lambda _session: None, keeps=False, results=_results, buttons=_import,
    catalogue=False,
)  # fmt: skip
