"""What one distribution offers, each with its formula, and with its conformance on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.controls import formula, plain
from dashboard.pages import parts
from dashboard.runs.distributions import KINDS, Distribution
from dashboard.runs.offers import Catalogue, Checkpoint, Offer
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Jobs

_CHECKED = "plugins checked"
_COLUMNS = 3
_RESULT_HEIGHT = 120  # px, of a card that is being checked


def conformance_request(kind: str, name: str) -> Request:
    """What a worker needs to check one record."""
    return Request.make("conformance", options={"kind": kind, "name": name})


def checks(catalogue: Catalogue) -> list[Request]:
    """What this session has asked to be checked, of what is still offered."""
    asked = st.session_state.setdefault(_CHECKED, [])
    offered = {
        (kind, name)
        for one in catalogue.distributions.values()
        for kind, names in one.offers().items()
        for name in names
    }
    return [conformance_request(*each) for each in asked if each in offered]


def offers(jobs: Jobs, one: Distribution, catalogue: Catalogue) -> None:
    """The cards of everything that the distribution offers."""
    for kind, names in one.offers().items():
        st.markdown(f"**{KINDS[kind].capitalize()}s**")
        with parts.grid(min(_COLUMNS, max(2, len(names)))):
            for name in names:
                with st.container(border=True, key=f"offer-{kind}-{name}", gap="xsmall"):
                    _card(getattr(catalogue, kind).get(name), name)
                    _conformance(jobs, kind, name)


def _card(offer: Offer | Checkpoint | None, name: str) -> None:
    if offer is None:
        st.markdown(f"**{plain(name)}**")
        st.caption("It cannot be used; see above.")
        return
    st.markdown(f"**{plain(offer.title)}** · `{name}`")
    if isinstance(offer, Checkpoint):
        st.caption(plain(f"{offer.model} with {offer.scoring}, trained on {offer.corpus}"))
        return
    if offer.formula:
        formula(offer.formula)
    if offer.description:
        st.caption(plain(offer.description))
    if offer.reference:
        st.caption(plain(f"Reference: {offer.reference}"))


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
    request = conformance_request(kind, name)
    parts.results(jobs, request, _findings, _RESULT_HEIGHT, f"{key}-result", grows=True)


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
