"""Where a run came from: what was asked, what came of it, and the links to both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from dashboard.language import gettext
from dashboard.storage.bundle import Bundle
from dashboard.storage.page_run import PageRun
from dashboard.storage.run import PanelRecord
from dashboard.ui import export
from dashboard.ui.widgets import plain

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
