"""Plugins: which packages are installed, what they offer, what failed and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.features.plugins.cards import cards, checks
from dashboard.features.plugins.own import write_your_own
from dashboard.features.plugins.search import found
from dashboard.features.plugins.view import FIND, LINK, PluginsView, chosen
from dashboard.records.catalogue import Catalogue
from dashboard.records.distributions import Distribution, Source, safe_address
from dashboard.records.text import not_installed, shown
from dashboard.ui import reloading
from dashboard.ui.fields import draw_text
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, plain

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
_SHOWN = 6  # distributions with a box of their own
_FAILURES_SHOWN, _CHANGES_SHOWN = 8, 8
_SEARCH_WIDTH, _TABLE_HEIGHT = 420, 250  # px


def _controls(session: Session[PluginsView], _: Catalogue) -> None:
    draw_text(session, FIND, width=_SEARCH_WIDTH)


def _results(session: Session[PluginsView], catalogue: Catalogue, _: None) -> None:
    _changes(reloading.changes(catalogue))
    if session.view.find:
        _found(session, catalogue)
    else:
        _list(session, catalogue)
    write_your_own(catalogue)


def _changes(sentences: Sequence[str]) -> None:
    if not sentences:
        return
    with st.container(border=True, key="plugins-changes", gap="xsmall"):
        st.markdown(":material/extension: **Plugins were reloaded**")
        for sentence in sentences[:_CHANGES_SHOWN]:
            st.text(sentence)
        if len(sentences) > _CHANGES_SHOWN:
            with st.expander(f"All {len(sentences):,} changes"):
                every = pd.DataFrame({"Change": sentences})
                st.dataframe(every, hide_index=True, height=_TABLE_HEIGHT, alt="Every change")


def _found(session: Session[PluginsView], catalogue: Catalogue) -> None:
    """What has the words that are looked for, of every distribution."""
    matching = {
        one.name: names
        for one in catalogue.distributions.values()
        if (names := found(one, catalogue, session.view.find))
    }
    count = sum(len(own) for names in matching.values() for own in names.values())
    st.caption(plain(f"{count:,} found for {shown(session.view.find)}."))
    for number, name in enumerate([*matching][:_SHOWN]):
        one = catalogue.distributions[name]
        with st.container(border=True, key=f"found-{number}", gap="small"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(one.name)}** {plain(one.version)}", width="content")
                _badges(one)
            cards(session.jobs, matching[name], catalogue, f"found-{one.name}")
    if len(matching) > _SHOWN:
        rest = len(matching) - _SHOWN
        st.caption(f"and in {rest:,} more packages: search for more words.")


def _list(session: Session[PluginsView], catalogue: Catalogue) -> None:
    """The first distributions, the chosen one in full; of many the others in a table."""
    whole = chosen(session.view, catalogue)
    if session.view.show and whole is None:
        with st.container(border=True, key="plugins-missing"):
            st.markdown(":material/extension_off: **Not installed here**")
            st.text(not_installed("distribution", session.view.show))
    every = list(catalogue.distributions.values())
    drawn = [one for at, one in enumerate(every) if at < _SHOWN or one is whole]
    for one in drawn:
        number = every.index(one)
        with st.container(border=True, key=f"distribution-{number}", gap="small"):
            _head(session, one, catalogue, number)
            most = _FAILURES_SHOWN if one is whole or len(every) <= _SHOWN else 1
            for failure in one.failures[:most]:
                _failure(failure)
            if len(one.failures) > most:
                st.caption(f"and {len(one.failures) - most:,} more problems")
            if one is whole:
                _origins(one, catalogue)
                cards(session.jobs, found(one, catalogue, ""), catalogue, one.name)
    _others(session, [one for one in every if one not in drawn], catalogue)


def _others(
    session: Session[PluginsView], others: Sequence[Distribution], catalogue: Catalogue
) -> None:
    """Distributions beyond the first ones: a table, and a select box that shows one."""
    if not others:
        return
    rows = [
        {
            "Package": one.name, "Version": one.version, "Offers": _counted(one, catalogue.kinds),
            "Problems": len(one.failures), "What it is": one.summary,
        }
        for one in others
    ]  # fmt: skip
    st.markdown(f"**{len(others):,} more packages**")
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, height=_TABLE_HEIGHT, alt="Every other package"
    )
    key = "plugins-others"
    st.session_state[key] = None
    st.selectbox(
        "Show one of them",
        [one.name for one in others],
        index=None,
        placeholder="Choose one, or type to search",
        key=key,
        on_change=picked(key, lambda name: session.change(PluginsView(show=name))),
    )


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
    controls=_controls,
    requests=lambda _view, catalogue: checks(catalogue),
    keeps=False,
    results=_results,
    height=_HEIGHT,
    aloud=False,
)
