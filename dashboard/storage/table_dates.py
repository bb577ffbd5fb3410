"""Dates in the cells of a table: in which order a column writes them, and how many days they are.

The page reads the first lines of a file, a worker the whole file; both call these functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

Order = Literal["ymd", "dmy", "mdy"]

_ORDERS: tuple[Order, ...] = ("ymd", "dmy", "mdy")
_DATE = re.compile(
    r"\s*(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})"
    r"(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:\s?([AaPp])[Mm])?Z?)?\s*",
    re.ASCII,
)
_YEAR_DIGITS = 4


class Dates(NamedTuple):
    """How a column of dates is read.

    Attributes:
        order: of year, month and day.
        since: the day that counts as 0.
        sure: whether the first lines tell the day from the month.
    """

    order: Order
    since: date
    sure: bool


def find_dates(cells: Sequence[str]) -> Dates | None:
    """How the cells of a column are read; None where most of them are no dates.

    Where day and month can be told apart by no cell, the day is taken to come first.
    """
    read = {order: [_moment(cell, order) for cell in cells] for order in _ORDERS}
    counts = {order: sum(one is not None for one in found) for order, found in read.items()}
    order = max(_ORDERS, key=lambda each: counts[each])
    if 2 * counts[order] <= len(cells):
        return None
    dots = all("." in cell for cell in cells)  # nobody writes the month first with dots
    sure = order == "ymd" or dots or counts["dmy"] != counts["mdy"]
    return Dates(order, min(one for one in read[order] if one).date(), sure)


def days(cell: str, dates: Dates) -> float | None:
    """Days from the column's first date to a cell's; None where the cell is no date."""
    moment = _moment(cell, dates.order)
    start = datetime(dates.since.year, dates.since.month, dates.since.day)
    return None if moment is None else (moment - start) / timedelta(days=1)


def is_date(cell: str) -> bool:
    """Whether a cell can be read as a date, in any order."""
    return any(_moment(cell, order) for order in _ORDERS)


def _moment(cell: str, order: Order) -> datetime | None:
    found = _DATE.fullmatch(cell)
    if not found:
        return None
    parts = dict(zip(order, (found[1], found[3], found[4]), strict=True))
    if len(parts["y"]) != _YEAR_DIGITS:
        return None
    hour, minute, second = (int(part or 0) for part in found.group(5, 6, 7))
    if half := (found[8] or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    with suppress(ValueError):
        return datetime(int(parts["y"]), int(parts["m"]), int(parts["d"]), hour, minute, second)
    return None
