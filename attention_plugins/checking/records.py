"""What records of all kinds are asked for: texts that explain, parameters within their bounds."""

from __future__ import annotations

import re
from typing import Any

from attention_plugins.checking.findings import Broken
from attention_plugins.contract import Parameter, Scalar

# Of those that come with the workbench, different ones.
_ALWAYS_THERE = {"scorings": ("scaled_dot", "gaussian"), "normalisers": ("softmax", "sparsemax")}
_ESCAPED = re.compile(r"\\[{}\\]")


def require_explained(spec: Any, formula: str = "", *, formula_is_enough: bool = False) -> None:
    """Raise :class:`Broken` unless a reader learns what it is and where it comes from."""
    if not spec.title.strip():
        raise Broken("the title is blank; give the name that a reader of the pages knows it by")
    if problem := formula_problem(formula):
        raise Broken(f"the formula {formula!r} {problem}")
    if not spec.reference.strip() and not (formula_is_enough and formula):
        raise Broken(
            'the record has no reference; add reference="..." with the paper or page that it '
            "comes from, or who thought of it"
        )


def formula_problem(formula: str) -> str:
    """What keeps LaTeX from being set, and what to change; empty if nothing does."""
    if "$" in formula:
        return "has dollars; write the LaTeX between them only"
    depth = 0
    for mark in re.findall("[{}]", _ESCAPED.sub("", formula)):
        depth += 1 if mark == "{" else -1
        if depth < 0:
            break
    if depth:
        return "has braces that do not match; close every { with one }"
    if formula.count(r"\left") - formula.count(r"\leftarrow") != (
        formula.count(r"\right") - formula.count(r"\rightarrow")
    ):
        return r"has a \left without \right, or the other way round; write both"
    return ""


def values_of(parameter: Parameter, *, on_step: bool = False) -> list[Scalar]:
    """The values to try: both bounds and the default, every choice, or some that it may name.

    Args:
        on_step: whether only values on the parameter's step are taken.
    """
    if parameter.numeric:
        low, high = parameter.bounds
        if on_step and parameter.stride > 1:
            high -= (high - low) % parameter.stride
        kind = type(parameter.default)
        return [kind(low), parameter.default, kind(high)]
    if parameter.names:
        return list(dict.fromkeys((parameter.default, *_ALWAYS_THERE[parameter.names])))
    return list(parameter.choices) or [False, True]
