"""The package that a typed scoring becomes: its name is chosen, then it is downloaded."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.backend import Event
from dashboard.language import gettext, translated
from dashboard.records.formula import LONGEST_NAME, Formula, package_request
from dashboard.ui import formulas, results
from dashboard.ui.jobs import Jobs
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
    jobs, request = _jobs(key), package_request(formulas.typed(formula.entry.name), name)
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


def _jobs(key: str) -> Jobs:
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
