"""The entries of one distribution, each with its formula and, on demand, its conformance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.distributions import Distribution
from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.ui import layout, results
from dashboard.ui.jobs import Jobs
from dashboard.ui.widgets import formula, plain

_CHECKED = "plugins checked"
_COLUMNS = 3
_RESULT_HEIGHT = 120  # px, of a card that is being checked


def checks(catalogue: Catalogue) -> list[Request]:
    """What a worker must check: what this session has asked for, if it is still there."""
    asked = st.session_state.setdefault(_CHECKED, [])
    installed = {
        (kind, name)
        for one in catalogue.distributions.values()
        for kind, names in one.offers().items()
        for name in names
    }
    return [_request(*each) for each in asked if each in installed]


def cards(jobs: Jobs, one: Distribution, catalogue: Catalogue) -> None:
    """A card for everything that the distribution brought."""
    for kind, names in one.offers().items():
        st.markdown(f"**{catalogue.kinds[kind].capitalize()}s**")
        with layout.grid(min(_COLUMNS, max(2, len(names)))):
            for name in names:
                with st.container(border=True, key=f"entry-{kind}-{name}", gap="xsmall"):
                    _card(catalogue.entry(kind, name), name)
                    _conformance(jobs, kind, name)


def _card(entry: Entry | Checkpoint | None, name: str) -> None:
    if entry is None:
        st.markdown(f"**{plain(name)}**")
        st.caption("It cannot be used; see above.")
        return
    st.markdown(f"**{plain(entry.title)}** · `{name}`")
    if isinstance(entry, Checkpoint):
        st.caption(plain(f"{entry.model} with {entry.scoring}, trained on {entry.corpus}"))
        return
    if entry.formula:
        formula(entry.formula)
    if entry.description:
        st.caption(plain(entry.description))
    if entry.reference:
        st.caption(plain(f"Reference: {entry.reference}"))


def _conformance(jobs: Jobs, kind: str, name: str) -> None:
    key = f"check-{kind}-{name}"
    asked = st.session_state[_CHECKED]
    if (kind, name) not in asked:
        st.button(
            "Check",
            key=key,
            icon=":material/fact_check:",
            type="tertiary",
            on_click=_ask,
            args=(kind, name),
            help="Whether it keeps every rule of the conformance kit, in a worker",
        )
        return
    request = _request(kind, name)
    results.results(jobs, request, _findings, _RESULT_HEIGHT, f"{key}-result", grows=True)


def _request(kind: str, name: str) -> Request:
    return Request.make("plugins", options={"kind": kind, "name": name})


def _ask(kind: str, name: str) -> None:
    st.session_state[_CHECKED] = [*st.session_state.get(_CHECKED, []), (kind, name)]


def _findings(result: Result) -> None:
    findings: Sequence[Mapping[str, Any]] = result.facts["findings"]
    broken = [each for each in findings if not each["passed"]]
    if broken:
        count = f"{len(broken)} of {len(findings)} rules broken"
        st.markdown(f":material/cancel: **{count}**")
    else:
        st.markdown(f":material/check_circle: **{len(findings)} rules kept**")
    for finding in broken:
        with st.container(gap=None):
            st.markdown(f":material/close: {_sentence(finding)}")
            st.text(finding["message"])
    kept = [each for each in findings if each["passed"]]
    if kept:
        with st.expander(f"The {len(kept)} rules that it keeps"):
            for finding in kept:
                waived = f" (expected to fail: {finding['waived']})" if finding["waived"] else ""
                st.caption(plain(f"✓ {_sentence(finding)}{waived}, {finding['seconds']:.2f} s"))


def _sentence(finding: Mapping[str, Any]) -> str:
    return plain(finding["rule"].replace("_", " "))
