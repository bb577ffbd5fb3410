"""The menu of a panel that takes its result out of the page: as files, or kept as a run.

Nothing is made before it is asked for: the menu is drawn when it is opened, a file when it is
clicked, on a thread that no session waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from dashboard.charts import PANEL_COLOURS, export, tidy
from dashboard.charts.stored import stored_charts
from dashboard.controls import plain
from dashboard.engine.protocol import Event
from dashboard.runs import bundle
from dashboard.runs.bundle import Bundle, BundleError, slug
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.store import Runs, StoreError

Chart = export.AnySpec | Callable[[], export.AnySpec]

_ICON = ":material/download:"
_HELP = "Export, or keep this run"


def menu(
    request: Request | None,
    result: Result,
    charts: Mapping[str, Chart],
    key: str,
    *,
    title: str = "",
    link: Mapping[str, str] | None = None,
    keeps: bool = True,
) -> None:
    """A button that opens the menu; call it where the panel has its other buttons.

    Args:
        request: of the result; None where it was made from several, so that there is no run.
        charts: as they are seen, by a name for their reader; functions are called only when a
            file of theirs is asked for, on another thread, so they may use neither Streamlit nor
            what a page changes later.
        key: of the panel, for the widgets' keys.
        title: what a run that is kept is called.
        link: parameters of the page's link that ask for this result; else those of the page as
            it is.
        keeps: whether the run may be kept.
    """
    name = title or (request.task if request else key)
    _menu(request, result, charts, key, name, keeps, _here(link))


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
        title: what a run that is kept is called.
        link: parameters of the link to this panel alone.
        vmax: the end of the colour scale that all panels share.
    """
    if event is None or event.result is None:
        waiting(f"panel-{letter}")
        return
    charts = stored_charts(event.result, colour=PANEL_COLOURS[letter], vmax=vmax)
    menu(request, event.result, charts, f"panel-{letter}", title=title, link=link)


def waiting(key: str) -> None:
    """The same button while there is no result yet, so that nothing moves when it comes."""
    st.button("", icon=_ICON, type="tertiary", disabled=True, key=f"{key}-export-waiting")


@st.fragment
def _menu(
    request: Request | None,
    result: Result,
    charts: Mapping[str, Chart],
    key: str,
    title: str,
    keeps: bool,
    link: str,
) -> None:
    opened = st.popover(
        "", icon=_ICON, type="tertiary", help=_HELP, key=f"{key}-export", on_change="rerun"
    )
    if not opened.open:
        return

    def run() -> Bundle:
        return Bundle(
            request=request,
            result=result,
            title=title,
            link=link,
            charts={slug(name): _spec(chart) for name, chart in charts.items()},
            versions=bundle.versions(),
        )

    with opened:
        name = slug(f"{title} {request.key[:8]}" if request else title)
        if charts:
            _pictures(charts, key, title, name)
        if result.tables:
            _tables(result, key, name)
        if request:
            _run(run, key, name, request.key, keeps, link)


def _pictures(charts: Mapping[str, Chart], key: str, title: str, name: str) -> None:
    chosen = next(iter(charts))
    if len(charts) > 1:
        chosen = st.selectbox("Chart", list(charts), key=f"{key}-export-chart")
    else:
        st.caption("Chart")
    chart = charts[chosen]
    file = f"{name}-{slug(chosen)}"
    heading = f"{title}: {chosen}"
    kinds: dict[str, tuple[str, str, Callable[[export.AnySpec], bytes]]] = {
        "PNG": (f"{file}.png", "image/png", export.png),
        "PNG, 300 dpi": (
            f"{file}-300dpi.png", "image/png", partial(export.png, scale=export.PRINT),
        ),
        "SVG": (f"{file}.svg", "image/svg+xml", export.svg),
        "HTML": (f"{file}.html", "text/html", lambda spec: export.html(spec, heading)),
        "Vega-Lite": (f"{file}.vl.json", "application/json", export.vega_lite),
    }  # fmt: skip
    with _buttons(f"{key}-export-pictures"):
        for label, (file_name, mime, make) in kinds.items():
            _download(label, partial(_made, make, chart), file_name, mime, key)


def _tables(result: Result, key: str, name: str) -> None:
    st.caption("Tables as CSV, one fact a row")
    with _buttons(f"{key}-export-tables"):
        for table in sorted(result.tables):
            make = partial(tidy.table_csv, result.tables[table])
            label = "weights" if table == "maps" else table
            _download(label, make, f"{name}-{slug(label)}.csv", "text/csv", key)


def _run(
    run: Callable[[], Bundle], key: str, name: str, request: str, keeps: bool, link: str
) -> None:
    st.caption("The whole run, for another dashboard or for later")
    with _buttons(f"{key}-export-run"):
        _download("Bundle", partial(packed, run), f"{name}.zip", "application/zip", key)
        if not keeps:
            return
        state = f"kept {request} {link}"
        kept, problem = st.session_state.get(state, ("", ""))
        if kept:
            st.link_button("Kept: open it", f"runs?id={kept}", icon=":material/bookmark:")
        else:
            st.button(
                "Keep this run",
                icon=":material/bookmark_add:",
                key=f"{key}-export-keep",
                on_click=_keep,
                args=(run, state, link),
            )
    if problem:
        st.text(problem)


def packed(run: Callable[[], Bundle]) -> bytes:
    """A run's bundle, with pictures of its charts.

    Raises:
        BundleError, ExportError: what is wrong, in one sentence.
    """
    plainly = run()
    return bundle.write(replace(plainly, pictures=export.pictures(plainly.charts)))


def _keep(run: Callable[[], Bundle], state: str, link: str) -> None:
    try:
        page = urlsplit(link).path.strip("/") or "regression"
        st.session_state[state] = (Runs().keep(run(), page).id, "")
    except (BundleError, StoreError, ValueError) as error:
        st.session_state[state] = ("", f"Not kept: {error}")


def _buttons(key: str) -> Any:
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


def _made(make: Callable[[export.AnySpec], bytes], chart: Chart) -> bytes:
    return make(chart() if callable(chart) else chart)


def _spec(chart: Chart) -> dict[str, Any]:
    drawn = chart() if callable(chart) else chart
    return dict(drawn) if isinstance(drawn, Mapping) else drawn.to_dict(validate=False)


def _here(link: Mapping[str, str] | None) -> str:
    """The link to this page, without the server's address."""
    page = urlsplit(st.context.url or "").path.rstrip("/").rpartition("/")[2]
    query: Mapping[str, Any] = (
        {name: st.query_params.get_all(name) for name in st.query_params} if link is None else link
    )
    words = page if page.isascii() and page.isalpha() and page.islower() else ""
    return f"/{words}" + (f"?{urlencode(query, doseq=True)}" if query else "")
