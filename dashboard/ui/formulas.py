"""The formulas that a page's reader types, and those that its link names, read by a worker.

The page process knows nothing of the language of formulas. Before a page reads its link it asks a
worker for every formula that the link, the view or a text field holds; the catalogue of that run
has them. A field's formula is never waited for longer than a moment, and nothing else on the page
depends on it; without one of the link's the link cannot be read.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.backend import Event
from dashboard.language import gettext, translated
from dashboard.links.fields import LETTERS
from dashboard.links.link import Query
from dashboard.records.catalogue import Catalogue
from dashboard.records.formula import (
    LONGEST,
    LONGEST_NAME,
    Formula,
    Problem,
    formula_request,
    package_request,
)
from dashboard.records.request import FORMULA
from dashboard.ui import results
from dashboard.ui.jobs import Jobs
from dashboard.ui.session import asked_for
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_PAUSE = "150ms"  # after a key: the button below it follows before it can be pressed


def package_button(key: str, formula: Formula) -> None:
    """A button for the plugin that the formula would be: it asks for a name and downloads it.

    Args:
        key: begins those of its widgets.
    """
    with st.popover(
        gettext("Make it a package"), type="tertiary", icon=":material/deployed_code:",
        key=f"{key}-package-name",
        help=gettext("A plugin with this scoring and its test, to install and to change."),
    ):  # fmt: skip
        given = st.text_input(
            gettext("Name of the scoring"), key=f"{key}-package-called",
            max_chars=LONGEST_NAME, placeholder=formula.slug, live=_PAUSE,
        )  # fmt: skip
        st.caption(
            gettext(
                "It stands in links and in trained models, so choose it before you publish the "
                "package. Its title follows from it."
            )
        )
        name = " ".join(given.split())[:LONGEST_NAME]
        named = _named(key, formula, name) if name else formula
        st.download_button(
            gettext("Download the package"),
            data=partial(_zipped, named.files) if named else b"",
            file_name=f"{(named or formula).slug}.zip",
            mime="application/zip",
            key=f"{key}-package",
            on_click="ignore",
            type="primary",
            icon=":material/download:",
            disabled=named is None,
        )


def _named(key: str, formula: Formula, name: str) -> Formula | None:
    """The formula with a package of that name; None while a worker makes it, or refuses it."""
    if formula.entry is None:
        return None
    jobs, request = _package_jobs(key), package_request(typed(formula.entry.name), name)
    jobs.want([request])
    jobs.wait(results.PATIENCE)
    end = jobs.final(request)
    if end is None:
        _waiting(jobs)
        return None
    if end.result is None:
        _refused(end)
        return None
    return Formula.of(end.result.facts)


def _waiting(jobs: Jobs) -> None:
    def place() -> None:
        if jobs.settled():
            st.rerun()
        said = gettext("Writing the package …")
        st.caption(f":material/hourglass_top: {said}")

    st.fragment(run_every=jobs.pace(results.POLL))(place)()


def _refused(end: Event) -> None:
    said = end.note or gettext("The job was stopped before it was done.")
    st.error(plain(translated(said)))


def _package_jobs(key: str) -> Jobs:
    """This session's job that writes the package; it is no result of the page."""
    name = f"package {key}"
    if name not in st.session_state:
        bench, context = workbench(), get_script_run_ctx()
        client = context.session_id if context else ""
        st.session_state[name] = Jobs(bench.backend, lambda: bench.generation, client=client)
    return st.session_state[name]


def _zipped(files: Mapping[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(zipfile.ZipInfo(name), text)
    return held.getvalue()


# Seconds in which a formula must be understood. The largest take 15 ms, and the first of a worker
# half a second of its processor; a busy machine makes them several times as long.
MOST_SECONDS = 5.0
_WIDE = range(0xFF01, 0xFF5F)  # ！ to ～, in the order of ASCII
_NARROW = {wide: wide - 0xFF01 + ord("!") for wide in _WIDE} | {0x3000: " "}


def field_key(page: str, letter: str) -> str:
    """The key of the text field of one panel, or of the page's only one: its letter is empty."""
    return f"{page}-formula-{letter}" if letter else f"{page}-formula"


def read(
    catalogue: Catalogue, page: str, named: Callable[[Query, Any], Iterable[str]]
) -> Catalogue | None:
    """The catalogue with all formulas of a page; None while one that the page needs is read.

    Args:
        named: the formulas that a link, and a view if there is one, name.
    """
    query = asked_for()
    session = st.session_state.get(f"session {page}")
    needed = {*named(query, session.view if session else None)}
    fields = (st.session_state.get(field_key(page, letter)) or "" for letter in ("", *LETTERS))
    asked = needed | {text for field in fields if (text := typed(field))}
    texts = sorted(text for text in asked if len(text) <= LONGEST)
    jobs = _jobs(page)
    jobs.want(map(formula_request, texts))
    if not texts:
        return catalogue
    jobs.wait(results.PATIENCE)
    ends = {text: jobs.final(formula_request(text)) for text in texts}
    if any(ends[text] is None for text in needed.intersection(texts)):
        return None
    return catalogue.with_formulas({text: _formula(end) for text, end in ends.items() if end})


def typed(text: str) -> str:
    """A formula as it was typed, without ``=`` in front.

    Chinese keyboards write signs as wide as a character; they mean the same.
    """
    return text.translate(_NARROW).strip().removeprefix(FORMULA).strip()


def waiting(page: str) -> None:
    """Say that a formula is being read, and draw the page anew once it is."""
    jobs = _jobs(page)

    def place() -> None:
        if jobs.settled():
            st.rerun()
        said = gettext("Reading the formula …")
        st.caption(f":material/hourglass_top: {said}")

    st.fragment(run_every=jobs.pace(results.POLL))(place)()


def _formula(end: Event) -> Formula:
    if "time_limit" in end.facts:
        slow = gettext("reading it took too long and was stopped; write it with fewer steps")
        return Formula(problem=Problem(sentence=slow))
    if end.result is None:
        return Formula(problem=Problem(sentence=end.note or "the formula was not read; try again"))
    return Formula.of(end.result.facts)


def _jobs(page: str) -> Jobs:
    """This session's jobs that read formulas; they are no results of the page."""
    name = f"formulas {page}"
    if name not in st.session_state:
        bench, context = workbench(), get_script_run_ctx()
        client = context.session_id if context else ""
        st.session_state[name] = Jobs(
            bench.backend, lambda: bench.generation, client=client, time_limit=MOST_SECONDS
        )
    return st.session_state[name]
