"""Units in the cells of a table, such as ``27 %``, ``€ 12.50`` or ``12 km/h``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dashboard.storage.table_cells import written

_CURRENCY = r"[A-Z]{0,2}\$|[€£¥₹₽₩₺₪฿]|USD|EUR|GBP|CHF|CNY|RMB|JPY|INR"
_AFTER = r"[%‰°℃℉]|°?[^\W\d_]{1,6}(?:/[^\W\d_]{1,6})?[²³]?"
_SPACES = (" ", "\t", "\u00a0", "\u2009", "\u202f")
_WITH_UNIT_BEFORE = re.compile(rf"([+-]?)\s*({_CURRENCY})\s*([\d.,].*)")
_WITH_UNIT_AFTER = re.compile(rf"(.*[\d.,])\s*({_AFTER}|{_CURRENCY})")


class Unit(NamedTuple):
    """The unit of every number in a column.

    Attributes:
        text: as the cells write it.
        before: whether it stands before the number.
    """

    text: str
    before: bool


def split(cell: str) -> tuple[str, Unit | None]:
    """What may be a number, and the unit that it has; the cell as it is without one."""
    if found := _WITH_UNIT_BEFORE.fullmatch(cell):
        return found[1] + found[3], Unit(found[2], before=True)
    if found := _WITH_UNIT_AFTER.fullmatch(cell):
        return found[1].rstrip(), Unit(found[2], before=False)
    return cell, None


def find_unit(cells: Sequence[str], is_number: Callable[[str], object]) -> Unit | None:
    """The unit of a column, where most cells are numbers with it and none has another or none."""
    units = Counter(unit for text, unit in map(split, cells) if is_number(text))
    ((unit, count),) = units.most_common(1) or [(None, 0)]
    return unit if len(units) == 1 and 2 * count > len(cells) else None


def pattern(unit: Unit, encoding: str) -> str:
    """A regular expression of the unit in a cell of bytes, to be replaced by its first group."""
    (text,), spaces = written((unit.text,), encoding), "|".join(written(_SPACES, encoding))
    if unit.before:
        return rf"^((?:{spaces})*[+-]?)(?:{spaces})*{text}(?:{spaces})*"
    return rf"()(?:{spaces})*{text}(?:{spaces})*$"
