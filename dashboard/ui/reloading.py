"""Looking for plugins again, and saying what that changed."""

from collections.abc import Iterator, Set

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.catalogue import Catalogue
from dashboard.ui import owner
from dashboard.ui.navigation import look_again
from dashboard.ui.results import POLL, details
from dashboard.ui.session import sessions
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

NO_CHANGE = gettext_noop("Nothing has changed.")
_MAX_MESSAGE = 200  # characters


def describe_changes(before: Catalogue, after: Catalogue) -> tuple[str, ...]:
    """A sentence on each addition, removal, version and problem; else :data:`NO_CHANGE` alone."""
    return (*_changes(before, after), *_problem_changes(before, after)) or (NO_CHANGE,)


def _changes(before: Catalogue, after: Catalogue) -> Iterator[str]:
    new = gettext_noop("{name} is new: a {kind} of {owner}.")
    gone = gettext_noop("{name} is gone: a {kind} of {owner}.")
    for form, here, there in ((new, after, before), (gone, before, after)):
        others = _owners(there)
        for (kind, name), bringer in _owners(here).items():
            if (kind, name) not in others:
                yield gettext_noop(form, name=name, kind=here.kinds[kind], owner=bringer)
    kept_before, kept_after = _kept(before), _kept(after)
    for name in sorted(kept_after - kept_before):
        yield gettext_noop("{name} is new: a model kept on this server.", name=name)
    for name in sorted(kept_before - kept_after):
        yield gettext_noop("{name} is gone: a model kept on this server.", name=name)
    for name, distribution in after.distributions.items():
        old = before.distributions.get(name, distribution).version
        if old != distribution.version:
            yield gettext_noop(
                "{name} is now {version}; it was {before}.",
                name=name, version=distribution.version, before=old,
            )  # fmt: skip


def _problem_changes(before: Catalogue, after: Catalogue) -> Iterator[str]:
    problems_before, problems_after = _problems(before), _problems(after)
    for name, message in problems_after:
        if (name, message) not in problems_before:
            yield gettext_noop(
                "{name} has a problem: {message}", name=name, message=message[:_MAX_MESSAGE]
            )
    for name in dict(problems_before):
        if name not in dict(problems_after):
            yield gettext_noop("{name} has no problem any more.", name=name)


def _owners(catalogue: Catalogue) -> dict[tuple[str, str], str]:
    return {(kind, name): one.name for one in catalogue.distributions.values()
            for kind, names in one.offers().items() for name in names}  # fmt: skip


def _kept(catalogue: Catalogue) -> Set[str]:
    """Models that no package brings, such as adopted ones."""
    brought = {name for kind, name in _owners(catalogue) if kind == "checkpoints"}
    return catalogue.checkpoints.keys() - brought


def _problems(catalogue: Catalogue) -> list[tuple[str, str]]:
    return [(each.get("distribution", ""), each["message"]) for each in catalogue.failures]


_MOST_SAID = 3  # changes that pop up with their words; the others are counted
_BEFORE, _CHANGES = "catalogue before", "catalogue changes"


def reload() -> None:
    """Look for plugins again; once new workers have them, the page says what changed.

    NotAllowed: the visitor does not administer this server.
    """
    owner.visitor().see_that_it_administers(gettext_noop("Reloading plugins"))
    look_again()
    before = workbench().catalogue()
    if isinstance(before, Catalogue):
        st.session_state[_BEFORE] = before
    workbench().reload()


def changes(catalogue: Catalogue, *, aloud: bool = True) -> tuple[str, ...]:
    """What this session's last reload changed; it pops up where ``aloud``, when first known."""
    before: Catalogue | None = st.session_state.get(_BEFORE)
    if before is not None and before is not catalogue:
        del st.session_state[_BEFORE]
        for one in sessions().values():  # what they waited for may be of the old code
            one.jobs.forget()
        sentences = tuple(describe_changes(before, catalogue))
        st.session_state[_CHANGES] = (catalogue, sentences)
        if aloud:
            _pop_up(sentences)
    known, sentences = st.session_state.get(_CHANGES, (None, ()))
    return sentences if known is catalogue else ()


def status() -> None:
    """How far a reload is, or why plugins were not reloaded; for administrators alone."""
    if not owner.visitor().administers:
        return
    if workbench().reloading() is not None:
        st.fragment(run_every=POLL)(_under_way)()
    elif failure := workbench().failure:
        _given_up(failure)


def _under_way() -> None:
    events = workbench().reloading()
    if events is None:
        st.rerun()
    latest = events[-1] if events else None
    note = latest.note if latest and latest.note else gettext_noop("starting new workers")
    said = gettext("Reloading plugins: {note}", note=translated(note))
    with st.container(border=True, key="reloading", gap="xsmall"):
        st.progress(latest.fraction if latest and latest.fraction else 0.0, text=plain(said))
        st.caption(gettext("Until new workers are ready, all pages go on with the present ones."))


def _given_up(failure: Event) -> None:
    def close() -> None:
        workbench().failure = None

    st.session_state.pop(_BEFORE, None)
    with st.container(border=True, key="reload-failed", gap="xsmall"):
        title = gettext("Plugins were not reloaded")
        st.markdown(f":material/error: **{title}**")
        stopped = gettext("New workers were stopped before they were ready.")
        st.text(translated(failure.note) or stopped)
        st.caption(gettext("All pages go on with the plugins and the workers that they had."))
        details(failure)
        st.button(gettext("Close"), key="reload-failed-close", type="tertiary", on_click=close)


def _pop_up(sentences: tuple[str, ...]) -> None:
    """One message for all changes, which goes away by itself."""
    words = [plain(translated(sentence)) for sentence in sentences[:_MOST_SAID]]
    if (more := len(sentences) - _MOST_SAID) > 0:
        words.append(gettext("and {count:,} more: see the page Plugins", count=more))
    if len(sentences) > 1:
        words.insert(0, gettext("**{count:,} changes**", count=len(sentences)))
    st.toast("\n\n".join(words), icon=":material/extension:", duration="short")
