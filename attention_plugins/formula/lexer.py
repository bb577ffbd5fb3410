"""Text to tokens: numbers, names, operators; mathematical signs become plain ones."""

import re
from typing import Literal, NamedTuple

from attention_plugins.contract import ContractError
from attention_plugins.formula.names import GREEK, NO_SIGNS
from attention_plugins.marking import gettext_noop


class FormulaError(ContractError):
    """A formula that cannot be read or scored, with its place.

    Attributes:
        sentence: what is wrong and what would be right.
        start, end: the characters it is about, from 0, ``end`` not included.
        suggestion: what may stand there instead; empty if nothing comes to mind.
    """

    def __init__(self, sentence: str, start: int, end: int, suggestion: str = "") -> None:
        self.sentence, self.start, self.end, self.suggestion = sentence, start, end, suggestion
        super().__init__(
            f'formula, character {start + 1}: {sentence}; did you mean "{suggestion}"?'
            if suggestion
            else f"formula, character {start + 1}: {sentence}"
        )


LONGEST = 300  # characters of a formula, as typed and as spelled by its tree
_LARGEST = 1e30

_NUMBER = re.compile(r"([0-9]+(\.[0-9]+|\.(?![A-Za-z_.]))?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUBSCRIPT = re.compile(r"_?[0-9]+|[₀-₉]+")
_UNDERSCORE = re.compile(r"(?<=[a-z])_(?=[0-9]+\Z)")  # w_1 is w1
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_OPERATORS = re.compile(r"\*\*|<=|>=|==|!=|[-+*/^@().,|<>=]")
_SIGNS = {
    "−": "-", "–": "-", "×": "*", "⊙": "*", "÷": "/", "∕": "/", "⁄": "/", "·": "·", "⋅": "·",
    "∙": "·", "•": "·", "≤": "<=", "≥": ">=", "≠": "!=", "ᵀ": "T", "⊤": "T", "√": "√", "‖": "‖",
    "∥": "‖",
}  # fmt: skip
_LETTERS = {**GREEK, "∞": "inf"}
_SPACES = " \t\n\r\u00a0\u2009\u202f"


class Token(NamedTuple):
    """A word of the formula, with its characters in the text."""

    kind: Literal["number", "name", "operator", "end"]
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The tokens of a formula, ``end`` last; FormulaError at what cannot stand in one."""
    if len(text) > LONGEST:
        raise FormulaError(
            f"need at most {LONGEST} characters, got {len(text):,}", LONGEST, len(text)
        )
    found: list[Token] = []
    place = 1 if text.startswith("=") else 0
    while place < len(text):
        if text[place] in _SPACES:
            place += 1
            continue
        found += (new := _next(text, place))
        place = new[-1].end
    return [*found, Token("end", "", len(text), len(text))]


def _next(text: str, start: int) -> list[Token]:
    if number := _NUMBER.match(text, start):
        if not float(number[0]) <= _LARGEST:
            raise FormulaError(f"need a number of at most {_LARGEST:g}", start, number.end())
        return [Token("number", number[0], start, number.end())]
    if (word := _NAME.match(text, start)) or text[start] in _LETTERS:
        end = word.end() if word else start + 1
        name = word[0] if word else _LETTERS[text[start]]
        if below := _SUBSCRIPT.match(text, end):
            name, end = name + below[0].translate(_SUBSCRIPTS), below.end()
        return [Token("name", _UNDERSCORE.sub("", name), start, end)]
    if above := _SUPERSCRIPT.match(text, start):
        digits, end = above[0].translate(_SUPERSCRIPTS), above.end()
        minus = [Token("operator", "-", start, start + 1)] if digits[0] == "-" else []
        number = digits.lstrip("-")
        if len(number) > 3:
            raise FormulaError("need a power of at most three digits", start, end)
        return [Token("operator", "^", start, start), *minus, Token("number", number, start, end)]
    if plain := _SIGNS.get(text[start]):
        return [Token("operator", plain, start, start + 1)]
    if operator := _OPERATORS.match(text, start):
        plain = {"**": "^"}.get(operator[0], operator[0])
        return [Token("operator", plain, start, operator.end())]
    sign = text[start]
    shown = f'"{sign}"' if sign.isprintable() else f"U+{ord(sign):04X}"
    unknown = gettext_noop(f"{shown} has no meaning in a formula")
    raise FormulaError(NO_SIGNS.get(sign, unknown), start, start + 1)
