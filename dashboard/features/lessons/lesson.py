"""What a lesson is: data, which one view draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

Figures = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Try:
    """A state of another page to go to.

    Args:
        page: the page's feature.
        label: what is to be seen there.
        query: parameters of its link.
    """

    page: str
    label: str
    query: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Lesson:
    r"""One lesson: an idea, a question, what is seen, something to find, and where to go on.

    Everything that it says of numbers is computed from a result. ``reason``, ``now``, ``missed``
    and ``conclusion`` are sentences with placeholders, filled with what ``measured`` gives. All
    texts are in English; the page translates them.

    Args:
        name: its own, in a browser's memory.
        section: of the book, see :mod:`.chapter`; empty where the lesson goes beyond it.
        papers: what else it rests on.
        idea: in Markdown, before the question.
        formulas: LaTeX, beside each other where there is room. What stands in ``\text{…}`` is
            translated, and therefore marked.
        terms: those of :mod:`dashboard.ui.glossary` that this lesson is the first to use.
        control: what the visitor moves once the question is answered.
        given: its value while the question is open.
        asked: its value that the question is about.
        choices: the answers by their name in the link.
        request: what a worker computes at a value; None where a model is missing.
        figure: draws a result at a value.
        measured: figures of a result at a value.
        answer: the name of the right choice, by the figures at ``asked``.
        reason: why, by the same figures.
        now: what is seen at the present value.
        goal: what to find by moving the control.
        reached: whether it is found, by the figures at the present value.
        missed: how far the present value is from the goal, by the same figures.
        conclusion: what the goal, once reached, shows.
    """

    name: str
    title: str
    section: str = ""
    papers: str = ""
    idea: str
    formulas: tuple[str, ...]
    terms: tuple[str, ...]
    control: Parameter
    given: Scalar
    asked: Scalar
    question: str
    choices: Mapping[str, str]
    request: Callable[[Scalar, Catalogue], Request | None]
    figure: Callable[[Result, Scalar], None]
    measured: Callable[[Result, Scalar], Figures]
    answer: Callable[[Figures], str]
    reason: str
    now: str
    goal: str
    reached: Callable[[Figures], bool]
    missed: str
    conclusion: str
    tries: tuple[Try, ...]
