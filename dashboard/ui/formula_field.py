"""The field in which a scoring is typed, what is said of it while it is typed.

The field is sent after a short pause, so what stands below it follows what is typed, and so does
the page where the formula is a panel's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import streamlit as st

from dashboard.language import ended, gettext, gettext_noop, listed, together, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.formula import LONGEST, Formula, Problem
from dashboard.records.request import FORMULA, is_formula
from dashboard.ui import formulas, shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, place, plain

Width = int | Literal["stretch"]

_PAUSE = "300ms"  # longer than from one key to the next, so that a word is drawn once
_PLACEHOLDER = "-|q - k|^2 / (2 w^2)"
_HELP = gettext_noop(
    "Of the query q and the key k, vectors of d numbers. Other letters are parameters, with a "
    "slider each. For example `q.k / sqrt(d)`, `-max(abs(q - k))`, `-|q - k| / w`."
)
TYPE = gettext_noop("Type a formula…")
_WORD = re.compile(r"[A-Za-z]+")
_SHAPES = {
    "(n_q, n_k)": gettext_noop("It gives a score for each query and key."),
    "(1, n_k)": gettext_noop("It gives a score for each key, alike for all queries."),
    "(n_q, 1)": gettext_noop("It gives a score for each query, alike for all keys."),
}
_NOT_IN = {  # by task, the names that mean nothing there, and why
    "regression": ("[ij]", gettext_noop("points have no positions, so there is no {name}")),
    "translation": (
        "n", gettext_noop("padding changes how many keys there are, so there is no {name}")
    ),
}  # fmt: skip


def choose_scoring(
    label: str, offered: Mapping[str, object], scoring: str, key: str, catalogue: Catalogue,
    fresh: bool, *, width: Width = "stretch", label_visibility: str = "visible",
) -> str:  # fmt: skip
    """A select box of scorings, whose last choice is to type one.

    Returns:
        A name; ``=`` where a formula is typed, see :func:`formula_field`.
    """
    return choose(
        label,
        [*offered, FORMULA],
        FORMULA if is_formula(scoring) else scoring,
        key,
        fresh,
        title=partial(choice_title, catalogue=catalogue),
        width=width,
        label_visibility=label_visibility,
    )


def choice_title(name: str, catalogue: Catalogue) -> str:
    """What a scoring is called among choices."""
    if name == FORMULA:
        return gettext(TYPE)
    known = catalogue.scorings.get(name)
    return known.title if known else scoring_title(name, catalogue)


def formula_field(
    session: Session[Any], letter: str, scoring: str, *,
    label: str, names: Mapping[str, str], still: str = "", task: str = "",
) -> Formula | None:  # fmt: skip
    """A line to type in, and under it what the formula gives, or what is wrong with it.

    Args:
        letter: of the panel; empty on a page with one field.
        scoring: what is chosen now; the field begins with it if it is a formula. Empty where a
            formula is to be added to others.
        names: what those of the language stand for here, such as ``q``.
        still: the sentence on what is shown while the formula cannot be used; by default that it
            is ``scoring``.
        task: in which it must make sense; empty for any.

    Returns:
        The formula as a scoring; None while it cannot be used.
    """
    key = formulas.field_key(session.page, letter)
    held = scoring.removeprefix(FORMULA) if is_formula(scoring) else ""
    given = st.text_input(
        label,
        key=place(key, held, session.fresh and bool(scoring)),
        max_chars=LONGEST,
        placeholder=_PLACEHOLDER,
        help=gettext(_HELP),
        live=_PAUSE,
    )
    still = still or _still(scoring, session.catalogue)
    text = formulas.typed(given)
    if not text:
        st.caption(together((gettext("Type a formula of q and k."), still)))
        return None
    formula = session.catalogue.formulas.get(text)
    if formula is None:
        formulas.waiting(session.page)
        return None
    _completions(key, text, formula)
    problem = formula.problem or _elsewhere(formula, task, text)
    if problem:
        _wrong(text, problem, still)
        if scoring:
            session.instead.append(scoring_title(scoring, session.catalogue))
        return None
    _given(formula, names)
    return formula


def _still(scoring: str, catalogue: Catalogue) -> str:
    """What is shown while the typed formula cannot be used."""
    title = scoring_title(scoring, catalogue)
    if is_formula(scoring):
        said = gettext_noop(
            "The charts below still show the last formula that works: `{formula}`."
        )
        return gettext(said, formula=title)
    return gettext("The charts below still show {scoring}.", scoring=plain(title))


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
    """A button for each word that the last one may become."""
    if not formula.completions:
        return
    with st.container(horizontal=True, gap="xsmall", key=f"{key}-completions"):
        for each in formula.completions:
            st.button(
                plain(each.word), key=f"{key}-{each.word}", type="tertiary",
                help=plain(translated(each.help)),
                on_click=_complete, args=(key, text + each.insert),
            )  # fmt: skip


def _complete(key: str, text: str) -> None:
    st.session_state[key] = text


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
