"""Puts finished texts together as the visitor's language does."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from dashboard.language import gettext


def listed(items: Iterable[str]) -> str:
    """The items of a list in one line: ``a, b, c``."""
    return functools.reduce(
        lambda first, second: gettext("{first}, {second}", first=first, second=second),
        [*items] or [""],
    )


def together(sentences: Iterable[str]) -> str:
    """Whole sentences one after the other; those that are empty are left out."""
    return functools.reduce(
        lambda before, sentence: gettext("{before} {sentence}", before=before, sentence=sentence),
        [each for each in sentences if each] or [""],
    )


def ended(clause: str) -> str:
    """A clause, such as the message of an error, as a whole sentence."""
    return gettext("{clause}.", clause=clause)
