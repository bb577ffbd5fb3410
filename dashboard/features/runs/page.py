"""Runs: what was kept from a page or brought from elsewhere, seen again without computing."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.charts.run_charts import check_drawable, run_charts
from dashboard.features.runs.bundle_import import LEFT_OUT, add_run, store_upload
from dashboard.features.runs.origin import origin
from dashboard.features.runs.view import LINK, RunsView
from dashboard.records.catalogue import Catalogue
from dashboard.storage.archive import LARGEST_ARCHIVE, MB
from dashboard.storage.bundle import Bundle
from dashboard.storage.errors import BundleError, StorageError
from dashboard.storage.runs import Run, Runs
from dashboard.ui import export, layout, results
from dashboard.ui.owner import visitor
from dashboard.ui.page import Page
from dashboard.ui.session import Session, address
from dashboard.ui.widgets import plain
from dashboard.visitors import NotAllowed

_ROWS = 20
_UPLOAD, _PENDING, _PROBLEM = "runs-import", "runs import", "runs problem"
_ORIGINS = {"kept": "kept from", "imported": "imported from"}


def _results(session: Session[RunsView], catalogue: Catalogue, _: None) -> None:
    _finish_import(session)
    _problem()
    if session.view.id:
        _one(session, session.view.id, LINK.format(session.view, catalogue))
    else:
        _all(session)


def _import(session: Session[RunsView]) -> None:
    with st.popover("Import a bundle", icon=":material/upload_file:", type="tertiary"):
        st.caption("A zip that a dashboard like this one wrote. What is wrong with it is said.")
        st.file_uploader(
            "Bundle",
            type=["zip"],
            key=_UPLOAD,
            max_upload_size=LARGEST_ARCHIVE // MB,
            on_change=_start_import,
            label_visibility="collapsed",
        )


def _problem() -> None:
    """What became of the last import or deletion, if it failed; on the page, not in a menu."""
    if problem := st.session_state.get(_PROBLEM):
        with st.container(border=True, key="runs-problem"):
            st.text(problem)


def _start_import() -> None:
    file = st.session_state[_UPLOAD]
    for key in (_PENDING, _PROBLEM):
        st.session_state.pop(key, None)
    if file is None:
        return
    try:
        visitor().see_that_it_makes("Importing")
        st.session_state[_PENDING] = (store_upload(file.getvalue()), file.name)
    except (BundleError, NotAllowed, OSError) as error:
        st.session_state[_PROBLEM] = f"Refused: {error}."


def _finish_import(session: Session[RunsView]) -> None:
    """Wait while a worker reads the uploaded bundle, and open the run; a problem is shown."""
    if _PENDING not in st.session_state:
        return
    request, source = st.session_state[_PENDING]
    session.jobs.want([request])
    status = st.empty()
    with st.spinner("A worker reads the bundle"):
        while not session.jobs.wait(results.POLL):
            if events := session.jobs.progress(request):
                status.caption(plain(events[-1].note))  # also lets this run be interrupted
    event = session.jobs.final(request)
    del st.session_state[_PENDING]
    session.jobs.want([])  # forget the result
    try:
        if event is not None:
            session.change(RunsView(id=add_run(request, event, source).id))
    except (BundleError, StorageError) as error:
        st.session_state[_PROBLEM] = f"Refused: {error}."
    st.rerun()


def _all(session: Session[RunsView]) -> None:
    kept, damaged = Runs().scan()
    for name in damaged:
        st.caption(f":material/warning: The record {plain(name)} is damaged and is not shown.")
    if not kept:
        with st.container(border=True, key="runs-none"):
            st.markdown(":material/bookmark: **No run yet**")
            st.text(
                "Open the download menu of a panel and press “Keep this run”, or import a bundle."
            )
        return
    shown = kept[: st.session_state.get("runs-shown", _ROWS)]
    for run in shown:
        with st.container(border=True, key=f"run-{run.id}"):
            words, buttons = st.columns([3, 2], vertical_alignment="center")
            with words:
                _title(run)
            with buttons, st.container(horizontal=True, horizontal_alignment="right"):
                st.button(
                    "Open",
                    key=f"run-{run.id}-open",
                    on_click=session.change,
                    args=(RunsView(id=run.id),),
                )
                _save_and_delete(session, run)
    if len(kept) > len(shown):
        st.button(f"Show {len(kept) - len(shown):,} more", on_click=_show_more)


def _show_more() -> None:
    st.session_state["runs-shown"] = st.session_state.get("runs-shown", _ROWS) + _ROWS


def _title(run: Run) -> None:
    st.markdown(f"**{plain(run.title) or plain(run.task)}**")
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.when))
    st.caption(f"{when} · {_ORIGINS[run.origin]} {plain(run.source) or 'a page'}")


def _save_and_delete(session: Session[RunsView], run: Run) -> None:
    st.download_button(
        "Bundle",
        data=lambda: _packed(run),
        file_name=f"run-{run.id[:8]}.zip",
        mime="application/zip",
        key=f"run-{run.id}-bundle",
        on_click="ignore",
    )
    with st.popover("", icon=":material/delete:", type="tertiary", key=f"run-{run.id}-delete"):
        st.caption("Deleted runs cannot be brought back, and links to them end.")
        st.button(
            "Delete this run", key=f"run-{run.id}-gone", on_click=_delete, args=(session, run.id)
        )


def _packed(run: Run) -> bytes:
    """With pictures where the charts are our own: a stranger's are never painted session."""
    if run.origin == "imported":
        return Runs().packed(run.id)
    return export.packed(lambda: Runs().open(run.id))


