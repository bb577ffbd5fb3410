"""Small tensors as text: ``1,0.5/0,2:3,1/4,1`` is two rows of a batch, each two rows of two.

Numbers are separated by commas, rows by ``/``, the rows of a batch by ``:``: signs that an address
shows as they are. Numbers have four significant digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

Matrix = tuple[tuple[float, ...], ...]
Tensor = tuple[Matrix, ...]

MOST_NUMBERS = 4_000  # of one tensor
LARGEST, SMALLEST = 1e6, 1e-9
_LONGEST = 16 * MOST_NUMBERS
_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})(e[+-]?[0-9]{1,2})?\Z")
_LENGTH = re.compile(r"[0-9]{1,9}\Z")


class TensorError(ValueError):
    """A text that is no tensor of the shape asked for, in one sentence."""


def rounded(value: float) -> float:
    """To four significant digits, as a text holds it; 0 where next to nothing."""
    return float(f"{value:.4g}") if abs(value) >= SMALLEST else 0.0


def write(tensor: Iterable[Iterable[Iterable[float]]]) -> str:
    """The text that :func:`read` turns into ``tensor``, rounded."""
    return ":".join("/".join(",".join(map(_digits, row)) for row in rows) for rows in tensor)


def read(text: str, shape: Sequence[int]) -> Tensor:
    """The tensor of shape ``(B, n, d)`` that the text holds.

    Raises:
        TensorError: another shape, too many numbers, or something that is no number of at most
            a million.
    """
    if len(text) > _LONGEST:
        raise TensorError(f"need at most {MOST_NUMBERS:,} numbers, got {len(text):,} characters")
    parts = text.split(":")
    if len(parts) != shape[0]:
        raise TensorError(f"need one matrix per batch row, {shape[0]} in all, got {len(parts)}")
    return tuple(_matrix([row.split(",") for row in part.split("/")], shape[1:]) for part in parts)


def shape_of(text: str) -> tuple[int, int, int]:
    """The shape that a text has, if all its rows are as long as the first."""
    first = text.partition(":")[0]
    return text.count(":") + 1, first.count("/") + 1, first.partition("/")[0].count(",") + 1


def write_lines(matrix: Iterable[Iterable[float]]) -> str:
    """A matrix for a text field: a line per row."""
    return "\n".join("  ".join(map(_digits, row)) for row in matrix)


def read_lines(text: str, shape: Sequence[int]) -> Matrix:
    """The matrix ``(n, d)`` that somebody typed: a line per row, or as Python prints it.

    Raises:
        TensorError: as :func:`read`.
    """
    if len(text) > _LONGEST:
        raise TensorError(f"need at most {MOST_NUMBERS:,} numbers, got {len(text):,} characters")
    lines = re.sub(r"[\[(]", " ", text.replace(";", "\n").replace("]", "\n").replace(")", "\n"))
    cells = [re.split(r"[\s,]+", line.strip(" ,\t\r")) for line in lines.splitlines()]
    return _matrix([row for row in cells if row != [""]], shape)


def read_lengths(text: str, batch: int, queries: int, kinds: str = "row query") -> str:
    """Valid lengths in the one way to write them: ``2,6`` per row, ``1,3/2,4`` per query.

    Args:
        kinds: which of the two are allowed.

    Returns:
        Empty for none.

    Raises:
        TensorError: neither a length per batch row nor one per query of each.
    """
    groups = re.split(r"\s*[/;:|\n]\s*", text.strip().strip("[](),;/ "))
    rows = [re.split(r"[\s,]+", group.strip("[](), ")) for group in groups]
    if rows == [[""]]:
        return ""
    wrong = next((cell for row in rows for cell in row if not _LENGTH.match(cell)), None)
    if wrong is not None:
        raise TensorError(f"need whole numbers from 0, got ‘{_short(wrong)}’")
    shapes = {"row": [batch], "query": [queries] * batch}
    sizes = [len(row) for row in rows]
    if sizes not in [shape for kind, shape in shapes.items() if kind in kinds]:
        wanted = {
            "row": f"a length per batch row, such as {','.join('1' * batch)}",
            "query": f"one per query, such as {'/'.join([','.join('1' * queries)] * batch)}",
        }
        needed = " or ".join(words for kind, words in wanted.items() if kind in kinds)
        raise TensorError(f"need {needed}; got {', '.join(map(str, sizes))} numbers")
    return "/".join(",".join(str(int(cell)) for cell in row) for row in rows)


def lengths(text: str) -> tuple[tuple[int, ...], ...]:
    """What :func:`read_lengths` wrote, as numbers: one group, or one per batch row."""
    return tuple(tuple(map(int, group.split(","))) for group in text.split("/")) if text else ()


def _matrix(rows: Sequence[Sequence[str]], shape: Sequence[int]) -> Matrix:
    sizes = {len(row) for row in rows}
    if len(rows) != shape[0] or sizes != {shape[1]}:
        got = f"{len(rows)} of {', '.join(map(str, sorted(sizes)))}" if rows else "none"
        raise TensorError(f"need {shape[0]} rows of {shape[1]} numbers, got {got}")
    return tuple(tuple(map(_number, row)) for row in rows)


def _number(text: str) -> float:
    if not _NUMBER.match(text):
        raise TensorError(f"need numbers such as 0.5 or -2, got ‘{_short(text)}’")
    value = float(text)
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise TensorError(f"need numbers of at most {LARGEST:,.0f}, got {_short(text)}")
    return rounded(value)


def _digits(value: float) -> str:
    # A plus sign would mean a space in an address.
    text = f"{rounded(value):.4g}".replace("e+0", "e").replace("e-0", "e-")
    return "0" if text == "-0" else text


def _short(text: str) -> str:
    seen = "".join(c if c.isprintable() else "·" for c in text[:20])
    return seen + "…" if len(text) > 20 else seen
