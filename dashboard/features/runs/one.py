"""One run: the page as it was seen, and where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from dashboard import language
from dashboard.charts.run_charts import check_drawable, run_charts
from dashboard.features.runs import card
from dashboard.features.runs.bundle_import import LEFT_OUT
from dashboard.features.runs.replay import replay
from dashboard.features.runs.view import RunsView
from dashboard.language import gettext, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage.bundle import Bundle
from dashboard.storage.files import StorageError
from dashboard.storage.page_run import PageRun
from dashboard.storage.run import PanelRecord, Run
from dashboard.ui import export, figure_menu, layout
from dashboard.ui.figure_menu import Made
from dashboard.ui.owner import run_store
from dashboard.ui.session import Session, address
from dashboard.ui.speaking import localised
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_LONGEST_FACT = 200
_RECORDED = {"torch", "environment", "data_sha256", "plugin", "plugins"}  # facts of the record


def origin(page: PageRun, made: Sequence[PanelRecord], seen: str) -> None:
    """The request and the facts of every panel, and the links to the run and to its request.

    Args:
        made: the records of the panels.
        seen: the whole link to the run.
    """
    st.header(gettext("Where it came from"), anchor=False)
    alone = len(page.panels) == 1
    for number, panel in enumerate(page.panels):
        record = made[number] if number < len(made) else None
        with st.expander(plain(panel.title) or plain(panel.request.task), expanded=alone):
            asked, came = st.columns(2, gap="medium")
            with asked:
                _facts(gettext("What was asked"), _asked(panel))
            with came:
                _facts(gettext("What came of it"), _came(panel, record))
            export.menu(None, panel.result, {}, f"run-{number + 1}", title=panel.title)
    st.caption(gettext("This run, as it was seen"))
    st.code(seen, language=None, wrap_lines=True)
    if page.link:
        st.caption(gettext("The request, to be computed again where the plugins are installed"))
        st.code(_page_address(page.link), language=None, wrap_lines=True)


def _page_address(link: str) -> str:
    base = urlsplit(st.context.url or "")
    folder = base.path.rstrip("/").rpartition("/")[0]
    return base._replace(path=folder, query="", fragment="").geturl() + link


def _asked(panel: Bundle) -> Iterable[tuple[str, Any]]:
    request = panel.request
    for name in ("task", "model", "scoring", "data", "seed", "device"):
        yield name, getattr(request, name)
    yield from request.parameters
    yield from request.options


def _came(panel: Bundle, record: PanelRecord | None) -> Iterable[tuple[str, Any]]:
    """What the record says; figures and texts among the facts; and the programs that wrote it."""
    if record is not None:
        for name in ("torch", "threads", "contract", "commit", "data_sha256"):
            yield name, getattr(record, name) or ""
        yield from ((f"plugin: {name}", version) for name, version in record.plugins.items())
    for name, value in panel.result.facts.items():
        if isinstance(value, Mapping):
            if name not in _RECORDED:
                yield from ((f"{name}: {inner}", each) for inner, each in value.items())
        elif name not in _RECORDED:
            yield name, value
    yield from panel.versions.items()


def _facts(title: str, facts: Iterable[tuple[str, Any]]) -> None:
    rows = [
        (name, text)
        for name, value in facts
        if isinstance(value, bool | int | float | str) and (text := _text(value))
    ]
    # A data frame shows texts as they stand; a table would read them as Markdown.
    table = pd.DataFrame(rows, columns=[title, gettext("is")])
    st.dataframe(table, hide_index=True, alt=title)


def _text(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text[:_LONGEST_FACT]


def one(session: Session[RunsView], id: str, link: Mapping[str, str]) -> None:
    """Draw the run with that id, or say why it cannot be shown.

    Args:
        link: parameters of the link to it.
    """
    st.button(
        gettext("All runs"),
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=session.change,
        args=(RunsView(),),
    )
    try:
        run = run_store().find(id)
        page, made = _opened(id, run.digest), run_store().panels(id)
    except (KeyError, StorageError) as error:
        with st.container(border=True, key="run-missing"):
            title = gettext("This run cannot be shown")
            st.markdown(f":material/error: **{title}**")
            st.text(translated(str(error.args[0])))
            st.caption(gettext("Whoever has it can export it, to be imported here."))
        return
    foreign = run.origin == "imported"
    words, buttons = st.columns([3, 2], vertical_alignment="center")
    with words:
        card.title(run)
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        card.buttons(session, run)
        own = {} if foreign else page.charts
        if own or page.tables:
            # Charts and tables alone: the page's own button gives the run as it was kept.
            drawn = {name.replace("-", " "): spec for name, spec in own.items()}
            export.menu(None, Result(tables=page.tables), drawn, "run-seen", title=run.name)
        if own:
            figure_menu.menu(lambda: page.seen, own, partial(_made, run, page, address(link)))
    if run.note:
        with st.container(border=True, key="run-note"):
            st.text(run.note)
    if page.seen.blocks:
        replay(page, foreign=foreign)
    if foreign:
        _drawn_anew(run, page)
    origin(page, made, address(link))


def _made(run: Run, page: PageRun, link: str) -> Made:
    """What the run's figures and BibTeX are made of; references are those that are known here."""
    results = [(panel.request, panel.result) for panel in page.panels]
    known = workbench().catalogue()
    installed = known if isinstance(known, Catalogue) else Catalogue()
    return Made(
        title=run.name, link=link, results=results, catalogue=localised(installed),
        installed=installed,
    )  # fmt: skip


