"""What stands for a run wherever it is shown: its name, its picture and its buttons."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from dashboard.features.runs.view import RunsView
from dashboard.language import current, gettext, gettext_noop, translated
from dashboard.records.text import lines, one_line
from dashboard.storage import page_run
from dashboard.storage.files import BundleError, StorageError
from dashboard.storage.page_run import LONGEST_NAME, LONGEST_NOTE
from dashboard.storage.run import Run
from dashboard.ui import owner, page_menu
from dashboard.ui.navigation import installed
from dashboard.ui.owner import picture_path, run_store
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.visitors import NotAllowed, Visitor

PROBLEM = "runs problem"
_ORIGINS = {
    "kept": gettext_noop("kept from {source}"), "imported": gettext_noop("imported from {source}"),
}  # fmt: skip
_DATE = "%Y-%m-%d %H:%M UTC"


def title(run: Run) -> None:
    """Its name, when it was kept and where it came from."""
    st.markdown(f"**{plain(run.name)}**")
    when = time.strftime(_DATE, time.gmtime(run.created))
    parts = [when, gettext(_ORIGINS[run.origin], source=_source(run))]
    if run.expires is not None:
        end = time.strftime(_DATE, time.gmtime(run.expires))
        parts.append(gettext("expires {time}", time=end))
    st.caption(" · ".join(parts))


def _source(run: Run) -> str:
    pages = {entry.path: entry for entry in installed() if entry.path}
    if run.origin == "kept" and (entry := pages.get(run.source)):
        return entry.said(entry.title, current())
    return plain(run.source) or gettext("a page")


def picture(run: Run) -> None:
    """Its picture, which the browser fetches by itself and keeps; or that there is none."""
    if run.picture:
        alt = gettext("Picture of {name}", name=run.name)
        st.markdown(f"![{plain(alt)}]({picture_path(run.id)})")
    else:
        st.caption(f":material/image_not_supported: {gettext('No picture')}")


def buttons(session: Session[RunsView], run: Run) -> None:
    """Save it as a file, give it or a copy of it another name, or delete it."""
    st.download_button(
        gettext("File"), icon=":material/download:",
        help=gettext("The whole page as a zip, which another dashboard can import"),
        data=lambda: _packed(run), file_name=f"run-{run.id[:8]}.zip", mime="application/zip",
        key=f"run-{run.id}-file", on_click="ignore",
    )  # fmt: skip
    visitor = owner.visitor()
    own = visitor.administers or (visitor.makes and visitor.owner == run.owner)
    if visitor.makes:
        _edit(session, run, own=own)
    if not own:
        return
    label = plain(gettext("Delete {name}", name=run.name))
    with st.popover(label, icon=":material/delete:", type="tertiary", key=f"run-{run.id}-delete"):
        st.caption(gettext("Deleted runs cannot be brought back, and links to them end."))
        st.button(
            gettext("Delete this run"), key=f"run-{run.id}-gone", on_click=_delete,
            args=(session, run),
        )  # fmt: skip


def _edit(session: Session[RunsView], run: Run, *, own: bool) -> None:
    """Another name and note: for the run itself, if it is the visitor's, or for a copy."""
    key = f"run-{run.id}-copy"
    label = plain(gettext("Edit the name or note of {name}", name=run.name))
    with st.popover(label, icon=":material/edit:", type="tertiary", key=key,
                    help=gettext("Another name or note"), on_change="rerun"):  # fmt: skip
        if not own:
            st.caption(gettext("This run is somebody else's: only a copy can be changed."))
        st.text_input(gettext("Name"), value=run.name, max_chars=LONGEST_NAME, key=f"{key}-name")
        st.text_area(gettext("Note"), value=run.note, max_chars=LONGEST_NOTE, key=f"{key}-note")
        with st.container(horizontal=True, gap="xsmall", key=f"{key}-buttons"):
            if own:
                st.button(gettext("Save"), key=f"{key}-save", on_click=_rename, args=(run, key))
            st.button(
                gettext("Make a copy"), key=f"{key}-now", on_click=_copy, args=(session, run, key),
            )  # fmt: skip


def _words(run: Run, key: str) -> tuple[str, str]:
    name = one_line(st.session_state[f"{key}-name"]) or run.name
    return name, lines(st.session_state[f"{key}-note"])


def found(runs: Sequence[Run], wanted: str) -> list[Run]:
    """The runs that have every word of ``wanted`` in their name, their note or their source."""
    words = wanted.casefold().split()
    texts = ("\n".join((run.name, run.note, _source(run))).casefold() for run in runs)
    return [run for run, text in zip(runs, texts, strict=True)
            if all(word in text for word in words)]  # fmt: skip


def _packed(run: Run) -> bytes:
    """With pictures where the charts are our own: a stranger's are never painted here."""
    write = page_run.write if run.origin == "imported" else page_menu.packed
    return write(run_store().open(run.id))


@contextmanager
def _telling(refused: str) -> Iterator[Visitor]:
    st.session_state.pop(PROBLEM, None)
    try:
        yield owner.visitor()
    except (KeyError, NotAllowed, BundleError, StorageError) as error:
        st.session_state[PROBLEM] = gettext(refused, reason=translated(str(error.args[0])))


def _rename(run: Run, key: str) -> None:
    name, note = _words(run, key)
    with _telling(gettext_noop("Not renamed: {reason}.")) as visitor:
        visitor.see_that_it_owns(run.owner, gettext_noop("This run"))
        asks = None if visitor.administers else visitor.owner
        run_store().rename(run.id, name=name, note=note, owner=asks)
        st.session_state[key] = False  # closes the popover


def _copy(session: Session[RunsView], run: Run, key: str) -> None:
    name, note = _words(run, key)
    with _telling(gettext_noop("Not copied: {reason}.")) as visitor:
        visitor.see_that_it_makes(gettext_noop("Copying"))
        copy = run_store().copy(run.id, name=name, note=note, owner=visitor.owner)
        session.change(RunsView(id=copy.id))


def _delete(session: Session[RunsView], run: Run) -> None:
    with _telling(gettext_noop("Not deleted: {reason}.")) as visitor:
        visitor.see_that_it_owns(run.owner, gettext_noop("This run"))
        run_store().delete(run.id, None if visitor.administers else visitor.owner)
        session.change(RunsView())
