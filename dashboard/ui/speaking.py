"""The language in which a visitor reads: a link's, the one that was chosen, or the browser's."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import language
from dashboard.language import ENGLISH, follow, gettext, languages, translated
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.parameter import Metric, Parameter
from dashboard.records.text import shown

_KEPT = 4
_TEXTS = ("title", "description", "unit", "help")  # of what plugins and tasks describe
Described = TypeVar("Described", Entry, Checkpoint, Parameter, Metric)
_made: dict[tuple[int, str], tuple[Catalogue, Catalogue]] = {}
_lock = threading.Lock()


def localised(catalogue: Catalogue) -> Catalogue:
    """The catalogue with texts in the visitor's language, names and numbers as they are.

    The same catalogue and language give the same object: pages so see whether plugins changed.
    """
    spoken = language.current()
    if spoken == language.ENGLISH:
        return catalogue
    key = id(catalogue), spoken
    with _lock:
        if key not in _made:
            for old in [*_made][: max(0, len(_made) - _KEPT + 1)]:
                del _made[old]
            made = _told(catalogue, catalogue.translations.get(spoken, {}))
            _made[key] = (catalogue, made)  # holds the original, and so its id
        return _made[key][1]


def _told(catalogue: Catalogue, theirs: Mapping[str, str]) -> Catalogue:
    def said(text: str) -> str:
        own = translated(text)
        return theirs.get(text, text) if own == text else own

    def every(entries: Mapping[str, Described]) -> dict[str, Described]:
        return {name: told(entry, said) for name, entry in entries.items()}

    return replace(
        catalogue, scorings=every(catalogue.scorings), normalisers=every(catalogue.normalisers),
        models=every(catalogue.models), datasets=every(catalogue.datasets),
        checkpoints=every(catalogue.checkpoints),
        others={kind: every(entries) for kind, entries in catalogue.others.items()},
        kinds={kind: said(noun) for kind, noun in catalogue.kinds.items()},
        options={task: _each(own, said) for task, own in catalogue.options.items()},
        metrics={task: _each(own, said) for task, own in catalogue.metrics.items()},
    )  # fmt: skip


def told(described: Described, said: Callable[[str], str] = translated) -> Described:
    """What describes a plugin, a parameter or a metric, as ``said`` translates its texts."""
    changed: dict[str, Any] = {
        name: said(getattr(described, name)) for name in _TEXTS if hasattr(described, name)
    }
    if isinstance(described, Entry):
        changed["parameters"] = _each(described.parameters, said)
    if isinstance(described, Checkpoint) and described.typed:
        changed["typed"] = told(described.typed, said)
    return replace(described, **changed)


def _each(described: Iterable[Described], said: Callable[[str], str]) -> tuple[Described, ...]:
    return tuple(told(one, said) for one in described)


P = ParamSpec("P")
T = TypeVar("T")

PARAMETER = "lang"  # of every page's link
COOKIE = "attention_language"  # what the visitor chose, for other tabs and later visits
_SECONDS = 400 * 24 * 3600  # as long as browsers keep a cookie
_SPOKEN, _CHOSEN, _PICKED = "language", "language chosen", "language picked"
_run = threading.local()  # the language of the session whose runs this thread makes


def begin() -> None:
    """Find the language of this run, before anything is drawn.

    The link that was opened, or gone back to, decides if it names one; then what the visitor
    chose, here or on a visit before; then the browser. What the address says otherwise may be
    older than that choice.
    """
    follow(_of_this_run)
    state = st.session_state
    asked = st.query_params.get(PARAMETER)
    context = get_script_run_ctx(suppress_warning=True)
    opened = _SPOKEN not in state or (context is not None and context.is_history_navigation)
    if opened and asked in languages():
        state[_SPOKEN], state[_CHOSEN] = asked, True
    if _SPOKEN not in state:
        state[_SPOKEN] = remembered(st.context.cookies) or preferred(st.context.locale)
    _run.spoken = state[_SPOKEN]


def preferred(locale: str | None) -> str:
    """The language for a browser's locale, such as ``zh-CN``; English where none fits."""
    wanted = (locale or "").partition("-")[0].lower()
    return wanted if wanted in languages() else ENGLISH


def remembered(cookies: Mapping[str, str]) -> str:
    """The language in a browser's cookie; empty where it holds none that is spoken here."""
    wanted = cookies.get(COOKIE, "")
    return wanted if wanted in languages() else ""


def to_remember() -> dict[str, str | int]:
    """The cookie that the browser is to keep; its language is empty until one was picked here.

    A language that a link names is not kept: others make links.
    """
    return {"cookie": COOKIE, "language": st.session_state.get(_PICKED, ""), "seconds": _SECONDS}


def in_link() -> dict[str, str]:
    """What a link says of the language: nothing unless the visitor or a link chose one."""
    state = st.session_state
    return {PARAMETER: state[_SPOKEN]} if state.get(_CHOSEN) else {}


def problem() -> str:
    """What is wrong with the language that the link names; empty if nothing is."""
    asked = st.query_params.get(PARAMETER)
    if asked is None or asked in languages():
        return ""
    return gettext(
        "{parameter}={given}: need one of {offered}, so {used} is used", parameter=PARAMETER,
        given=shown(asked), offered=", ".join(languages()), used=languages()[_of_this_run()],
    )  # fmt: skip


def language_button(changed: Callable[[], None]) -> None:
    """A button for each other language, called as it calls itself; then ``changed`` is called."""
    for other, name in languages().items():
        if other != _of_this_run():
            st.button(
                name, icon=":material/language:", type="tertiary", key=f"language-{other}",
                on_click=partial(_switch, other, changed),
            )  # fmt: skip


def _switch(language: str, changed: Callable[[], None]) -> None:
    state = st.session_state
    state[_SPOKEN] = state[_PICKED] = language
    state[_CHOSEN] = True
    _run.spoken = language
    changed()


@contextmanager
def lent(language: str) -> Iterator[None]:
    """Speak a language on this thread, which belongs to no run."""
    before = getattr(_run, "lent", ENGLISH)
    _run.lent = language
    try:
        yield
    finally:
        _run.lent = before


def spoken_now(make: Callable[P, T]) -> Callable[P, T]:
    """The function in the language of this run, for a thread that belongs to no run.

    Files are made on such threads, when they are downloaded.
    """
    language = _of_this_run()

    def made(*given: P.args, **named: P.kwargs) -> T:
        with lent(language):
            return make(*given, **named)

    return made


def _of_this_run() -> str:
    """The language of the run that this thread makes; it is asked for at every text."""
    try:
        return _run.spoken
    except AttributeError:
        if get_script_run_ctx(suppress_warning=True) is None:
            return getattr(_run, "lent", ENGLISH)
        _run.spoken = st.session_state.get(_SPOKEN, ENGLISH)
        return _run.spoken
