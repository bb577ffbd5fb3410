"""The menu of a panel that takes its result out of the page, as files.

Nothing is made before it is asked for: the menu is drawn when it is opened, a file when it is
clicked, on a thread that no session waits for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts import PANEL_COLOURS, export, frames
from dashboard.charts.run_charts import run_charts
from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result
from dashboard.storage import bundle
from dashboard.storage.bundle import Bundle, slug
from dashboard.storage.entries import fitting
from dashboard.ui import navigation
from dashboard.ui.speaking import spoken_now
from dashboard.ui.widgets import plain

_ICON = ":material/download:"
_HELP = gettext_noop("Export")
_TABLES = beside(__file__, "words.toml")["results"]  # what tables are called that most have

Chart = export.AnySpec | Callable[[], export.AnySpec]


class Asked(NamedTuple):
    """What asked for a result: the request, and parameters of this page's link that ask it."""

    request: Request
    link: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class _Panel:
    asked: Asked | None
    result: Result
    charts: Mapping[str, Chart]
    key: str
    title: str

    @property
    def file(self) -> str:
        name = slug(self.title, navigation.current().path)
        return slug(f"{name} {self.asked.request.key[:8]}") if self.asked else name


@st.fragment
def menu(
    asked: Asked | None, result: Result | Callable[[], Result], charts: Mapping[str, Chart],
    key: str, *, title: str,
) -> None:  # fmt: skip
    """A button that opens the menu; call it where the panel has its other buttons.

    Args:
        asked: None where there is no run to take out, only charts and tables.
        result: a function is called once the menu is open.
        charts: as they are seen, by a name for their reader; functions are called when a file of
            theirs is asked for, on another thread, so they may not use Streamlit.
        key: of the panel, for the widgets' keys.
        title: what the panel is called in a file.
    """
    if (letter := key.removeprefix("panel-")) != key:
        label = gettext("Export panel {letter}: {title}", letter=letter, title=title)
    else:
        what = translated(key.replace("-", " "))
        label = gettext("Export {what}: {title}", what=what, title=title)
    opened = st.popover(
        plain(label), icon=_ICON, type="tertiary", help=gettext(_HELP), key=f"{key}-export",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    held = result() if callable(result) else result
    panel = _Panel(asked=asked, result=held, charts=charts, key=key, title=title)
    with opened:
        if charts:
            _pictures(panel)
        if held.tables:
            st.caption(gettext("Tables as CSV"))
            with _buttons(f"{key}-export-tables"):
                for name, table in sorted(held.tables.items()):
                    said, make = _TABLES.get(name, name), partial(frames.table_csv, table)
                    file = f"{panel.file}-{slug(said)}.csv"
                    _download(translated(said), make, file, "text/csv", key)
        if asked:
            st.caption(gettext("The whole panel, for another dashboard"))
            with _buttons(f"{key}-export-run"):
                make = partial(packed, partial(_bundle, panel, asked))
                _download(gettext("Bundle"), make, f"{panel.file}.zip", "application/zip", key)


def panel_menu(
    asked: Asked, event: Event | None, letter: str, title: str, vmax: float | None = None
) -> None:
    """What may be taken out of a panel, once it has a result; ``vmax`` ends its colour scale."""
    key = f"panel-{letter}"
    if event is None or event.result is None:
        waiting(key)
        return
    charts = run_charts(event.result, colour=PANEL_COLOURS[letter], vmax=vmax)
    menu(asked, event.result, charts, key, title=title)


def waiting(key: str) -> None:
    """The same button while there is no result yet, so that nothing moves when it comes."""
    st.button(
        gettext(_HELP), icon=_ICON, type="tertiary", disabled=True, key=f"{key}-export-waiting"
    )


def _pictures(panel: _Panel) -> None:
    chosen = next(iter(panel.charts))
    if len(panel.charts) > 1:
        chosen = st.selectbox(
            gettext("Chart"), list(panel.charts), format_func=translated,
            key=f"{panel.key}-export-chart",
        )  # fmt: skip
    else:
        st.caption(gettext("Chart"))
    chart, heading = panel.charts[chosen], f"{panel.title}: {translated(chosen)}"
    with _buttons(f"{panel.key}-export-pictures"):
        for kind in export.FORMATS:
            file = f"{panel.file}-{slug(chosen)}{kind.suffix}"
            make = spoken_now(partial(_made, kind, chart, heading))
            _download(kind.label, make, file, kind.mime, panel.key)


def _bundle(panel: _Panel, asked: Asked) -> Bundle:
    return Bundle(
        request=asked.request, result=panel.result, title=panel.title,
        link=navigation.address(navigation.current(), asked.link),
        charts={slug(name): _spec(chart) for name, chart in panel.charts.items()},
        versions=bundle.versions(),
    )  # fmt: skip


def _spec(chart: Chart) -> dict[str, Any]:
    drawn = chart() if callable(chart) else chart
    return dict(drawn) if isinstance(drawn, Mapping) else drawn.to_dict(validate=False)


def packed(make: Callable[[], Bundle]) -> bytes:
    """A panel's bundle, with pictures of its charts, of those of a usual size.

    BundleError, ExportError: what is wrong, in one sentence.
    """
    made = make()
    return bundle.write(replace(made, pictures=fitting(export.pictures(made.charts))))


def _buttons(key: str) -> DeltaGenerator:
    return st.container(horizontal=True, gap="xsmall", key=key)


def _download(label: str, make: Callable[[], bytes], file: str, mime: str, key: str) -> None:
    st.download_button(
        plain(label), data=make, file_name=file, mime=mime, on_click="ignore",
        key=f"{key}-export-{slug(file)[-50:]}-{slug(label)}",
    )  # fmt: skip


def _made(kind: export.Format, chart: Chart, title: str) -> bytes:
    return kind.make(chart() if callable(chart) else chart, title)
