"""The formulas that a page's reader types, and those that its link names, read by a worker.

The page process knows nothing of the language of formulas. Before a page reads its link it asks a
worker for every formula that the link, the view or a text field holds. A field's formula is never
waited for longer than a moment, and nothing else on the page depends on it; without one of the
link's the link cannot be read. A field is sent after a short pause, so that the page follows it.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.language import ended, gettext, gettext_noop, listed, together, translated
from dashboard.links.fields import LETTERS
from dashboard.links.link import Query
from dashboard.records import catalogue as catalogues
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue, Formula, Problem
from dashboard.records.request import FORMULA, is_formula
from dashboard.ui import results, shown
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import scoring_title
from dashboard.ui.session import Session, asked_for, new_jobs, sessions
from dashboard.ui.widgets import choose, place, plain

_SAID = beside(__file__, "words.toml")["formulas"]
Width = int | Literal["stretch"]

_FIELD_PAUSE = "300ms"  # longer than from one key to the next, so that a word is drawn once
_PLACEHOLDER = "-|q - k|^2 / (2 w^2)"
_HELP = _SAID["help"]
TYPE = gettext_noop("Type a formula…")
_WORD = re.compile(r"[A-Za-z]+")
_SHAPES = beside(__file__, "words.toml")["shapes"]
_NOT_IN = {  # by task, the names that mean nothing there, and why
    "regression": ("[ij]", gettext_noop("points have no positions, so there is no {name}")),
    "translation": (
        "n", gettext_noop("padding changes how many keys there are, so there is no {name}")
    ),
}  # fmt: skip


def choose_scoring(
    session: Session[Any], label: str, offered: Iterable[str], scoring: str, **more: Any
) -> str:
    """A select box of scorings; ``=`` where a formula is typed, see :func:`formula_field`."""
    return choose(
        label, [FORMULA, *offered], FORMULA if is_formula(scoring) else scoring,
        fresh=session.fresh, format_func=partial(choice_title, catalogue=session.catalogue),
        **more,
    )  # fmt: skip


def choice_title(name: str, catalogue: Catalogue) -> str:
    """What a scoring is called among choices."""
    if name == FORMULA:
        return gettext(TYPE)
    known = catalogue.scorings.get(name)
    return known.title if known else scoring_title(name, catalogue)


def formula_field(
    session: Session[Any], letter: str, scoring: str, names: Mapping[str, str], task: str = ""
) -> Formula | None:
    """A line to type in, and under it what the formula gives, or what is wrong with it.

    Args:
        letter: of the panel; empty on a page with one field.
        scoring: what is chosen, and shown while the formula cannot be used; the field begins with
            it if it is a formula. Empty where a formula is to be added to others.
        names: what those of the language stand for here, such as ``q``.
        task: in which it must make sense; empty for any.

    Returns:
        The formula as a scoring; None while it cannot be used.
    """
    key = field_key(session.page, letter)
    title = scoring_title(scoring, session.catalogue)
    label = gettext("Formula of panel {letter}", letter=letter)
    if not letter:
        label = gettext("Formula of the scoring" if scoring else "Formula of another scoring")
    given = st.text_input(
        label,
        key=place(key, scoring.removeprefix(FORMULA) if is_formula(scoring) else "",
                  session.fresh and bool(scoring)),
        max_chars=catalogues.LONGEST_FORMULA, placeholder=_PLACEHOLDER, help=gettext(_HELP),
        live=_FIELD_PAUSE,
    )  # fmt: skip
    still = gettext("Nothing is added yet.")
    if is_formula(scoring):
        still = gettext(_SAID["still"], formula=title)
    elif scoring:
        still = gettext("The charts below still show {scoring}.", scoring=plain(title))
    text = typed(given)
    if not text:
        st.caption(together((gettext("Type a formula of q and k."), still)))
        return None
    formula = session.catalogue.formulas.get(text)
    if formula is None:
        waiting(session.page)
        return None
    _completions(key, text, formula)
    if problem := formula.problem or _elsewhere(formula, task, text):
        _wrong(text, problem, still)
        if scoring:
            session.instead.append(title)
        return None
    _given(formula, names)
    return formula


def _elsewhere(formula: Formula, task: str, text: str) -> Problem | None:
    """That a formula makes no sense in a task, at the name by which it does not."""
    tasks = formula.entry.tasks if formula.entry else ()
    if not task or not tasks or task in tasks:
        return None
    names, why = _NOT_IN[task]
    found = re.search(rf"(?<![A-Za-z]){names}(?![A-Za-z0-9])", text)
    start, end = found.span() if found else (0, len(text))
    return Problem(sentence=gettext(why, name=text[start:end]), start=start, end=end)


def _completions(key: str, text: str, formula: Formula) -> None:
    if not formula.completions:
        return
    with st.container(horizontal=True, gap="xsmall", key=f"{key}-completions"):
        for each in formula.completions:
            st.button(
                plain(each.word), key=f"{key}-{each.word}", type="tertiary",
                help=plain(translated(each.help)),
                on_click=st.session_state.update, args=({key: text + each.insert},),
            )  # fmt: skip


def _given(formula: Formula, names: Mapping[str, str]) -> None:
    """What the names are here, what the formula gives, and its scores of a few numbers."""
    if formula.entry is None:
        return
    words = {*_WORD.findall(formula.entry.name)}
    found = [gettext("{name} is {what}", name=name, what=translated(what))
             for name, what in names.items() if name in words]  # fmt: skip
    gives = _SHAPES.get(formula.shape, gettext_noop("It gives one score for all."))
    said = [ended(listed(found)) if found else "", gettext(gives)]
    shown.caption(plain(together([*said, translated(formula.entry.description)])))


def _wrong(text: str, problem: Problem, still: str) -> None:
    wrong = translated(problem.sentence)
    said = [ended(f"{wrong[:1].upper()}{wrong[1:]}")]
    if problem.suggestion:
        said.append(gettext("Did you mean {suggestion}?", suggestion=problem.suggestion))
    st.error(plain(together(said)))
    st.code(problem.marked(text), language=None)
    st.caption(still)


_PAUSE = "150ms"  # after a key: the button below it follows before it can be pressed


def package_button(key: str, formula: Formula) -> None:
    """A button for the plugin that the formula would be: it asks for a name and downloads it."""
    with st.popover(
        gettext("Make it a package"), type="tertiary", icon=":material/deployed_code:",
        key=f"{key}-package-name",
        help=gettext("A plugin with this scoring and its test, to install and to change."),
    ):  # fmt: skip
        given = st.text_input(
            gettext("Name of the scoring"), key=f"{key}-package-called",
            max_chars=catalogues.LONGEST_NAME, placeholder=formula.slug, live=_PAUSE,
        )  # fmt: skip
        st.caption(gettext(_SAID["package"]))
        name = " ".join(given.split())[: catalogues.LONGEST_NAME]
        named = _named(key, formula, name) if name else formula
        st.download_button(
            gettext("Download the package"), data=partial(_zipped, named.files) if named else b"",
            file_name=f"{(named or formula).slug}.zip", mime="application/zip",
            key=f"{key}-package", on_click="ignore", type="primary", icon=":material/download:",
            disabled=named is None,
        )  # fmt: skip


def _named(key: str, formula: Formula, name: str) -> Formula | None:
    """The formula with a package of that name; None while a worker makes it, or refuses it."""
    if formula.entry is None:
        return None
    jobs = _jobs(f"package {key}")
    request = catalogues.package_request(typed(formula.entry.name), name)
    jobs.want([request])
    jobs.wait(results.PATIENCE)
    end = jobs.final(request)
    if end is None:
        results.until_settled(jobs, gettext("Writing the package …"))
        return None
    if end.result is None:
        st.error(plain(translated(end.note or gettext("The job was stopped before it was done."))))
        return None
    return Formula.of(end.result.facts)


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

    ``named``: the formulas that a link, and a view if there is one, name.
    """
    query = asked_for()
    session = sessions().get(page)
    needed = {*named(query, session.view if session else None)}
    asked = {*needed}
    for letter in ("", *LETTERS):
        if text := typed(st.session_state.get(field_key(page, letter)) or ""):
            asked.add(text)
    texts = sorted(text for text in asked if len(text) <= catalogues.LONGEST_FORMULA)
    jobs = _jobs(f"formulas {page}", time_limit=MOST_SECONDS)
    jobs.want(map(catalogues.formula_request, texts))
    if not texts:
        return catalogue
    jobs.wait(results.PATIENCE)
    ends = {text: jobs.final(catalogues.formula_request(text)) for text in texts}
    if any(ends[text] is None for text in needed.intersection(texts)):
        return None
    return catalogue.with_formulas({text: _formula(end) for text, end in ends.items() if end})


def typed(text: str) -> str:
    """A formula as typed, without ``=``; Chinese keyboards write signs as wide as a character."""
    return text.translate(_NARROW).strip().removeprefix(FORMULA).strip()


def waiting(page: str) -> None:
    """Say that a formula is being read, and draw the page anew once it is."""
    results.until_settled(_jobs(f"formulas {page}"), gettext("Reading the formula …"))


def _formula(end: Event) -> Formula:
    if "time_limit" in end.facts:
        slow = gettext("reading it took too long and was stopped; write it with fewer steps")
        return Formula(problem=Problem(sentence=slow))
    if end.result is None:
        return Formula(problem=Problem(sentence=end.note or "the formula was not read; try again"))
    return Formula.of(end.result.facts)


def _jobs(name: str, **more: float) -> Jobs:
    if name not in st.session_state:
        st.session_state[name] = new_jobs(**more)
    return st.session_state[name]
