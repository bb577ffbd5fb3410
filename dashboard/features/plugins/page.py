"""Plugins: which packages are installed, what they offer, what failed and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.features.plugins.cards import cards, checks
from dashboard.features.plugins.own import write_your_own
from dashboard.features.plugins.view import LINK, PluginsView, chosen
from dashboard.records.catalogue import Catalogue
from dashboard.records.distributions import Distribution, Source, safe_address
from dashboard.records.text import not_installed
from dashboard.ui import reloading
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_HEIGHT = 420  # px, of the page in waiting
_STAGES = {
    "blocked": "Blocked by the allow-list",
    "quarantine": "In quarantine",
    "import": "Not imported",
    "contract": "Another contract",
    "hooks": "Wrong hooks",
    "call": "A hook failed",
    "record": "No record",
    "clash": "Name taken",
    "duplicate": "Offered twice",
    "describe": "Unreadable record",
    "checkpoint": "Unusable checkpoint",
}
_FAILURES_SHOWN = 8


def _results(session: Session[PluginsView], catalogue: Catalogue, _: None) -> None:
    _changes(reloading.changes(catalogue))
    _list(session, catalogue)
    write_your_own(catalogue)


def _changes(sentences: Sequence[str]) -> None:
    if sentences:
        with st.container(border=True, key="plugins-changes", gap="xsmall"):
            st.markdown(":material/extension: **Plugins were reloaded**")
            for sentence in sentences:
                st.text(sentence)


def _list(session: Session[PluginsView], catalogue: Catalogue) -> None:
    shown = chosen(session.view, catalogue)
    if session.view.show and shown is None:
        with st.container(border=True, key="plugins-missing"):
            st.markdown(":material/extension_off: **Not installed here**")
            st.text(not_installed("distribution", session.view.show))
    for number, one in enumerate(catalogue.distributions.values()):
        with st.container(border=True, key=f"distribution-{number}", gap="small"):
            _head(session, one, catalogue, number)
            for failure in one.failures[:_FAILURES_SHOWN]:
                _failure(failure)
            if len(one.failures) > _FAILURES_SHOWN:
                st.caption(f"and {len(one.failures) - _FAILURES_SHOWN:,} more problems")
            if one is shown:
                _origins(one, catalogue)
                cards(session.jobs, one, catalogue)


def _head(
    session: Session[PluginsView], one: Distribution, catalogue: Catalogue, number: int
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(one.name)}** {plain(one.version)}", width="content")
        _badges(one)
        st.space("stretch")
        if one is not chosen(session.view, catalogue):
            st.button(
                "Show",
                key=f"distribution-{number}-show",
                type="tertiary",
                icon=":material/unfold_more:",
                on_click=session.change,
                args=(PluginsView(show=one.name),),
                help="What it offers, and whether it keeps the rules",
            )
    with st.container(gap=None):
        if one.summary:
            st.caption(plain(one.summary))
        st.caption(_counted(one, catalogue.kinds))


def _badges(one: Distribution) -> None:
    stages = {failure["stage"] for failure in one.failures}
    if one.built_in:
        st.badge("built-in", color="gray")
    if "blocked" in stages:
        st.badge("blocked", color="gray", icon=":material/block:")
    if "quarantine" in stages:
        st.badge("quarantined", color="red", icon=":material/shield:")
    count = sum(failure["stage"] not in ("blocked", "quarantine") for failure in one.failures)
    if count:
        st.badge(f"{count} problem{'s' if count > 1 else ''}", color="orange")


def _counted(one: Distribution, nouns: Mapping[str, str]) -> str:
    counts = [
        f"{len(names)} {nouns[kind]}{'s' if len(names) > 1 else ''}"
        for kind, names in one.offers().items()
    ]
    return f"Offers {', '.join(counts)}." if counts else "Offers nothing."


def _failure(failure: Mapping[str, Any]) -> None:
    blocked = failure["stage"] == "blocked"
    icon = ":material/block:" if blocked else ":material/error:"
    with st.container(gap=None):
        title = _STAGES.get(failure["stage"], "Problem")
        st.markdown(f"{icon} **{title}** · {plain(failure['plugin'])}")
        st.text(failure["message"])
        if failure.get("advice"):
            st.caption(plain(f"What to do: {failure['advice']}."))


def _origins(one: Distribution, catalogue: Catalogue) -> None:
    with st.container(gap=None):
        for source in one.sources:
            st.caption(_origin(source, catalogue, one.built_in))
        for label, url in one.links:
            _link(label, url)


def _origin(source: Source, catalogue: Catalogue, built_in: bool) -> str:
    words = f"{source.name}: imported from {source.module}"
    if source.contract:
        words += f", needs contract {source.contract}; {catalogue.contract} is here"
    elif not built_in:
        words += f", names no contract; {catalogue.contract} is here"
    return plain(f"{words}.")


def _link(label: str, url: str) -> None:
    """Only an address that shows where it leads can be followed; any other is text."""
    if address := safe_address(url):
        st.caption(f"{plain(label)}: [{plain(address)}]({address})")
    else:
        st.caption(plain(f"{label}: {url}"))


PAGE = Page(
    name="plugins",
    title="Plugins",
    explanation="Who brought which scoring, model, data set and checkpoint, and what could not "
    "be taken in. A faulty plugin costs itself alone.",
    link=LINK,
    controls=lambda _session, _catalogue: None,
    requests=lambda _view, catalogue: checks(catalogue),
    results=_results,
    height=_HEIGHT,
    aloud=False,
)
