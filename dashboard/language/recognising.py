"""Finds the translation of a finished English text by its form."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Formatter

from dashboard.language.typesetting import filled

_FEW_LETTERS = 6  # a form with fewer of its own says little: "{model} with {scoring}"
_LONGEST = 2000  # characters of a text that is compared with forms
_DEEPEST = 3  # values within values
_MOST_TRIED = 3  # forms that fit one text
_NUMBER = re.compile(r"[-+−]?[0-9][0-9,.]*(e[-+]?[0-9]+)?|nan|-?inf")
_NUMERIC = re.compile(r".*[,dgfe]\Z")  # format of a placeholder that is a number
# Plugins, parameters and numbers as they are written, several of them with commas or "and".
_NAMES = re.compile(r"[^\sA-Z]+(?:(?:,| and) [^\sA-Z]+)*")
# A sentence that has these is translated already, and only looks like a form.
_CHINESE = re.compile("[，。：；？！（）、]")
_QUOTES = {"'": "'", '"': '"', "‘": "’", "“": "”"}


@dataclass(frozen=True, kw_only=True)
class _Form:
    """A text with placeholders.

    Args:
        pieces: what stands before, between and after the placeholders.
        landmark: the longest of them.
        own: how many signs they have.
        letters: how many of these are letters.
        names: of the placeholders, in their order.
        numeric: those that are numbers.
        translation: with the same placeholders.
    """

    pieces: tuple[str, ...]
    landmark: str
    own: int
    letters: int
    names: tuple[str, ...]
    numeric: frozenset[str]
    translation: str

    def values(self, text: str) -> dict[str, str] | None:
        """The values of the placeholders; None where the text has another form."""
        first, *between, last = self.pieces
        if not (text.startswith(first) and text.endswith(last)):
            return None
        found, at, end = [], len(first), len(text) - len(last)
        for piece in between:
            place = text.find(piece, at + 1, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(piece)
        values: dict[str, str] = {}
        for name, value in zip(self.names, [*found, text[at:end]], strict=True):
            number = name not in self.numeric or _NUMBER.fullmatch(value)
            if not value or not number or values.setdefault(name, value) != value:
                return None
        return values


class Recogniser:
    """Translates finished texts.

    Args:
        known: translations by English text; both may have placeholders such as ``{count:,}``.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = {text: translation for text, translation in known.items() if translation}
        forms = (_form(text, translation) for text, translation in self._known.items())
        # The more of a text is a form's own, the better it fits.
        self._forms = sorted((form for form in forms if form), key=lambda form: -form.own)

    def __call__(self, text: str) -> str:
        """The translation; the text itself where nothing fits.

        Values are translated too: a message may be told within another one. Where several forms
        fit, it is the one of which most is understood.
        """
        return self._translated(text, 0)[0]

    def _translated(self, text: str, depth: int) -> tuple[str, int]:
        """The translation, and how many signs of the text were understood."""
        if (known := self._known.get(text)) is not None:
            return known, len(text)
        if len(text) > _LONGEST or depth > _DEEPEST or (not depth and _CHINESE.search(text)):
            return text, 0
        if len(text) > 2 and _QUOTES.get(text[0]) == text[-1]:
            if _NAMES.fullmatch(text[1:-1]):
                return text, 0
            inside, understood = self._translated(text[1:-1], depth + 1)
            return f"{text[0]}{inside}{text[-1]}", understood
        best, most = text, 0
        for form, values in itertools.islice(self._fitting(text), _MOST_TRIED):
            said = {name: self._translated(value, depth + 1) for name, value in values.items()}
            inside = sum(understood for _, understood in said.values())
            # Much fits a form with few letters that means something else.
            known = [bool(said[name][1]) for name in values]
            names = [bool(_NAMES.fullmatch(value)) for value in values.values()]
            if form.letters < _FEW_LETTERS and not all(map(operator.or_, known, names)):
                continue
            if not form.letters and (all(names) or not all(known)):
                continue
            if form.own + inside > most:
                best = filled(form.translation, {name: text for name, (text, _) in said.items()})
                most = form.own + inside
        return best, most

    def _fitting(self, text: str) -> Iterator[tuple[_Form, dict[str, str]]]:
        for form in self._forms:
            if form.landmark in text and (values := form.values(text)) is not None:
                yield form, values


def _form(text: str, translation: str) -> _Form | None:
    """The form of a text; None for one without placeholders, or with nothing of its own."""
    try:
        parts = [*Formatter().parse(text)]
    except ValueError:  # braces of TeX
        return None
    named = [(name, spec or "") for _, name, spec, _ in parts if name is not None]
    if not named or not all(name.isidentifier() for name, _ in named):
        return None
    pieces, literal = [], ""
    for before, name, _, _ in parts:
        literal += before
        if name is not None:
            pieces.append(literal)
            literal = ""
    pieces.append(literal)
    if not "".join(pieces).strip():
        return None
    return _Form(
        pieces=tuple(pieces), landmark=max(pieces, key=len), own=sum(map(len, pieces)),
        letters=sum(map(str.isalpha, "".join(pieces))), names=tuple(name for name, _ in named),
        numeric=frozenset(name for name, spec in named if _NUMERIC.fullmatch(spec)),
        translation=_unformatted(translation),
    )  # fmt: skip


def _unformatted(text: str) -> str:
    """The text with bare placeholders: a value that was recognised is formatted already."""
    made = ""
    for literal, name, _, _ in Formatter().parse(text):
        made += literal.replace("{", "{{").replace("}", "}}")
        made += f"{{{name}}}" if name is not None else ""
    return made
