"""Takes a race in through a worker: the page never parses the uploaded bytes itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePath

import streamlit as st

from dashboard.features.race.view import RaceView, import_request
from dashboard.jobs.backend import Event
from dashboard.language import gettext, ngettext, translated
from dashboard.language.joining import ended
from dashboard.records.request import UPLOAD, Request
from dashboard.settings import settings
from dashboard.storage import race_import
from dashboard.storage.archive import LARGEST_ARCHIVE, MB, check_size
from dashboard.storage.blobs import Blobs
from dashboard.storage.errors import BundleError, StorageError
from dashboard.storage.races import RaceRecord
from dashboard.ui import owner, results, upload
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_UPLOAD, _PENDING, _SAID = "race-import", "race import", "race import said"
_NAMED = 8  # lines that were left out


def importer(session: Session[RaceView]) -> None:
    """The button that asks for a race's file."""
    if not owner.visitor().makes:
        return
    with st.popover(gettext("Import a race"), icon=":material/upload_file:"):
        st.caption(
            gettext(
                "A zip of a race's folder, as “The whole race” downloads it here or elsewhere: "
                "race.json and outcomes.jsonl."
            )
        )
        upload.uploader(
            gettext("File"), key=_UPLOAD, types=["zip"], take=_begin,
            megabytes=min(LARGEST_ARCHIVE // MB, settings().upload_megabytes),
        )  # fmt: skip


def finish(session: Session[RaceView]) -> None:
    """Wait while a worker reads the uploaded file, and open the race; then say what came of it."""
    if _PENDING in st.session_state:
        request, name = st.session_state[_PENDING]
        session.jobs.want([request])
        with st.spinner(gettext("A worker reads the file")):
            while not session.jobs.wait(results.POLL):
                session.jobs.progress(request)
        event = session.jobs.final(request)
        del st.session_state[_PENDING]
        session.jobs.want([])  # forget the result
        try:
            if event is not None:
                session.change(RaceView(race=_added(request, event, name)))
        except (ValueError, StorageError) as error:
            st.session_state[_SAID] = [_refused(error)]
        st.rerun()
    if said := st.session_state.get(_SAID):
        with st.container(border=True, key="race-import-said"):
            for sentence in said:
                st.text(sentence)


def remover(session: Session[RaceView], race: RaceRecord) -> None:
    """The button that deletes a race which this visitor took in."""
    visitor = owner.visitor()
    if race.owner is None or not (visitor.administers or race.owner == visitor.owner):
        return
    st.button(
        gettext("Remove this race"), icon=":material/delete:", type="tertiary", key="race-remove",
        on_click=_remove, args=(session, race.name),
    )  # fmt: skip


def _begin() -> None:
    file = st.session_state[_UPLOAD]
    for key in (_PENDING, _SAID):
        st.session_state.pop(key, None)
    if file is None:
        return
    try:
        owner.visitor().see_that_it_makes("Importing")
        st.session_state[_PENDING] = _stored(file.getvalue()), PurePath(file.name).stem
    except ValueError as error:
        st.session_state[_SAID] = [_refused(error)]


def _refused(error: Exception) -> str:
    return gettext("Refused: {problem}.", problem=translated(str(error)))


def _stored(data: bytes) -> Request:
    """Store an uploaded file; the request that has a worker read it.

    Raises:
        ValueError: too large, no room for it, or the folder of uploads cannot be written.
    """
    check_size(data)
    largest = min(LARGEST_ARCHIVE, settings().upload_megabytes * MB)
    total = settings().uploads_total_megabytes * MB
    return import_request(Blobs(largest=largest, total=total).put(data))


def _added(request: Request, event: Event, name: str) -> str:
    """Take over what the worker has read, and delete the upload; the race's name.

    Raises:
        ValueError: the file was rejected, the worker did not survive it, or there is no room.
        StorageError: the data folder cannot be written.
    """
    with suppress(OSError):
        Blobs().remove(request.data.removeprefix(UPLOAD))
    if event.result is None:
        if event.facts.get("refused"):
            raise BundleError(event.note)
        raise BundleError(
            gettext("a worker failed to read it ({problem})", problem=translated(event.note))
        )
    table, facts = event.result.tables["files"], event.result.facts
    chosen = settings()
    added = race_import.add(
        name, table["plan"][0].as_py(), table["outcomes"][0].as_py(), owner.owner(),
        megabytes=chosen.uploads_megabytes, total=chosen.uploads_total_megabytes,
    )  # fmt: skip
    said = [gettext("{race}: {count:,} trainings were taken in.", race=added, count=facts["kept"])]
    if count := facts["left_out"]:
        said.append(ngettext("{count:,} line left out.", "{count:,} lines left out.", count))
        said += map(translated, facts["problems"][:_NAMED])
    st.session_state[_SAID] = said
    return added


def _remove(session: Session[RaceView], name: str) -> None:
    try:
        race_import.remove(name)
    except (ValueError, StorageError) as error:
        st.session_state[_SAID] = [ended(translated(str(error)))]
        return
    st.session_state[_SAID] = [gettext("The race {race} was removed.", race=plain(name))]
    session.change(RaceView())
