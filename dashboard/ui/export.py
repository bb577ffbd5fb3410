"""The menu of a panel that takes its result out of the page, as files.

Nothing is made before it is asked for: the menu is drawn when it is opened, a file when it is
clicked, on a thread that no session waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts import PANEL_COLOURS, export, frames
from dashboard.charts.run_charts import run_charts
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.request import Request, Result
from dashboard.storage import bundle
from dashboard.storage.bundle import Bundle, slug
from dashboard.storage.entries import fitting
from dashboard.ui import navigation
from dashboard.ui.speaking import spoken_now
from dashboard.ui.widgets import plain

_ICON = ":material/download:"
_HELP = gettext_noop("Export")
_TABLES = {  # what tables are called that most results have
    "maps": gettext_noop("weights"), "curve": gettext_noop("curve"),
    "points": gettext_noop("points"), "history": gettext_noop("history"),
    "left_out": gettext_noop("points left out"), "errors": gettext_noop("errors"),
}  # fmt: skip


Chart = export.AnySpec | Callable[[], export.AnySpec]


@dataclass(frozen=True, kw_only=True)
class _Panel:
    """A panel with its result; see :func:`menu`."""

    request: Request | None
    result: Result
    charts: Mapping[str, Chart]
    key: str
    title: str
    link: str

    @property
    def file(self) -> str:
        """The beginning of every file's name."""
        name = slug(self.title, navigation.current().path)
        return slug(f"{name} {self.request.key[:8]}") if self.request else name

    def bundle(self, request: Request) -> Bundle:
        """The whole panel, without pictures."""
        return Bundle(
            request=request,
            result=self.result,
            title=self.title,
            link=self.link,
            charts={slug(name): _spec(chart) for name, chart in self.charts.items()},
            versions=bundle.versions(),
        )


def _spec(chart: Chart) -> dict[str, Any]:
    drawn = chart() if callable(chart) else chart
    return dict(drawn) if isinstance(drawn, Mapping) else drawn.to_dict(validate=False)


def menu(
    request: Request | None,
    result: Result,
    charts: Mapping[str, Chart],
    key: str,
    *,
    title: str = "",
    link: Mapping[str, str] | None = None,
) -> None:
    """A button that opens the menu; call it where the panel has its other buttons.

    Args:
        request: of the result; None where there is no run to take out, only charts and tables.
        charts: as they are seen, by a name for their reader; functions are called only when a
            file of theirs is asked for, on another thread, so they may use neither Streamlit nor
            what a page changes later.
        key: of the panel, for the widgets' keys.
        title: what the panel is called in a file.
        link: parameters of this page's link that ask for this result.
    """
    panel = _Panel(
        request=request,
        result=result,
        charts=charts,
        key=key,
        title=title or (request.task if request else key),
        link=navigation.address(navigation.current(), link or {}),
    )
    _menu(panel)


def panel_menu(
    request: Request,
    event: Event | None,
    letter: str,
    title: str,
    link: Mapping[str, str],
    vmax: float | None = None,
) -> None:
    """What may be taken out of a panel, once it has a result.

    Args:
        event: how the job ended, or None while it has not.
        title: what the panel is called in a file.
        link: parameters of the link to this panel alone.
        vmax: the end of the colour scale that all panels share.
    """
    if event is None or event.result is None:
        waiting(f"panel-{letter}")
        return
    charts = run_charts(event.result, colour=PANEL_COLOURS[letter], vmax=vmax)
    menu(request, event.result, charts, f"panel-{letter}", title=title, link=link)


def waiting(key: str) -> None:
    """The same button while there is no result yet, so that nothing moves when it comes."""
    st.button(
        gettext(_HELP), icon=_ICON, type="tertiary", disabled=True, key=f"{key}-export-waiting"
    )


@st.fragment
def _menu(contents: _Panel) -> None:
    letter = contents.key.removeprefix("panel-")
    if letter != contents.key:
        label = gettext("Export panel {letter}: {title}", letter=letter, title=contents.title)
    else:
        what = contents.key.replace("-", " ")
        label = gettext("Export {what}: {title}", what=translated(what), title=contents.title)
    opened = st.popover(
        plain(label), icon=_ICON, type="tertiary", help=gettext(_HELP),
        key=f"{contents.key}-export", on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        if contents.charts:
            _pictures(contents)
        if contents.result.tables:
            _tables(contents)
        if contents.request:
            _bundle(contents, contents.request)


def _pictures(contents: _Panel) -> None:
    chosen = next(iter(contents.charts))
    if len(contents.charts) > 1:
        chosen = st.selectbox(
            gettext("Chart"), list(contents.charts), format_func=translated,
            key=f"{contents.key}-export-chart",
        )  # fmt: skip
    else:
        st.caption(gettext("Chart"))
    chart, heading = contents.charts[chosen], f"{contents.title}: {translated(chosen)}"
    with _buttons(f"{contents.key}-export-pictures"):
        for kind in export.FORMATS:
            file = f"{contents.file}-{slug(chosen)}{kind.suffix}"
            make = spoken_now(partial(_made, kind, chart, heading))
            _download(kind.label, make, file, kind.mime, contents.key)


def _tables(contents: _Panel) -> None:
    st.caption(gettext("Tables as CSV, one fact a row"))
    with _buttons(f"{contents.key}-export-tables"):
        for name, table in sorted(contents.result.tables.items()):
            label = _TABLES.get(name, name)
            file = f"{contents.file}-{slug(label)}.csv"
            _download(
                translated(label), partial(frames.table_csv, table), file, "text/csv", contents.key
            )


def _bundle(contents: _Panel, request: Request) -> None:
    st.caption(gettext("The whole panel, for another dashboard"))
    with _buttons(f"{contents.key}-export-run"):
        make = partial(packed, partial(contents.bundle, request))
        _download(gettext("Bundle"), make, f"{contents.file}.zip", "application/zip", contents.key)


def packed(make: Callable[[], Bundle]) -> bytes:
    """A panel's bundle, with pictures of its charts, of those of a usual size.

    Raises:
        BundleError, ExportError: what is wrong, in one sentence.
    """
    made = make()
    return bundle.write(replace(made, pictures=fitting(export.pictures(made.charts))))


def _buttons(key: str) -> DeltaGenerator:
    return st.container(horizontal=True, gap="xsmall", key=key)


def _download(label: str, make: Callable[[], bytes], file: str, mime: str, key: str) -> None:
    st.download_button(
        plain(label),
        data=make,
        file_name=file,
        mime=mime,
        key=f"{key}-export-{slug(file)[-50:]}-{slug(label)}",
        on_click="ignore",
    )


def _made(kind: export.Format, chart: Chart, title: str) -> bytes:
    return kind.make(chart() if callable(chart) else chart, title)
