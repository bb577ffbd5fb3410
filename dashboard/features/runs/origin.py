"""Where a run came from: what was asked, what came of it, and the links to both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from dashboard.storage.bundle import Bundle

_LONGEST_FACT = 200


def origin(held: Bundle, seen: str) -> None:
    """The request and the facts of a run, and the links to it and to its request.

    Args:
        seen: the whole link to the run.
    """
    st.subheader("Where it came from", anchor=False)
    asked, came = st.columns(2, gap="medium")
    with asked:
        _facts("What was asked", _asked(held))
    with came:
        _facts("What came of it", _came(held))
    st.caption("This run, as it was seen")
    st.code(seen, language=None, wrap_lines=True)
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
            yield from ((f"{name}: {inner}", each) for inner, each in value.items())
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
    table = pd.DataFrame(rows, columns=[title, "is"])
    st.dataframe(table, hide_index=True, alt=title)


def _text(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text[:_LONGEST_FACT]
