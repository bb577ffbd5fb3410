"""Runs: what was kept from a page or brought from elsewhere, seen again without computing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from dashboard.charts.stored import check_drawable, stored_charts
from dashboard.controls import plain
from dashboard.pages import export, parts
from dashboard.runs.archive import LARGEST_ARCHIVE, MB
from dashboard.runs.bundle import Bundle, BundleError
from dashboard.runs.offers import Catalogue
from dashboard.runs.runs_link import RunsView, format_runs, parse_runs
from dashboard.runs.store import Kept, Runs, StoreError
from dashboard.state import Visit, address, read_link, visit, write_link

_NOTHING_INSTALLED = Catalogue()  # this page needs no plugin, and no worker
_ROWS = 20
_UPLOAD, _PROBLEM = "runs-import", "runs problem"
_LONGEST_FACT = 200
_ORIGINS = {"kept": "kept from", "imported": "imported from"}


def show() -> None:
    """Draw the page."""
    buttons = parts.heading(
        "Runs",
        "What was kept, or brought from another dashboard: shown from what was stored, "
        "nothing is computed again.",
    )
    here = visit("runs")
    read_link(here, _NOTHING_INSTALLED, parse_runs, format_runs)
    problems = here.problems
    here.settle(here.view)
    link = format_runs(here.view, _NOTHING_INSTALLED)
    write_link(here, link)
    with buttons:
        _import(here)
    parts.notice(problems)
    _problem()
    if here.view.id:
        _one(here, here.view.id, link)
    else:
        _all(here)


def _import(here: Visit) -> None:
    with st.popover("Import a bundle", icon=":material/upload_file:", type="tertiary"):
        st.caption("A zip that a dashboard like this one wrote. What is wrong with it is said.")
        st.file_uploader(
            "Bundle",
            type=["zip"],
            key=_UPLOAD,
            max_upload_size=LARGEST_ARCHIVE // MB,
            on_change=_take,
            args=(here,),
            label_visibility="collapsed",
        )


def _problem() -> None:
    """What became of the last import or deletion, if it failed; on the page, not in a menu."""
    if problem := st.session_state.get(_PROBLEM):
        with st.container(border=True, key="runs-problem"):
            st.text(problem)


def _take(here: Visit) -> None:
    file = st.session_state[_UPLOAD]
    st.session_state.pop(_PROBLEM, None)
    if file is None:
        return
    try:
        here.change(RunsView(id=Runs().take_in(file.getvalue(), file.name).id))
    except (BundleError, StoreError) as error:
        st.session_state[_PROBLEM] = f"Refused: {error}."


def _all(here: Visit) -> None:
    runs = Runs()
    kept = runs.all()
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
                    on_click=here.change,
                    args=(RunsView(id=run.id),),
                )
                _save_and_delete(here, run)
    if len(kept) > len(shown):
        st.button(f"Show {len(kept) - len(shown):,} more", on_click=_show_more)


def _show_more() -> None:
    st.session_state["runs-shown"] = st.session_state.get("runs-shown", _ROWS) + _ROWS


def _title(run: Kept) -> None:
    st.markdown(f"**{plain(run.title) or plain(run.task)}**")
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.when))
    st.caption(f"{when} · {_ORIGINS[run.origin]} {plain(run.source) or 'a page'}")


def _save_and_delete(here: Visit, run: Kept) -> None:
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
            "Delete this run", key=f"run-{run.id}-gone", on_click=_delete, args=(here, run.id)
        )


def _packed(run: Kept) -> bytes:
    """With pictures where the charts are our own: a stranger's are never painted here."""
    if run.origin == "imported":
        return Runs().packed(run.id)
    return export.packed(lambda: Runs().open(run.id))


def _delete(here: Visit, id: str) -> None:
    st.session_state.pop(_PROBLEM, None)
    try:
        Runs().delete(id)
        here.change(RunsView())
    except StoreError as error:
        st.session_state[_PROBLEM] = f"Not deleted: {error}."


