"""Parts put one after the other as a language does it; each is in that language already."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from dashboard.language import gettext


def listed(parts: Iterable[str]) -> str:
    """Parts of a list, such as ``4 done, 1 running``; empty for none."""
    return _joined(parts, lambda some, more: gettext("{some}, {more}", some=some, more=more))


def sentences(parts: Iterable[str]) -> str:
    """Whole sentences; empty for none."""
    return _joined(parts, lambda some, more: gettext("{some} {more}", some=some, more=more))


def _joined(parts: Iterable[str], both: Callable[[str, str], str]) -> str:
    found = list(parts)
    return reduce(both, found) if found else ""
