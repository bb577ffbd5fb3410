"""Sets values into a sentence as a script wants it that writes words without spaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

_HAN = "一-鿿㐀-䶿"  # characters of Chinese
# A value may be in Chinese or not, so a translation cannot know which spaces it needs.
_TOO_MANY = re.compile(rf"(?<=[{_HAN}]) \Z")
_END_OF_WORD = re.compile(rf"[{_HAN}]\Z")
_WORD = re.compile(r"[A-Za-z0-9]\Z")


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values, and a space between Chinese and anything else alone.

    Args:
        text: with placeholders, as of ``str.format``.
        values: by the placeholders' names; their own spaces stay.
    """
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
