"""Plugins: which packages are installed, what they offer, what failed and why."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.features.plugins.cards import cards, checks, counted, write_your_own
from dashboard.features.plugins.view import FIND, LINK, PluginsView, chosen, found
from dashboard.language import current, ended, gettext, gettext_noop, listed, ngettext, translated
from dashboard.records.attending import Distribution, safe_address
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import not_installed, shown
from dashboard.ui import reloading
from dashboard.ui.fields import draw_text
from dashboard.ui.navigation import installed
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, plain

_SAID = beside(__file__, "words.toml")["page"]

_HEIGHT = 420  # px, of the page in waiting
# The workbench's summary in pyproject.toml, which a worker sends.
gettext_noop(
    "Write an attention scoring function once, see it in every model, on every task, side by side."
)
_WORDS = beside(__file__, "words.toml")
_SHOWN = 6  # distributions with a box of their own
_FAILURES_SHOWN, _CHANGES_SHOWN = 8, 8
_SEARCH_WIDTH, _TABLE_HEIGHT = 420, 250  # px


def _controls(session: Session[PluginsView]) -> None:
    draw_text(session, FIND, width=_SEARCH_WIDTH)


def _results(session: Session[PluginsView], _: None) -> None:
    _changes(reloading.changes(session.catalogue))
    if session.view.find:
        _found(session)
    else:
        _list(session)
        _pages()
    write_your_own(session.catalogue)


def _changes(sentences: Sequence[str]) -> None:
    if not sentences:
        return
    with st.container(border=True, key="plugins-changes", gap="xsmall"):
        st.markdown(f":material/extension: **{gettext('Plugins were reloaded')}**")
        for sentence in sentences[:_CHANGES_SHOWN]:
            st.text(translated(sentence))
        if len(sentences) > _CHANGES_SHOWN:
            with st.expander(gettext("All {count:,} changes", count=len(sentences))):
                every = pd.DataFrame({gettext("Change"): [*map(translated, sentences)]})
                alt = gettext("Every change")
                st.dataframe(every, hide_index=True, height=_TABLE_HEIGHT, alt=alt)


def _found(session: Session[PluginsView]) -> None:
    matching = {one.name: names for one in session.catalogue.distributions.values()
                if (names := found(one, session.catalogue, session.view.find))}  # fmt: skip
    count = sum(len(own) for names in matching.values() for own in names.values())
    words = shown(session.view.find)
    st.caption(plain(gettext("{count:,} found for {words}.", count=count, words=words)))
    for number, name in enumerate([*matching][:_SHOWN]):
        one = session.catalogue.distributions[name]
        with st.container(border=True, key=f"found-{number}", gap="small"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(one.name)}** {plain(one.version)}", width="content")
                _badges(one)
            cards(session.jobs, matching[name], session.catalogue, f"found-{one.name}")
    if (rest := len(matching) - _SHOWN) > 0:
        st.caption(gettext("and in {count:,} more packages: search for more words.", count=rest))


def _list(session: Session[PluginsView]) -> None:
    whole = chosen(session.view, session.catalogue)
    if session.view.show and whole is None:
        with st.container(border=True, key="plugins-missing"):
            st.markdown(f":material/extension_off: **{gettext('Not installed here')}**")
            st.text(translated(not_installed(gettext_noop("distribution"), session.view.show)))
    every = list(session.catalogue.distributions.values())
    drawn = {at: one for at, one in enumerate(every) if at < _SHOWN or one is whole}
    for number, one in drawn.items():
        with st.container(border=True, key=f"distribution-{number}", gap="small"):
            _head(session, one, number)
            most = _FAILURES_SHOWN if one is whole or len(every) <= _SHOWN else 1
            for failure in one.failures[:most]:
                _failure(failure)
            if (more := len(one.failures) - most) > 0:
                st.caption(gettext("and {count:,} more problems", count=more))
            if one is whole:
                _origins(one, session.catalogue)
                cards(session.jobs, found(one, session.catalogue, ""), session.catalogue, one.name)
    _others(session, [one for at, one in enumerate(every) if at not in drawn])


def _pages() -> None:
    brought = [entry for entry in installed() if not entry.built_in]
    if not brought:
        return
    with st.container(border=True, key="plugins-pages", gap="small"):
        st.markdown(gettext("**Pages of packages**"))
        for entry in brought:
            whose = plain(f"{entry.distribution} {entry.version}")
            icon = f":material/{'error' if entry.problem else entry.icon}:"
            with st.container(gap=None):
                st.markdown(f"{icon} **{plain(entry.said(entry.title, current()))}** · {whose}")
                if entry.problem:
                    st.text(translated(entry.problem))
                elif entry.purpose:
                    st.caption(plain(entry.said(entry.purpose, current())))


def _others(session: Session[PluginsView], others: Sequence[Distribution]) -> None:
    if not others:
        return
    rows = [
        {
            gettext("Package"): one.name, gettext("Version"): one.version,
            gettext("Offers"): _counted(one, session.catalogue.kinds),
            gettext("Problems"): len(one.failures), gettext("What it is"): translated(one.summary),
        }
        for one in others
    ]  # fmt: skip
    st.markdown(gettext("**{count:,} more packages**", count=len(others)))
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, height=_TABLE_HEIGHT,
        alt=gettext("Every other package"),
    )  # fmt: skip
    key = "plugins-others"
    st.session_state[key] = None
    st.selectbox(
        gettext("Show one of them"), [one.name for one in others], index=None,
        placeholder=gettext("Choose one, or type to search"), key=key,
        on_change=picked(key, lambda name: session.change(PluginsView(show=name))),
    )  # fmt: skip


def _head(session: Session[PluginsView], one: Distribution, number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(one.name)}** {plain(one.version)}", width="content")
        _badges(one)
        st.space("stretch")
        if one is not chosen(session.view, session.catalogue):
            st.button(
                gettext("Show"), key=f"distribution-{number}-show", type="tertiary",
                icon=":material/unfold_more:", on_click=session.change,
                args=(PluginsView(show=one.name),),
                help=gettext("What it offers, and whether it keeps the rules"),
            )  # fmt: skip
    with st.container(gap=None):
        if one.summary:
            st.caption(plain(translated(one.summary)))
        st.caption(_counted(one, session.catalogue.kinds))


def _badges(one: Distribution) -> None:
    stages = {failure["stage"] for failure in one.failures}
    if one.built_in:
        st.badge(gettext("built-in"), color="gray")
    if "blocked" in stages:
        st.badge(gettext("blocked"), color="gray", icon=":material/block:")
    if "quarantine" in stages:
        st.badge(gettext("quarantined"), color="red", icon=":material/shield:")
    count = sum(failure["stage"] not in ("blocked", "quarantine") for failure in one.failures)
    if count:
        st.badge(ngettext("{count} problem", "{count} problems", count), color="orange")


def _counted(one: Distribution, nouns: Mapping[str, str]) -> str:
    counts = [counted(kind, nouns[kind], len(names)) for kind, names in one.offers().items()]
    if not counts:
        return gettext("Offers nothing.")
    return gettext("Offers {records}.", records=listed(counts))


def _failure(failure: Mapping[str, Any]) -> None:
    icon = ":material/block:" if failure["stage"] == "blocked" else ":material/error:"
    with st.container(gap=None):
        title = gettext(_WORDS["stages"].get(failure["stage"], gettext_noop("Problem")))
        st.markdown(f"{icon} **{title}** · {plain(failure['plugin'])}")
        st.text(translated(failure["message"]))
        if failure.get("advice"):
            advice = gettext("What to do: {advice}", advice=translated(failure["advice"]))
            st.caption(plain(ended(advice)))


def _origins(one: Distribution, catalogue: Catalogue) -> None:
    with st.container(gap=None):
        for source in one.sources:
            told = {"name": source.name, "module": source.module}
            words, help = gettext("{name}: imported from {module}.", **told), None
            if source.contract:
                help = gettext(_WORDS["contract"])
                versions = {"needed": source.contract, "here": catalogue.contract}
                words = gettext(_SAID["versions"], **versions, **told)
            st.caption(plain(words), help=help)
        for label, url in one.links:
            # Only an address that shows where it leads can be followed; any other is text.
            address = safe_address(url)
            st.caption(
                f"{plain(label)}: [{plain(address)}]({address})"
                if address
                else plain(f"{label}: {url}")
            )


PAGE = Page(
    name="plugins", **_WORDS["heading"], link=LINK, controls=_controls,
    requests=lambda _view, catalogue: checks(catalogue), keeps=False, results=_results,
    height=_HEIGHT, aloud=False,
)  # fmt: skip
