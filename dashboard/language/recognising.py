"""Finds the translation of a finished English text by its form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

_FEWEST_LETTERS = 4  # that a form must have of its own; "{a}: {b}" would fit everything


@dataclass(frozen=True, kw_only=True)
class _Form:
    """A text with placeholders.

    Args:
        pattern: what it looks like with values, each in a group of the placeholder's name.
        landmark: its longest piece between two placeholders.
        own: how many signs are its own, not its values'.
        translation: with the same placeholders.
    """

    pattern: re.Pattern[str]
    landmark: str
    own: int
    translation: str


class Recogniser:
    """Translates finished texts.

    Args:
        known: translations by English text; both may have placeholders such as ``{count:,}``.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        forms = (_form(text, translation) for text, translation in known.items() if translation)
        self._known = {text: translation for text, translation in known.items() if translation}
        # The more of a text is a form's own, the better it fits.
        self._forms = sorted((form for form in forms if form), key=lambda form: -form.own)

    def __call__(self, text: str) -> str:
        """The translation; the text itself where nothing fits.

        Values are translated too: a message may be told within another one.
        """
        if (known := self._known.get(text)) is not None:
            return known
        for form in self._forms:
            if form.landmark in text and (found := form.pattern.fullmatch(text)):
                values = {name: self(value) for name, value in found.groupdict().items()}
                return form.translation.format(**values)
        return text


def _form(text: str, translation: str) -> _Form | None:
    """The form of a text; None for one without placeholders, or with too little of its own."""
    try:
        parts = [(literal, name) for literal, name, _, _ in Formatter().parse(text)]
    except ValueError:  # braces of TeX
        return None
    own = "".join(literal for literal, _ in parts)
    named = [name for _, name in parts if name is not None]
    if not named or not all(map(str.isidentifier, named)):
        return None
    if sum(map(str.isalpha, own)) < _FEWEST_LETTERS:
        return None
    pattern, met = "", set[str]()
    for literal, name in parts:
        pattern += re.escape(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in met else f"(?P<{name}>.+?)"
            met.add(name)
    return _Form(
        pattern=re.compile(pattern, re.DOTALL), landmark=max((each for each, _ in parts), key=len),
        own=len(own), translation=_unformatted(translation),
    )  # fmt: skip


def _unformatted(text: str) -> str:
    """The text with bare placeholders: a value that was recognised is formatted already."""
    made = ""
    for literal, name, _, _ in Formatter().parse(text):
        made += literal.replace("{", "{{").replace("}", "}}")
        made += f"{{{name}}}" if name is not None else ""
    return made