def _delete(session: Session[RunsView], id: str) -> None:
    st.session_state.pop(_PROBLEM, None)
    try:
        Runs().delete(id)
        session.change(RunsView())
    except StorageError as error:
        st.session_state[_PROBLEM] = f"Not deleted: {error}."


def _one(session: Session[RunsView], id: str, link: Mapping[str, str]) -> None:
    st.button(
        "All runs",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=session.change,
        args=(RunsView(),),
    )
    try:
        run = Runs().find(id)
        held = _opened(id, run.digest)
    except (KeyError, StorageError) as error:
        with st.container(border=True, key="run-missing"):
            st.markdown(":material/error: **This run cannot be shown**")
            st.text(str(error.args[0]))
            st.caption("Whoever has it can export it as a bundle, to be imported session.")
        return
    charts = _charts(run, held)
    words, buttons = st.columns([3, 2], vertical_alignment="center")
    with words:
        _title(run)
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        with st.container(width="content"):
            # Charts and tables alone: the button beside it gives the run as it was kept.
            export.menu(None, held.result, charts, "run", title=held.title)
        _save_and_delete(session, run)
    _draw(run, held, charts)
    origin(held, address(link))


@st.cache_resource(max_entries=4, show_spinner=False)  # each may have 128 MB
def _opened(id: str, digest: str) -> Bundle:
    """A run as it was read, once: it never changes."""
    return Runs().open(id)


def _charts(run: Run, held: Bundle) -> dict[str, Any]:
    """As they were seen, if they were drawn here; a stranger's are drawn anew from the tables."""
    if run.origin == "kept":
        return {name.replace("-", " "): spec for name, spec in held.charts.items()}
    return _redrawn(run.id, held)


@st.cache_resource(max_entries=16, show_spinner=False)
def _redrawn(id: str, _held: Bundle) -> dict[str, Any]:
    try:
        check_drawable(_held.result)
        made = run_charts(_held.result)
        return {name: make().to_dict(validate=False) for name, make in made.items()}
    except Exception:  # tables of a stranger may hold anything under any name
        return {}


def _draw(run: Run, held: Bundle, charts: Mapping[str, Any]) -> None:
    left_out = held.result.facts.get(LEFT_OUT)
    for name in left_out if isinstance(left_out, Mapping) else ():
        st.caption(f":material/warning: The picture {plain(name)} was no PNG and was left out.")
    if not charts and not held.pictures:
        st.caption("This run has tables, but nothing to be drawn from them session.")
    if run.origin == "imported":
        st.caption("Drawn session from the tables of the bundle.")
    if not charts:
        for name, picture in held.pictures.items():
            if name.endswith(".png"):
                # As an address, it is decoded by the browser alone.
                data = base64.b64encode(picture).decode()
                st.image(f"data:image/png;base64,{data}", caption=plain(name))
        return
    with layout.grid(2):  # a single chart is not stretched over the whole page
        for name, spec in charts.items():
            with st.container(key=f"run-chart-{export.slug(name)}"):
                st.caption(plain(name))
                stretch = "width" in spec and "facet" not in spec
                st.vega_lite_chart(spec, width="stretch" if stretch else "content", alt=name)


PAGE = Page(
    name="runs",
    title="Runs",
    explanation="What was kept, or brought from another dashboard: shown from what was stored, "
    "nothing is computed again.",
    link=LINK,
    controls=lambda _session, _catalogue: None,
    results=_results,
    buttons=_import,
    catalogue=False,
)
