"""How a table of text is written, judged by its first lines: separator, decimals, header, columns.

No more than :data:`_HEAD` bytes are read, so that a page may do it for any file. A worker reads
the whole file by what is found here, and both agree on which columns are numbers.
"""

import csv
import functools
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from dashboard.language import gettext_noop
from dashboard.records.request import Columns
from dashboard.storage import table_cells
from dashboard.storage.table_cells import Dates, Unit, find_dates, is_date, is_missing

MOST_INPUTS = 32
MOST_VALUES = 8  # of a column of text, each a column of 0 and 1
_HEAD = 1 << 16  # bytes
_ROWS = 500  # by which columns are judged
_LONGEST_NAME = 40
_DELIMITERS = "\t;|,"  # the first of those that find as many numbers
_IS_NUMBER = {mark: re.compile(table_cells.number(mark), re.ASCII) for mark in ".,"}
_IS_UNGROUPED = {mark: re.compile(table_cells.ungrouped(mark), re.ASCII) for mark in ".,"}
_LONGEST_EXAMPLE = 20
_FORMATS_KEPT = 100
_MOST_ABOVE = 8  # rows above the first with a number, of which one is the header

Rows = Sequence[Sequence[str]]


class TableError(ValueError):
    """A table that is no regression problem, in one sentence.

    Attributes:
        facts: of the event that says so: every request for this table is refused alike.
    """

    facts: ClassVar[Mapping[str, bool]] = {"table": True}


class LeftOut(NamedTuple):
    """A column that cannot be used.

    It has no value, text, or numbers with another mark of decimals than the table; ``example`` is
    a cell of it, empty where it has none.
    """

    column: int
    why: Literal["empty", "text", "point", "comma"]
    example: str = ""


@dataclass(frozen=True, kw_only=True)
class TableFormat:
    """What the first lines of a table say.

    Args:
        encoding: as Python calls it; one that extends ASCII unless it is UTF-16.
        decimal: the mark in numbers, a point or a comma.
        header: how many rows there are down to the one that names the columns; 0 without one.
        names: of all columns, each another.
        numeric: columns of which most values are numbers, by their numbers from 1.
        readings: of these, those whose numbers are dates or have a unit.
        left_out: the other columns.
        suggested: columns that make sense together, see :func:`_suggested`.
    """

    encoding: str
    delimiter: str
    decimal: str
    header: int
    names: tuple[str, ...]
    numeric: tuple[int, ...]
    readings: Mapping[int, Dates | Unit]
    left_out: tuple[LeftOut, ...]
    suggested: Columns

    def name(self, column: int) -> str:
        """What a column is called, by its number from 1; below 0, by that of its parts."""
        return self.names[abs(column) - 1]

    def title(self, column: int) -> str:
        """What a column is called, with the unit of its numbers."""
        name, reading = self.name(column), self.readings.get(column)
        if column < 0:
            return gettext_noop("{column}: year, month, day of week, hour", column=name)
        if isinstance(reading, Dates):
            return gettext_noop("{column}, days since {date}", column=name, date=reading.since)
        return f"{name}, {reading.text}" if reading else name

    @property
    def texts(self) -> tuple[int, ...]:
        """Columns of text, which may be chosen as inputs."""
        return tuple(each.column for each in self.left_out if each.why == "text")

    @property
    def parts(self) -> tuple[int, ...]:
        """Inputs that are parts of dates, the column's number below 0."""
        return tuple(-each for each, how in self.readings.items() if isinstance(how, Dates))

    def usual(self) -> Columns:
        """What a link means that names no columns: the last as the target, others as inputs.

        Dates and numbers with a unit count where there are not two columns of plain numbers.
        """
        bare = tuple(each for each in self.numeric if each not in self.readings)
        used = bare if len(bare) > 1 else self.numeric
        return Columns(inputs=used[:-1][:MOST_INPUTS], target=used[-1])

    def choose(self, text: str) -> Columns:
        """The columns that ``text`` names, the usual ones where it is empty.

        TableError: it names a column that is none of numbers, or too many; inputs may be text.
        """
        if not text:
            return self.usual()
        chosen = Columns.read(text)
        if chosen is None:
            raise TableError(f"columns {text[:40]!r}: need numbers of columns such as 1,2:3")
        known = {*self.numeric, *({*self.texts} - {chosen.target}), *self.parts}
        if wrong := [each for each in chosen.all if each not in known]:
            raise TableError(
                f"column {wrong[0]} of the table is not one of numbers; these are: "
                f"{', '.join(map(str, self.numeric[:MOST_INPUTS]))}"
            )
        if len(chosen.inputs) > MOST_INPUTS:
            raise TableError(f"need at most {MOST_INPUTS} inputs, got {len(chosen.inputs)}")
        return chosen


