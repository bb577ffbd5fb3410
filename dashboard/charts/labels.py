"""Tokens as labels: any string shown in one line, and how much room labels take."""

import functools
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from string import Formatter

import numpy as np


def vega_text(sentence: str, **parts: str) -> str:
    """The expression of a sentence such as ``query {query}, key {key}``.

    ``parts``: expressions by placeholder, such as ``datum.query``.
    """
    made = []
    for literal, name, _, _ in Formatter().parse(sentence):
        if literal:
            made.append(quoted(literal))
        if name is not None:
            made.append(parts[name])
    return " + ".join(made)


def quoted(text: str) -> str:
    """A text as an expression."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SQUARE_CHARACTERS = "\u2e80-\u9fff\uff00-\uffef"  # Chinese characters and their punctuation
_CLOSING = "，。、：；？！）》”"  # never begins a line
_IS_SQUARE = re.compile(f"[{_SQUARE_CHARACTERS}]")
_PIECE = re.compile(
    rf"[{_SQUARE_CHARACTERS}][{_CLOSING}]*|[^\s{_SQUARE_CHARACTERS}]+[{_CLOSING}]*|\s+"
)


def wrapped(text: str, letters: int, dense: int) -> list[str]:
    """The lines of a paragraph.

    Args:
        letters: that have room in a line; a Chinese character counts for two, and may end a line.
        dense: letters of an address, with its digits and without spaces, that have room.
    """
    words = [" ".join(textwrap.wrap(word, dense)) if word.isascii() and len(word) > dense else word
             for word in text.split()]  # fmt: skip
    whole = " ".join(words)
    if not _IS_SQUARE.search(whole):
        return [whole] if 0 < len(whole) <= letters else textwrap.wrap(whole, letters)
    lines, line, filled = [], "", 0
    for piece in _PIECE.findall(whole):
        width = len(piece) + len(_IS_SQUARE.findall(piece))
        if filled and filled + width > letters:
            lines.append(line.rstrip())
            line, filled = "", 0
        if filled or not piece.isspace():
            line, filled = line + piece, filled + width
    return [*lines, line.rstrip()] if line.strip() else lines


MOST_ROOM = 96  # px, for the labels of one axis
_TOKENS_KEPT = 4_096
INSIDE = "·"  # before a piece that goes on with the word of the piece before it
_LONGEST = 120  # characters, in a tooltip; an axis cuts by pixels
_CHARACTER = 6.9  # px, the mean width of a letter at the charts' font size
_SQUARE = 12.5  # px, the width of a Chinese character
_STANDS_FOR = {"": "∅", " ": "␣", "\t": "⇥", "\n": "⏎", "\r": "⏎"}
# Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX 9).
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def displayed(tokens: Sequence[object]) -> list[str]:
    """The tokens as one line each, with signs for what cannot be seen.

    Control characters and marks that turn the writing direction, which would reorder what stands
    beside them, become ``�``.
    """
    return [_displayed(str(token)) for token in tokens]


def labels_of(labels: Sequence[object] | None, count: int, name: str) -> list[str]:
    """One label per ``name``, positions where None; ValueError where there are not ``count``."""
    shown = displayed(range(count) if labels is None else labels)
    if len(shown) != count:
        raise ValueError(f"need one label per {name}, {count} in all, got {len(shown)}")
    return shown


@functools.lru_cache(maxsize=_TOKENS_KEPT)
def _displayed(token: str) -> str:
    if token in _STANDS_FOR:
        return _STANDS_FOR[token]
    if token.isspace():
        return "␣"
    shown = "".join(
        "�" if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in _TURNS else c
        for c in token[:_LONGEST]
    )
    return shown + "…" if len(token) > _LONGEST else shown


def goes_on(label: str) -> bool:
    """Whether a label is a piece of a word that began before it."""
    return len(label) > 1 and label.startswith(INSIDE)


def room(labels: Sequence[str], limit: int) -> int:
    """Pixels that the widest label takes, at most ``limit``."""
    widest = max(map(_width, labels), default=0)
    return int(min(limit, np.ceil(widest) + 4))


def _width(label: str) -> float:
    if label.isascii():
        return len(label) * _CHARACTER
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in label)
    return wide * _SQUARE + (len(label) - wide) * _CHARACTER


def thinned(count: int, available: float, each: float) -> list[int]:
    """Evenly spaced positions out of ``count``, so that labels of ``each`` px fit."""
    return list(range(0, count, step(count, available, each)))


def step(count: int, available: float, each: float) -> int:
    """How far apart labels of ``each`` px stand, so that those of ``count`` positions fit."""
    return max(1, int(np.ceil(count * each / max(available, 1))))