def _one(here: Visit, id: str, link: Mapping[str, str]) -> None:
    st.button(
        "All runs",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=here.change,
        args=(RunsView(),),
    )
    try:
        run = Runs().find(id)
        held = _opened(id, run.digest)
    except (KeyError, StoreError) as error:
        with st.container(border=True, key="run-missing"):
            st.markdown(":material/error: **This run cannot be shown**")
            st.text(str(error.args[0]))
            st.caption("Whoever has it can export it as a bundle, to be imported here.")
        return
    charts = _charts(run, held)
    words, buttons = st.columns([3, 2], vertical_alignment="center")
    with words:
        _title(run)
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        with st.container(width="content"):
            export.menu(held.request, held.result, charts, "run", title=held.title, keeps=False)
        _save_and_delete(here, run)
    _draw(run, held, charts)
    _origin(held, link)


@st.cache_resource(max_entries=16, show_spinner=False)
def _opened(id: str, digest: str) -> Bundle:
    """A run as it was read, once: it never changes."""
    return Runs().open(id)


def _charts(run: Kept, held: Bundle) -> dict[str, Any]:
    """As they were seen, if they were drawn here; a stranger's are drawn anew from the tables."""
    if run.origin == "kept":
        return {name.replace("-", " "): spec for name, spec in held.charts.items()}
    return _redrawn(run.id, held)


@st.cache_resource(max_entries=16, show_spinner=False)
def _redrawn(id: str, _held: Bundle) -> dict[str, Any]:
    try:
        check_drawable(_held.result)
        made = stored_charts(_held.result)
        return {name: make().to_dict(validate=False) for name, make in made.items()}
    except Exception:  # tables of a stranger may hold anything under any name
        return {}


def _draw(run: Kept, held: Bundle, charts: Mapping[str, Any]) -> None:
    if not charts and not held.pictures:
        st.caption("This run has tables, but nothing to be drawn from them here.")
    if run.origin == "imported":
        st.caption("Drawn here from the tables of the bundle.")
    if not charts:
        for name, picture in held.pictures.items():
            if name.endswith(".png"):
                st.image(picture, caption=plain(name))
        return
    with parts.grid(2):  # a single chart is not stretched over the whole page
        for name, spec in charts.items():
            with st.container(key=f"run-chart-{export.slug(name)}"):
                st.caption(plain(name))
                stretch = "width" in spec and "facet" not in spec
                st.vega_lite_chart(spec, width="stretch" if stretch else "content", alt=name)


def _origin(held: Bundle, link: Mapping[str, str]) -> None:
    st.subheader("Where it came from", anchor=False)
    asked, came = st.columns(2, gap="medium")
    with asked:
        _facts("What was asked", _asked(held))
    with came:
        _facts("What came of it", _came(held))
    st.caption("This run, as it was seen")
    st.code(address(link), language=None, wrap_lines=True)
    if held.link:
        st.caption("The request, to be computed again where the plugins are installed")
        st.code(_page_address(held.link), language=None, wrap_lines=True)


def _page_address(link: str) -> str:
    base = urlsplit(st.context.url or "")
    folder = base.path.rstrip("/").rpartition("/")[0]
    return base._replace(path=folder, query="", fragment="").geturl() + link


def _asked(held: Bundle) -> Iterable[tuple[str, Any]]:
    request = held.request
    for name in ("task", "model", "scoring", "data", "seed", "device"):
        yield name, getattr(request, name)
    yield from request.parameters
    yield from request.options


def _came(held: Bundle) -> Iterable[tuple[str, Any]]:
    """Figures, texts and versions among the facts; and the programs that wrote the bundle."""
    for name, value in held.result.facts.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}: {inner}", held) for inner, held in value.items())
        else:
            yield name, value
    yield from held.versions.items()


def _facts(title: str, facts: Iterable[tuple[str, Any]]) -> None:
    rows = [
        (name, text)
        for name, value in facts
        if isinstance(value, bool | int | float | str) and (text := _text(value))
    ]
    # A data frame shows texts as they stand; a table would read them as Markdown.
    frame = pd.DataFrame(rows, columns=[title, "is"])
    st.dataframe(frame, hide_index=True, alt=title)


def _text(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text[:_LONGEST_FACT]