@functools.lru_cache(maxsize=_FORMATS_KEPT)
def format_of(path: Path, least: int = 2) -> TableFormat:
    """The format of a stored file, whose content never changes; see :func:`find_format`."""
    with path.open("rb") as file:
        return find_format(file.read(_HEAD + 1), least)


def find_format(data: bytes, least: int = 2) -> TableFormat:
    """Judge a table by its first bytes, which may be all of it.

    TableError: no table with ``least`` columns of numbers; none at all where that is 0.
    """
    encoding, text = _text(data[:_HEAD], whole=len(data) <= _HEAD)
    if not text.strip():
        raise TableError("the table is empty; need two columns of numbers or more")
    delimiter, rows = max(
        ((each, _rows(text, each, min(least, 1) + 1)) for each in _DELIMITERS),
        key=lambda found: sum(bool(_read_with(cell)) for row in found[1] for cell in row),
    )
    if not (rows or least):
        raise TableError("need a header and a row below it; found no rows of equal width")
    decimal = _decimal(rows, delimiter)
    header = _header(rows, decimal)
    columns = [*enumerate(zip(*filter(any, rows[header:]), strict=True), 1)]
    judged = {place: _judged(place, cells, decimal) for place, cells in columns}
    unfit = tuple(found for found in judged.values() if isinstance(found, LeftOut))
    numeric = tuple(place for place, found in judged.items() if not isinstance(found, LeftOut))
    if len(numeric) < least:
        raise TableError(
            "need two columns of numbers, dates or numbers with one unit, separated by comma, "
            f"semicolon, tab or |; found {len(numeric)} in the first lines"
        )
    return TableFormat(
        encoding=encoding, delimiter=delimiter, decimal=decimal, header=header,
        names=_names(rows[max(0, header - 1)], header=bool(header)), numeric=numeric,
        readings={place: how for place, how in judged.items() if isinstance(how, Dates | Unit)},
        left_out=unfit,
        suggested=_suggested(dict(columns), judged) if least else Columns(inputs=(), target=0),
    )  # fmt: skip


def _text(head: bytes, *, whole: bool) -> tuple[str, str]:
    utf16 = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not utf16:
        if b"\0" in head:
            raise TableError("the file holds binary data; need a table of text, such as a CSV")
        if not whole:
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
            if not head:
                raise TableError(f"the first line is longer than {_HEAD:,} bytes; need a CSV")
    for encoding in ("utf-16",) if utf16 else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            return encoding, head.decode(encoding, "ignore" if utf16 else "strict")
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 reads every byte")


def _rows(text: str, delimiter: str, least: int) -> Rows:
    """The rows as wide as most rows are, also those without a value; none of fewer columns."""
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
    try:
        found = [[cell.strip() for cell in row] for row in islice(reader, _ROWS)]
    except csv.Error:
        return ()
    widths = Counter(len(row) for row in found if any(row))
    width = max(widths, key=lambda each: (widths[each], each), default=0)
    return [row for row in found if len(row) == width] if width >= least else ()


