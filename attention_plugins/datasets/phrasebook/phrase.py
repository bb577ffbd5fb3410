"""Synchronous phrases: English and French words side by side, tied by shared marks.

A template is written ``"last:1 week:2 | la semaine:2 dernière:1"``. Words that carry the same
mark translate each other; a word without one has no counterpart. ``{name}`` is a slot for another
phrase, which may stand at different places on the two sides, or more than once on neither.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

Marks = tuple[int, ...]
T = TypeVar("T")

_LOCAL_MARKS = 64
_SLOT = re.compile(r"\{(\w+)\}\Z")
_starts: Iterator[int] = itertools.count(0, _LOCAL_MARKS)


class Word(NamedTuple):
    """A word before spelling rules (elision, contraction) and the marks that tie it."""

    text: str
    marks: Marks = ()


class Phrase(NamedTuple):
    """The same thing said in both languages."""

    english: tuple[Word, ...]
    french: tuple[Word, ...]

    def __add__(self, other: Phrase) -> Phrase:  # type: ignore[override]
        return Phrase(self.english + other.english, self.french + other.french)


Draft = tuple[Phrase, str]  # a phrase and the punctuation that will end it
EMPTY = Phrase((), ())


class Dice(random.Random):
    """The random choices of one derivation; equal seeds make equal choices on every Python."""

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        """True as often as that."""
        return self.random() < probability


def fresh_mark() -> Marks:
    """A mark that no other word carries."""
    return (next(_starts),)


def fill(template: str, **slots: Phrase) -> Phrase:
    """The template with its slots filled and marks of its own.

    Without any mark or slot, a side of one word is tied to all words of the other.

    Raises:
        ValueError: a template without marks whose two sides both have several words.
    """
    start = next(_starts)
    english, french = _parse(template)
    return Phrase(_side(english, start, slots, 0), _side(french, start, slots, 1))


def _side(items: tuple, start: int, slots: dict[str, Phrase], side: int) -> tuple[Word, ...]:
    words: list[Word] = []
    for item in items:
        text, marks = item
        if marks is None:
            words.extend(slots[text][side])
        elif not marks:
            words.append(item)
        elif len(marks) == 1:
            words.append(_new(Word, (text, (start + marks[0],))))
        else:
            words.append(Word(text, tuple([start + mark for mark in marks])))
    return tuple(words)


_new = tuple.__new__  # twice as fast as calling Word, and there are a million of them


@cache
def _parse(template: str) -> tuple[tuple, tuple]:
    """Both sides as ``(text, local marks)``; the marks of a slot are None."""
    names: dict[str, int] = {}
    sides = []
    for side in template.split("|"):
        items: list[tuple[str, tuple[int, ...] | None]] = []
        for token in side.split():
            slot = _SLOT.match(token)
            text, _, marks = token.partition(":")
            local = tuple(names.setdefault(mark, len(names)) for mark in marks)
            items.append((slot[1], None) if slot else Word(text, local))
        sides.append(tuple(items))
    if len(sides) != 2:
        raise ValueError(f"need two sides around one |, got {template!r}")
    english, french = sides
    if names or any(marks is None for _, marks in english + french):
        return english, french
    if min(len(english), len(french)) != 1:
        raise ValueError(f"need marks where both sides have several words, got {template!r}")
    return _tied(english), _tied(french)


def _tied(items: tuple) -> tuple:
    return tuple((text, (0,)) for text, _ in items)
