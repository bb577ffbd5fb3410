"""The entries of one distribution, each with its formula and, on demand, its conformance."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.features.plugins.view import Names, description_of, title_of
from dashboard.language import gettext, gettext_noop, ngettext, translated
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.request import Request, Result
from dashboard.ui import layout, owner, reloading, results
from dashboard.ui.jobs import Jobs
from dashboard.ui.widgets import formula, plain

_TITLES = beside(__file__, "words.toml")["titles"]
_COUNTED = beside(__file__, "words.toml")["counted"]


def heading(kind: str, noun: str, count: int) -> str:
    """What stands over the records of a kind; ``noun`` names one of a kind not known here."""
    title = gettext(_TITLES[kind]) if kind in _TITLES else f"{noun.capitalize()}s"
    return gettext("{title} · {count:,}", title=title, count=count)


def counted(kind: str, noun: str, count: int) -> str:
    """How many records of a kind there are; arguments as of :func:`heading`."""
    if kind in _COUNTED:
        return ngettext(**_COUNTED[kind], count=count)
    return f"{count} {noun}{'s' * (count > 1)}"


_PACKAGE = "my-scoring"
_STEPS = (
    (gettext_noop("A package with these lines in it, its entry point and its tests:"),
     f"python -m attention_plugins new {_PACKAGE}"),
    (gettext_noop("Installed beside the workbench, so that changes of yours count at once:"),
     f"pip install -e {_PACKAGE}"),
    (gettext_noop("After “Reload plugins”, every page offers it. Whether it keeps the rules:"),
     f"python -m attention_plugins check {_PACKAGE}"),
)  # fmt: skip


def write_your_own(catalogue: Catalogue) -> None:
    """The whole plugin, and the commands that make a package of it."""
    st.header(gettext("Write your own in ten lines"), anchor=False)
    lines, steps = st.columns([3, 2], gap="medium")
    with lines:
        st.code(catalogue.example, language="python", wrap_lines=True)
    with steps, st.container(gap="xsmall"):
        for sentence, command in _STEPS:
            st.caption(gettext(sentence))
            st.code(command, language="bash", wrap_lines=True)
        administers = owner.visitor().administers
        st.button(
            gettext("Reload plugins"), icon=":material/refresh:", key="plugins-reload",
            disabled=not administers, on_click=reloading.reload,
            help=None if administers else gettext("For administrators of this server"),
        )  # fmt: skip


_CHECKED = "plugins checked"
_COLUMNS = 3
_MOST_CARDS = 6  # of one kind; of more there is a table
_TABLE_HEIGHT, _ROW_HEIGHT = 2_100, 35  # px: a table is not cut where it has sixty rows
_RESULT_HEIGHT = 120  # px, of a card that is being checked


def checks(catalogue: Catalogue) -> list[Request]:
    """What a worker must check: what this session has asked for, if it is still there."""
    asked = st.session_state.setdefault(_CHECKED, [])
    installed = {
        (kind, name) for one in catalogue.distributions.values()
        for kind, names in one.offers().items() for name in names
    }  # fmt: skip
    return [_request(*each) for each in asked if each in installed]


def cards(jobs: Jobs, names: Names, catalogue: Catalogue, key: str) -> None:
    """The records of a distribution by kind, a fold for each, of which the first is open.

    A few have a card each; of many there is a table, and a card for the one that is chosen.
    """
    for number, (kind, own) in enumerate(names.items()):
        label = heading(kind, catalogue.kinds[kind], len(own))
        with st.expander(label, expanded=number == 0, key=f"{key}-{kind}"):
            drawn = own
            if len(own) > _MOST_CARDS:
                drawn = _table(kind, own, catalogue, f"{key}-{kind}-one")
            with layout.grid(min(_COLUMNS, max(2, len(drawn)))):
                for name in drawn:
                    with st.container(border=True, key=f"entry-{kind}-{name}", gap="xsmall"):
                        _card(catalogue.entry(kind, name), name)
                        _conformance(jobs, kind, name)


def _table(kind: str, names: Sequence[str], catalogue: Catalogue, key: str) -> list[str]:
    entries = {name: catalogue.entry(kind, name) for name in names}
    rows = [
        {gettext("Name"): name, gettext("Title"): title_of(entry, name),
         gettext("What it is"): description_of(entry)}
        for name, entry in entries.items()
    ]  # fmt: skip
    st.dataframe(
        pd.DataFrame(rows), hide_index=True,
        height=min(_TABLE_HEIGHT, _ROW_HEIGHT * (len(rows) + 1) + 3),
        alt=gettext("Every {kind} of this package", kind=catalogue.kinds[kind]),
    )  # fmt: skip
    if st.session_state.get(key) not in names:  # a search has left it out
        st.session_state[key] = None
    chosen = st.selectbox(
        gettext("Formula, paper and rules of one {kind}", kind=catalogue.kinds[kind]), names,
        index=None, placeholder=gettext("Choose one, or type to search"), key=key,
        format_func=lambda name: f"{title_of(entries[name], name)} · {name}",
    )  # fmt: skip
    return [chosen] if chosen else []


def _card(entry: Entry | Checkpoint | None, name: str) -> None:
    st.markdown(f"**{plain(title_of(entry, name))}** · `{name}`")
    if isinstance(entry, Entry) and entry.formula:
        formula(entry.formula)
    if description := description_of(entry):
        st.caption(plain(description))
    if isinstance(entry, Entry) and entry.reference:
        st.caption(plain(gettext("Reference: {reference}", reference=entry.reference)))


def _conformance(jobs: Jobs, kind: str, name: str) -> None:
    key = f"check-{kind}-{name}"
    if (kind, name) not in st.session_state[_CHECKED]:
        st.button(
            gettext("Check"), key=key, icon=":material/fact_check:", type="tertiary",
            on_click=lambda: st.session_state[_CHECKED].append((kind, name)),
            help=gettext("Whether it keeps every rule of the conformance kit, in a worker"),
        )  # fmt: skip
        return
    request = _request(kind, name)
    results.results(jobs, request, _findings, _RESULT_HEIGHT, f"{key}-result", grows=True)


def _request(kind: str, name: str) -> Request:
    return Request.make("plugins", options={"kind": kind, "name": name})


def _findings(result: Result) -> None:
    findings: Sequence[Mapping[str, Any]] = result.facts["findings"]
    broken = [each for each in findings if not each["passed"]]
    kept = [each for each in findings if each["passed"]]
    icon, words = ":material/check_circle:", gettext("{count} rules kept", count=len(kept))
    if broken:
        counts = {"broken": len(broken), "count": len(findings)}
        icon, words = ":material/cancel:", gettext("{broken} of {count} rules broken", **counts)
    st.markdown(f"{icon} **{words}**")
    for finding in broken:
        with st.container(gap=None):
            st.markdown(f":material/close: {_sentence(finding)}")
            st.text(translated(finding["message"]))
    if kept:
        with st.expander(gettext("The {count} rules that it keeps", count=len(kept))):
            for finding in kept:
                waived = gettext_noop("{rule} (expected to fail: {reason}), {seconds:.2f} s")
                words = gettext(
                    waived if finding["waived"] else gettext_noop("{rule}, {seconds:.2f} s"),
                    rule=_sentence(finding), seconds=finding["seconds"],
                    reason=translated(finding["waived"]),
                )  # fmt: skip
                st.caption(plain(f"✓ {words}"))


def _sentence(finding: Mapping[str, Any]) -> str:
    return plain(translated(finding["rule"].replace("_", " ")))