def _read_with(cell: str) -> str:
    """The marks of decimals with which a cell is a number, with a unit or without."""
    bare, _ = table_cells.split(cell)
    return "".join(mark for mark, number in _IS_NUMBER.items() if number.fullmatch(bare))


def _header(rows: Rows, decimal: str) -> int:
    """How many rows there are down to the header; 0 without one.

    Titles and units may stand above and below it: of the rows above the first number, the header
    is the first that has the most cells filled.
    """
    number = _IS_NUMBER[decimal]
    above = takewhile(
        lambda row: not any(number.fullmatch(cell) or is_date(cell) for cell in row), rows
    )
    filled = [sum(map(bool, row)) for row in islice(above, _MOST_ABOVE + 1)]
    if len(filled) > _MOST_ABOVE:  # rows of text
        return 1
    return filled.index(max(filled)) + 1 if filled else 0


def _decimal(rows: Rows, delimiter: str) -> str:
    """The mark of decimals: 1.536,0 can be read with one alone, 1,536 with both.

    Where no cell decides, one without separators of thousands counts as more likely; where commas
    separate columns, a point.
    """
    marks = Counter(_read_with(cell) for row in rows for cell in row)
    if marks["."] != marks[","]:
        return "," if marks[","] > marks["."] else "."
    likely = {
        mark: sum(bool(each.fullmatch(table_cells.split(cell)[0])) for row in rows for cell in row)
        for mark, each in _IS_UNGROUPED.items()
    }
    return "," if delimiter != "," and likely[","] > likely["."] else "."


def _judged(place: int, cells: Sequence[str], decimal: str) -> LeftOut | Dates | Unit | None:
    """How the numbers of a column are read, None as they are; or why the column is left out."""
    present = [cell for cell in cells if not is_missing(cell)]
    if not present:
        return LeftOut(place, "empty")
    number = _IS_NUMBER[decimal]
    others = [cell for cell in present if not number.fullmatch(cell)]
    if 2 * len(others) < len(present):
        return None
    if found := find_dates(present) or table_cells.find_unit(present, number.fullmatch):
        return found
    another = "." if decimal == "," else ","
    foreign = [cell for cell in others if _IS_NUMBER[another].fullmatch(cell)]
    if 2 * len(foreign) > len(present):
        why: Literal["point", "comma"] = "point" if another == "." else "comma"
        return LeftOut(place, why, foreign[0][:_LONGEST_EXAMPLE])
    return LeftOut(place, "text", others[0][:_LONGEST_EXAMPLE])


def _suggested(
    columns: Mapping[int, Sequence[str]], judged: Mapping[int, LeftOut | Dates | Unit | None]
) -> Columns:
    """The last column of measurements as the target, from the first other that tells rows apart.

    Constants tell nothing. Neither dates nor the running number of rows is measured.
    """
    usable = [place for place, found in judged.items() if not isinstance(found, LeftOut)]
    varied = [place for place in usable if len({*columns[place]}) > 1] or usable
    counted = [place for place in varied if _is_count(columns[place])]
    dates = [place for place in varied if isinstance(judged[place], Dates)]
    target = ([place for place in varied if place not in counted + dates] or varied)[-1]
    others = [place for place in (*varied, *usable) if place != target]
    told = [place for place in others if place in varied and place not in counted]
    return Columns(inputs=((told or others)[0],), target=target)


def _is_count(cells: Sequence[str]) -> bool:
    return any(list(cells) == [str(start + n) for n in range(len(cells))] for start in (0, 1))


def _names(first: Sequence[str], *, header: bool) -> tuple[str, ...]:
    spare = [gettext_noop("column {place}", place=place) for place in range(1, len(first) + 1)]
    names = [cell[:_LONGEST_NAME] or own for cell, own in zip(first, spare, strict=True)]
    taken = Counter(names)
    return tuple(
        (name if taken[name] == 1 else f"{name}, {own}") if header else own
        for name, own in zip(names, spare, strict=True)
    )
