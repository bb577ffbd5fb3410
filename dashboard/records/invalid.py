"""What is wrong with data that a pydantic model refuses, in a sentence of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dashboard.language import gettext_noop
from dashboard.records.text import one_line, shown

_LONGEST_PLACE = 200  # characters
_TEXT, _LIST = gettext_noop("a text"), gettext_noop("a list")
_WHOLE = gettext_noop("a whole number")
_OBJECT, _NOTHING = gettext_noop("an object with named values"), gettext_noop("nothing")
_NUMBER, _FINITE = gettext_noop("a number"), gettext_noop("a finite number")
_BOOLEAN = gettext_noop("true or false")
# What would be right, by pydantic's type of the error.
_KINDS = {
    "string_type": _TEXT, "int_type": _WHOLE, "int_from_float": _WHOLE, "float_type": _NUMBER,
    "finite_number": _FINITE, "bool_type": _BOOLEAN, "list_type": _LIST, "tuple_type": _LIST,
    "dict_type": _OBJECT, "model_type": _OBJECT, "model_attributes_type": _OBJECT,
}  # fmt: skip


def reason(error: ValidationError) -> str:
    """The first thing that is wrong, where it is, and what would be right there."""
    found = error.errors(include_url=False)[0]
    place = one_line(".".join(map(str, found["loc"])))[:_LONGEST_PLACE]
    kind, context = found["type"], found.get("ctx", {})
    if kind == "missing":
        return gettext_noop("{place} is missing", place=place)
    if kind == "extra_forbidden":
        return gettext_noop("{place} is not known here", place=place)
    if kind in ("value_error", "assertion_error"):
        problem = str(context.get("error", ""))
        if not place:
            return problem
        return gettext_noop("at {place}: {problem}", place=place, problem=problem)
    wanted, given = _wanted(kind, context), _given(context.get("tag", found["input"]))
    if place:
        return gettext_noop(
            "at {place}: need {wanted}, got {given}", place=place, wanted=wanted, given=given
        )
    return gettext_noop("need {wanted}, got {given}", wanted=wanted, given=given)


def _wanted(kind: str, context: Mapping[str, Any]) -> str:
    match kind:
        case "greater_than_equal":
            return gettext_noop("at least {least}", least=context["ge"])
        case "less_than_equal":
            return gettext_noop("at most {most}", most=context["le"])
        case "greater_than":
            return gettext_noop("more than {least}", least=context["gt"])
        case "less_than":
            return gettext_noop("less than {most}", most=context["lt"])
        case "too_short" | "string_too_short":
            return gettext_noop("a length of at least {least}", least=context["min_length"])
        case "too_long" | "string_too_long":
            return gettext_noop("a length of at most {most}", most=context["max_length"])
        case "string_pattern_mismatch":
            return gettext_noop("a text that fits {pattern}", pattern=context["pattern"])
        case "literal_error":
            return gettext_noop("one of {names}", names=context["expected"])
        case "union_tag_invalid":
            return gettext_noop("one of {names}", names=context["expected_tags"])
    return _KINDS.get(kind, gettext_noop("another value"))


def _given(value: Any) -> str:
    """A short value as it stands, of another one its kind."""
    match value:
        case None:
            return _NOTHING
        case list() | tuple():
            return _LIST
        case dict():
            return _OBJECT
    return shown(str(value))
