"""A user's own table as a regression problem: numeric columns, the last one is y.

Reading is by a few lines at a time and stops at the first fault or at the row limit, so that a
huge or wrong file costs neither time nor memory. Every fault is one sentence that names its place.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

import torch
from torch import Tensor

from attention_plugins.contract import RegressionData

ROW_LIMIT = 1_000_000
COLUMN_LIMIT = 33
_LINE_LIMIT = 100_000  # characters
_AT_ONCE = 1 << 16  # characters
_LARGEST = 1e100  # squares of it and sums of those stay finite
_QUERIES = 100
_QUERIES_MANY_INPUTS = 1_000

# Bytes that are no UTF-8 become lone surrogates, so that the error can name their line.
_ENCODING, _ERRORS = "utf-8-sig", "surrogateescape"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\Z", re.ASCII | re.IGNORECASE)
# A cell of a plain line; possessive, so that nothing is tried twice however long it is.
_CELL = r" *+[+-]?+(?:\d++\.?+\d*+|\.\d++)(?:e[+-]?+\d++)?+ *+"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)\Z", re.IGNORECASE)


class TableError(ValueError):
    """A table that is no regression problem, in one sentence."""


class Columns(NamedTuple):
    """Names, from the header or ``x1, x2, …, y``, and numbers ``(rows, columns)`` in float64."""

    names: tuple[str, ...]
    values: Tensor


def read_columns(source: str | Path | bytes) -> Columns:
    """Read comma-, semicolon- or tab-separated numbers.

    A header is optional, blank lines are skipped, a byte-order mark is allowed, and so is a
    decimal comma unless the comma separates.

    Args:
        source: a path, or the bytes of a file.

    Raises:
        TableError: the first fault, with its row (the line in the file) and column.
    """
    if isinstance(source, bytes):
        return _read(io.TextIOWrapper(io.BytesIO(source), encoding=_ENCODING, errors=_ERRORS))
    with Path(source).open(encoding=_ENCODING, errors=_ERRORS) as text:
        return _read(text)


def as_regression(columns: Columns) -> RegressionData:
    """The last column as y, those before as x; a single x is sorted.

    Queries are 100 evenly spaced points over the range of a single x, else the inputs
    themselves (1,000 of them, evenly picked, where there are more).

    Raises:
        TableError: fewer than two rows, or an x that never changes.
    """
    names, values = columns
    if values.shape[0] < 2:
        raise TableError(f"need 2 <= rows of numbers, got {values.shape[0]}")
    x, y = values[:, :-1], values[:, -1]
    for name, column in zip(names, x.T, strict=False):
        if (column == column[0]).all():
            raise TableError(
                f"column {name!r} is {column[0]:g} in every row; "
                "an input needs at least two different values"
            )
    if x.shape[1] == 1:
        order = x[:, 0].argsort(stable=True)
        x, y = x[order], y[order]
        queries = torch.linspace(float(x[0, 0]), float(x[-1, 0]), _QUERIES, dtype=x.dtype)[:, None]
    else:
        wanted = min(len(x), _QUERIES_MANY_INPUTS)
        queries = x[torch.linspace(0, len(x) - 1, wanted).round().long()]
    return RegressionData(x, y, queries)


def _read(text: TextIO) -> Columns:
    lines = _Lines(text)
    for line in lines:
        if line.strip():
            lines.put_back([line])
            break
    else:
        raise TableError("the table is empty; need at least two rows of numbers")
    delimiter = next((mark for mark in "\t;" if mark in line), ",")
    rows = _rows(lines, delimiter)
    first_row, first = next(rows, (1, [""]))
    if not 2 <= len(first) <= COLUMN_LIMIT:
        raise TableError(
            f"need 2 to {COLUMN_LIMIT} columns (x, then y) separated by comma, semicolon or tab, "
            f"got {len(first)} in row {first_row}"
        )
    header = not any(_NUMBER.match(_plain(c, delimiter)) or _NOT_FINITE.match(c) for c in first)
    width = len(first)
    numbers = array("d", [] if header else _numbers(first_row, first, width, delimiter))
    _read_plain(lines, numbers, width, delimiter)
    for row, cells in rows:
        if len(numbers) == ROW_LIMIT * width:
            raise TableError(f"more than {ROW_LIMIT:,} rows; take a sample of at most that many")
        numbers.extend(_numbers(row, cells, width, delimiter))
    values = torch.tensor(numbers, dtype=torch.float64).reshape(-1, width)
    return Columns(_names(first if header else [""] * width), values)


def _read_plain(lines: _Lines, numbers: array[float], width: int, delimiter: str) -> None:
    """Add rows that are nothing but numbers, many at a time, up to the first that may not be."""
    line = rf"{_CELL}(?:{re.escape(delimiter)}{_CELL}){{{width - 1}}}\n"
    plain = re.compile(f"(?:{line})++", re.ASCII | re.IGNORECASE)
    while taken := lines.take():
        text = _plain("".join(taken).removesuffix("\n") + "\n", delimiter)
        found = []
        if plain.fullmatch(text):
            found = [float(cell) for cell in text[:-1].replace("\n", delimiter).split(delimiter)]
        small = found and max(map(abs, found)) <= _LARGEST
        if not small or len(numbers) + len(found) > ROW_LIMIT * width:
            lines.put_back(taken)
            return
        numbers.extend(found)


class _Lines:
    """The lines of a file, each checked as it is handed out.

    Attributes:
        number: of the last line that was handed out, from 1.
    """

    def __init__(self, text: TextIO) -> None:
        self._text, self._waiting = text, deque[str]()
        self.number = 0

    def take(self) -> list[str]:
        """Return some lines without a check; none at the end."""
        taken, size = [], 0
        while size < _AT_ONCE and (line := self._next()):
            taken.append(line)
            size += len(line)
        self.number += len(taken)
        return taken

    def put_back(self, lines: list[str]) -> None:
        """Have the last lines handed out again."""
        self._waiting.extendleft(reversed(lines))
        self.number -= len(lines)

    def _next(self) -> str:
        return self._waiting.popleft() if self._waiting else self._text.readline(_LINE_LIMIT + 1)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._next()
        if not line:
            raise StopIteration
        self.number += 1
        number = self.number
        if wrong := _NOT_UTF8.search(line):
            byte = ord(wrong[0]) - 0xDC00
            raise TableError(
                f"row {number} is not UTF-8 text (byte 0x{byte:02X}); save the table as CSV UTF-8"
            )
        if "\0" in line:
            raise TableError(f"row {number} holds binary data; need a text file of numbers")
        if len(line) > _LINE_LIMIT:
            raise TableError(f"row {number} is longer than {_LINE_LIMIT:,} characters; need a CSV")
        if number > 2 * ROW_LIMIT:
            raise TableError(f"more than {2 * ROW_LIMIT:,} lines; need at most {ROW_LIMIT:,} rows")
        return line


def _rows(lines: _Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(
                f"row {lines.number} is no CSV ({error}); is a quotation mark left open?"
            ) from error
        if any(cells):
            yield lines.number, cells


def _numbers(row: int, cells: list[str], width: int, delimiter: str) -> list[float]:
    if len(cells) != width:
        raise TableError(
            f"row {row} has {len(cells)} columns, the first has {width}; need {width}"
        )
    return [_number(cell, row, column, delimiter) for column, cell in enumerate(cells, start=1)]


def _number(cell: str, row: int, column: int, delimiter: str) -> float:
    place = f"row {row} column {column}"
    if not cell:
        raise TableError(f"{place} is empty; need a number there, or remove the row")
    if _NOT_FINITE.match(cell):
        raise TableError(f"{place} is {cell}; need a finite number there, or remove the row")
    plain = _plain(cell, delimiter)
    if not _NUMBER.match(plain):
        raise TableError(f"{place} is {cell[:30]!r}; need a number such as 1.5")
    number = float(plain)
    if abs(number) > _LARGEST:
        raise TableError(f"{place} is {cell[:30]}; need at most {_LARGEST:g} in size")
    return number


def _plain(cell: str, delimiter: str) -> str:
    return cell if delimiter == "," else cell.replace(",", ".")


def _names(header: list[str]) -> tuple[str, ...]:
    inputs = len(header) - 1
    spare = [*(["x"] if inputs == 1 else [f"x{i}" for i in range(1, inputs + 1)]), "y"]
    return tuple(name[:40] or other for name, other in zip(header, spare, strict=True))
