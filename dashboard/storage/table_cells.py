"""What a cell of a table says: a number in one of several spellings, a date, or nothing.

The page reads the first lines of a file as text, a worker the whole file as bytes. Both take
their patterns from here, so that they agree on what a number is.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
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
    """How a column of dates is read; the day ``since`` counts as 0.

    It is ``sure`` where the first lines tell the day from the month.
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


_CURRENCY = r"[A-Z]{0,2}\$|[€£¥₹₽₩₺₪฿]|USD|EUR|GBP|CHF|CNY|RMB|JPY|INR"
_AFTER = r"[%‰°℃℉]|°?[^\W\d_]{1,6}(?:/[^\W\d_]{1,6})?[²³]?"
_BEFORE_UNITS = (" ", "\t", "\u00a0", "\u2009", "\u202f")
_WITH_UNIT_BEFORE = re.compile(rf"([+-]?)\s*({_CURRENCY})\s*([\d.,].*)")
_WITH_UNIT_AFTER = re.compile(rf"(.*[\d.,])\s*({_AFTER}|{_CURRENCY})")


class Unit(NamedTuple):
    """The unit of every number in a column, as the cells write it, before the number or after."""

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
    (text,), spaces = written((unit.text,), encoding), "|".join(written(_BEFORE_UNITS, encoding))
    if unit.before:
        return rf"^((?:{spaces})*[+-]?)(?:{spaces})*{text}(?:{spaces})*"
    return rf"()(?:{spaces})*{text}(?:{spaces})*$"


# In lower case. Spreadsheets of several languages, databases and statistical offices write these.
MISSING = (
    "", "-", "--", "---", "–", "—", "——", "?", ".", "..", "...", "…", "na", "n/a", "n.a.", "n. a.",
    "#n/a", "#na", "nan", "nil", "null", "(null)", "\\n", "none", "nd", "n.d.", "n.v.", "#nv",
    "k.a.", "k. a.", "k.a", "keine angabe", "not available", "missing", "unknown", "#div/0!",
    "#value!", "#wert!", "#ref!", "无", "缺失", "不详", "暂无",
)  # fmt: skip
_SPACES = (" ", "\u00a0", "\u2009", "\u202f", "'", "’")
# Between thousands, by the mark of decimals.
_SEPARATORS = {".": (",", *_SPACES), ",": (".", *_SPACES)}


def number(decimal: str, encoding: str = "") -> str:
    """A regular expression of a number, such as ``-2e1``, ``1536`` or ``1,536.0``.

    Groups of three digits begin with another digit than 0, so that ``0,500`` is no 500.

    Args:
        decimal: the mark of decimals, a point or a comma.
        encoding: of cells that are bytes; of text if empty.
    """
    mark, marks = re.escape(decimal), written(_SEPARATORS[decimal], encoding)
    groups = "|".join(rf"(?:{each}\d{{3}})+" for each in marks)
    return (
        rf"[+-]?(?:[1-9]\d{{0,2}}(?:{groups})(?:{mark}\d*)?|\d+{mark}?\d*|{mark}\d+)"
        rf"(?:[eE][+-]?\d+)?"
    )


def ungrouped(decimal: str) -> str:
    """A regular expression of a number without separators of thousands."""
    mark = re.escape(decimal)
    return rf"[+-]?(?:\d+{mark}?\d*|{mark}\d+)(?:[eE][+-]?\d+)?"


def separators(decimal: str, encoding: str) -> str:
    """A regular expression of what stands in a number and does not count, for bytes."""
    return "|".join((r"[\s+]", *written(_SEPARATORS[decimal], encoding)))


def missing(encoding: str) -> str:
    """A regular expression of cells without a value, for bytes; case does not count."""
    return rf"^\s*({'|'.join(written(MISSING, encoding))})\s*$"


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.lower() in MISSING


def written(texts: tuple[str, ...], encoding: str) -> list[str]:
    """Regular expressions of the texts; of bytes in that encoding, as far as it has them."""
    if not encoding:
        return [re.escape(text) for text in texts]
    if encoding.startswith("utf"):  # arrow turns UTF-16 into UTF-8
        encoding = "utf-8"
    coded = [text.encode(encoding, "ignore") for text in texts]
    known = [code for text, code in zip(texts, coded, strict=True) if code or not text]
    return ["".join(rf"\x{byte:02x}" for byte in code) for code in known]