@st.cache_resource(max_entries=4, show_spinner=False)  # each may have 128 MB
def _opened(id: str, digest: str) -> PageRun:
    """A run as it was read, once: what was seen never changes, and name and note are not used."""
    return run_store().open(id)


def _drawn_anew(run: Run, page: PageRun) -> None:
    """What the tables of an imported file hold, drawn here; its own charts never are."""
    found = {number: _redrawn(run.id, number, language.current(), panel)
             for number, panel in enumerate(page.panels, start=1)}  # fmt: skip
    seen = bool(page.seen.blocks)
    if seen and not any(found.values()):
        return
    alone = len(page.panels) == 1
    with st.expander(gettext("Drawn anew from its tables")) if seen else st.container():
        if not seen:
            st.caption(gettext("Drawn here from the tables of the imported file."))
        with st.container() if alone else layout.grid(len(page.panels)):
            for number, panel in enumerate(page.panels, start=1):
                with st.container(key=f"run-panel-{number}"):
                    _panel(number, panel, found[number], alone)


def _panel(number: int, panel: Bundle, charts: Mapping[str, Any], alone: bool) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.markdown(f"**{plain(panel.title) or plain(panel.request.task)}**", width="content")
        with st.container(width="content"):
            export.menu(None, Result(), charts, f"run-anew-{number}", title=panel.title)
    left_out = panel.result.facts.get(LEFT_OUT)
    for name in left_out if isinstance(left_out, Mapping) else ():
        said = gettext("The picture {name} was no PNG and was left out.", name=plain(name))
        st.caption(f":material/warning: {said}")
    if charts:
        _draw(number, charts, alone)
    elif panel.pictures:
        _pictures(panel)
    else:
        st.caption(gettext("This panel has tables, but nothing to be drawn from them here."))


@st.cache_resource(max_entries=16, show_spinner=False)
def _redrawn(id: str, number: int, spoken: str, _panel: Bundle) -> dict[str, Any]:
    try:
        check_drawable(_panel.result)
        made = run_charts(_panel.result)
        return {name: make().to_dict(validate=False) for name, make in made.items()}
    except Exception:  # tables of a stranger may hold anything under any name
        return {}


def _draw(number: int, charts: Mapping[str, Any], alone: bool) -> None:
    # A single chart is not stretched over the whole page.
    with layout.grid(2) if alone else st.container():
        for name, spec in charts.items():
            with st.container(key=f"run-chart-{number}-{export.slug(name)}"):
                st.caption(plain(translated(name)))
                stretch = "width" in spec and "facet" not in spec
                st.vega_lite_chart(spec, width="stretch" if stretch else "content",
                                     alt=translated(name))  # fmt: skip


def _pictures(panel: Bundle) -> None:
    for name, picture in panel.pictures.items():
        if name.endswith(".png"):
            st.image(card.data_address(picture), caption=plain(name))
