"""Sentences with values: filled as a script wants it, and messages that know their form."""

import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from attention_plugins.marking import Message

_HAN = "一-鿿㐀-䶿"  # characters of Chinese
# A value may be in Chinese or not, so a translation cannot know which spaces it needs.
_TOO_MANY = re.compile(rf"(?<=[{_HAN}]) \Z")
_END_OF_WORD = re.compile(rf"[{_HAN}]\Z")
_WORD = re.compile(r"[A-Za-z0-9]\Z")


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values, and spaces between Chinese and anything else alone."""
    made = ""
    for literal, name, spec, _ in Formatter().parse(text):
        made = _beside(made, literal)
        if name is not None:
            made = _beside(made, format(values[name], spec or ""))
    return made


def _beside(before: str, after: str) -> str:
    if not before or not after:
        return before + after
    han = re.match(rf"[{_HAN}]", after)
    if han and _TOO_MANY.search(before):
        return before[:-1] + after
    if after[0] == " " and _END_OF_WORD.search(before) and re.match(rf" [{_HAN}]", after):
        return before + after[1:]
    alike = _END_OF_WORD.search(before) and re.match(r"[A-Za-z0-9]", after)
    return before + (" " if alike or (han and _WORD.search(before)) else "") + after


_FORM, _TEXT, _VALUES = "$form", "text", "values"  # of a message in JSON
_DEEPEST = 3  # messages within messages


def changed(text: str, change: Callable[[str], str]) -> str:
    """The text after a change, such as a shortening; of a message each value is changed."""
    form = getattr(text, "form", "")
    if not form:
        return change(text)
    values = {name: changed(value, change) for name, value in text.values.items()}  # type: ignore[attr-defined]
    return Message(change(text), form, values)


def packed(held: Any) -> Any:
    """What is to be written as JSON, with its messages as objects."""
    if isinstance(held, str):
        form = getattr(held, "form", "")
        return {_FORM: form, _TEXT: f"{held}", _VALUES: packed(held.values)} if form else held  # type: ignore[attr-defined]
    if isinstance(held, Mapping):
        return {name: packed(value) for name, value in held.items()}
    return [packed(value) for value in held] if isinstance(held, (list, tuple)) else held


def unpacked(held: dict[str, Any]) -> Any:
    """An object of JSON, as a message where :func:`packed` wrote one; a hook of ``json.loads``.

    Whatever a stranger wrote, its text is shown as it stands and no form is filled with it.
    """
    if held.keys() != {_FORM, _TEXT, _VALUES}:
        return held
    form, text, values = held[_FORM], held[_TEXT], held[_VALUES]
    if not isinstance(values, dict) or not all(
        isinstance(one, str) for one in (form, text, *values.values())
    ):
        return held
    return Message(text, form, values) if _depth(values) < _DEEPEST else text


def _depth(values: Mapping[str, str]) -> int:
    return 1 + max((_depth(getattr(one, "values", {})) for one in values.values()), default=0)
