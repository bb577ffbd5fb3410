"""The menu that keeps a page as it is seen: as a run, or as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from dashboard.charts import export
from dashboard.charts.export import ExportError
from dashboard.charts.legend import is_scale
from dashboard.charts.preview import Titled, preview
from dashboard.language import current, gettext, gettext_noop, listed, together, translated
from dashboard.records.request import Request, Result
from dashboard.records.text import lines, one_line
from dashboard.storage import bundle, page_run
from dashboard.storage.bundle import Bundle, slug
from dashboard.storage.entries import fitting
from dashboard.storage.files import BundleError, StorageError
from dashboard.storage.page_run import LARGEST_PICTURE, LONGEST_NAME, LONGEST_NOTE, PageRun
from dashboard.storage.seen import Chart, Group, whole, widths
from dashboard.ui import charts, navigation, owner
from dashboard.ui.jobs import Jobs
from dashboard.ui.owner import run_store
from dashboard.ui.shown import Record, Spec
from dashboard.ui.widgets import plain

_KEY, _NAME, _NOTE = "page-keep", "page-keep-name", "page-keep-note"
_KEEPING = gettext_noop("Keeping")
_PAGE_WIDTH, _GAP = 1_130, 32  # px, in a window of 1280 px
_ICON = ":material/bookmark_add:"
_HELP = gettext_noop("Keep this page as it is seen, or take it out as a file")
_FILE_ICON = ":material/file_save:"


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """A page as it is seen, before it has a name.

    Args:
        link: to the page, ``/page?…``.
        usual: its name where the reader gives none.
        results: what it was drawn from.
    """

    link: str
    usual: str
    results: Sequence[tuple[Request, Result]]
    record: Record

    @property
    def state(self) -> str:
        """What it is known by; an edited plugin gives another result."""
        held = [self.link, *(f"{one} {result.digest}" for one, result in self.results)]
        return f"kept {hashlib.sha256(repr(held).encode()).hexdigest()}"


def menu(title: str, link: Mapping[str, str], jobs: Jobs, record: Record) -> None:
    """A button that opens the menu; none while there is nothing to keep.

    Args:
        title: of the page.
        link: parameters of the link to the page.
        jobs: what the page has asked for.
        record: what was drawn.
    """
    ends = jobs.ends()
    if record.incomplete or any(event is None for _, event in ends):
        label, icon, _ = _called()
        st.button(label, icon=icon, type="tertiary", disabled=True, key=f"{_KEY}-waiting")
        return
    made = [(request, event.result) for request, event in ends if event and event.result]
    if results := [*made, *record.results]:
        usual = title
        if record.titles:
            shows = listed(record.titles)
            usual = gettext("{title}: {shown}", title=title, shown=shows)[:LONGEST_NAME]
        address = navigation.address(navigation.current(), link)
        _menu(_Seen(link=address, usual=one_line(usual), results=results, record=record))


def _called() -> tuple[str, str, str]:
    """The menu's label, icon and help: who may not keep the page can still take it as a file."""
    if refused := owner.refusal(_KEEPING):
        help = gettext("Take this page out as a file, as it is seen.")
        return gettext("Page as a file"), _FILE_ICON, together([refused, help])
    return gettext("Keep"), _ICON, gettext(_HELP)


@st.fragment
def _menu(page: _Seen) -> None:
    label, icon, help = _called()
    opened = st.popover(
        label, icon=icon, type="tertiary", help=plain(help), key=_KEY, on_change="rerun"
    )
    if not opened.open:
        return
    state, usual = page.state, page.usual
    kept, problem = st.session_state.get(state, ("", ""))
    with opened:
        st.text_input(gettext("Name"), placeholder=usual, max_chars=LONGEST_NAME, key=_NAME)
        st.text_area(gettext("Note"), max_chars=LONGEST_NOTE, key=_NOTE)
        with st.container(horizontal=True, gap="xsmall", key=f"{_KEY}-buttons"):
            if kept:
                st.link_button(
                    gettext("Kept: open it"), f"runs?id={kept}", icon=":material/bookmark:"
                )
            elif owner.visitor().makes:
                st.button(
                    gettext("Keep this page"), icon=_ICON, key=f"{_KEY}-now", on_click=_keep,
                    args=(page, state),
                )  # fmt: skip
            texts = _texts(usual)
            st.download_button(
                gettext("Download"), data=lambda: packed(_page(page, *texts)), key=f"{_KEY}-file",
                file_name=f"{slug(usual, navigation.current().path)}.zip", mime="application/zip",
                on_click="ignore",
            )  # fmt: skip
        if problem:
            st.text(problem)


def packed(page: PageRun) -> bytes:
    """The file of a page, with pictures of its charts, of those of a usual size.

    Raises:
        BundleError, ExportError: what is wrong, in one sentence.
    """
    places = dict(widths(page.seen, _PAGE_WIDTH))
    sized = {name: _sized(spec, places[name]) for name, spec in page.charts.items()}
    return page_run.write(replace(page, pictures=fitting(export.pictures(sized))))


def _sized(spec: Spec, width: float) -> Spec:
    """The chart as wide as its place, if it follows that; see :func:`.theme.finished`."""
    match spec:
        case {"autosize": {"type": "fit-x"}}:
            return {**spec, "width": round(width - _GAP)}
    return spec


def _page(page: _Seen, name: str, note: str) -> PageRun:
    record, versions = page.record, bundle.versions()
    panels = tuple(
        Bundle(request=request, result=result, title=_title(request), versions=versions)
        for request, result in page.results
    )
    drawn = {name: made() if callable(made) else made for name, made in record.charts.items()}
    return PageRun(
        panels=panels, name=name, note=note, link=page.link, seen=record.seen,
        charts={name: charts.unpacked(spec) for name, spec in drawn.items()},
        tables=record.tables,
    )  # fmt: skip


def _title(request: Request) -> str:
    """What a request is called beside the others of its page."""
    seed = f"seed {request.seed}" if request.seed else ""
    parts = (request.task, request.model, request.scoring, request.data, seed)
    return one_line(", ".join(filter(None, parts)))


def _texts(usual: str) -> tuple[str, str]:
    """The name and the note that were written, as a run may have them."""
    name, note = (str(st.session_state.get(key) or "") for key in (_NAME, _NOTE))
    return one_line(name) or usual, lines(note)


def _keep(seen: _Seen, state: str) -> None:
    try:
        page = _page(seen, *_texts(seen.usual))
        visitor = owner.visitor()
        visitor.see_that_it_makes(_KEEPING)
        kept = run_store().keep(
            replace(page, picture=_picture(page)),
            source=navigation.current().path,
            owner=visitor.owner,
        )
        st.session_state[state] = (kept.id, "")
    except (BundleError, StorageError, ValueError) as error:
        reason = translated(str(error))
        st.session_state[state] = ("", gettext("Not kept: {reason}", reason=reason))


def _picture(page: PageRun) -> bytes:
    """Its first chart of every panel, or its first ones; empty where they cannot be painted."""
    groups = (one for one in whole(page.seen.blocks) if isinstance(one, Group) and one.letter)
    drawn = ((one.title, [block for block in whole(one.blocks) if isinstance(block, Chart)])
             for one in groups)  # fmt: skip
    panels = [Titled(title, page.charts[found[0].name]) for title, found in drawn if found]
    charts = panels or [Titled("", spec) for spec in page.charts.values() if not is_scale(spec)]
    try:
        entry = navigation.current()
        made = preview(charts, entry.said(entry.title, current())) if charts else b""
    except ExportError:
        return b""
    return made if len(made) <= LARGEST_PICTURE else b""
