"""Breaks paragraphs into lines, where it is only known about how wide letters are."""

from __future__ import annotations

import re
import textwrap

_SQUARE = "\u2e80-\u9fff\uff00-\uffef"  # Chinese characters and their punctuation
_CLOSING = "，。、：；？！）》”"  # never begins a line
_IS_SQUARE = re.compile(f"[{_SQUARE}]")
_PIECE = re.compile(rf"[{_SQUARE}][{_CLOSING}]*|[^\s{_SQUARE}]+[{_CLOSING}]*|\s+")


def wrapped(text: str, letters: int, dense: int) -> list[str]:
    """The lines of a paragraph.

    Args:
        letters: that have room in a line; a Chinese character counts for two, and a line may end
            after any of them.
        dense: letters of an address, with its digits and without spaces, that have room.
    """
    words = [" ".join(textwrap.wrap(word, dense)) if word.isascii() and len(word) > dense else word
             for word in text.split()]  # fmt: skip
    whole = " ".join(words)
    return _squares(whole, letters) if _IS_SQUARE.search(whole) else textwrap.wrap(whole, letters)


def _squares(text: str, letters: int) -> list[str]:
    lines, line, filled = [], "", 0
    for piece in _PIECE.findall(text):
        width = len(piece) + len(_IS_SQUARE.findall(piece))
        if filled and filled + width > letters:
            lines.append(line.rstrip())
            line, filled = "", 0
        if filled or not piece.isspace():
            line, filled = line + piece, filled + width
    return [*lines, line.rstrip()] if line.strip() else lines
