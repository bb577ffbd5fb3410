"""Small tensors as text: ``1,0.5/0,2:3,1/4,1`` is two rows of a batch, each two rows of two.

Numbers are separated by commas, rows by ``/``, the rows of a batch by ``:``: signs that an address
shows as they are. Numbers have four significant digits.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import NOBODY
from dashboard.links.link import Field, Reader, View
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown

_SAID = beside(__file__, "words.toml")["tensors"]
_WANTED = beside(__file__, "words.toml")["wanted"]  # lengths, by the kinds that are allowed


@dataclass(frozen=True, kw_only=True)
class TensorText(Field[View, str]):
    """The numbers of a tensor.

    Args:
        shape: ``(B, n, d)``, as it is for this view.
        default: the text of a bare address.
        refused: what is said of a link's numbers that are refused: ``{name}={given}: {error}``.
        fixed: whether the numbers cannot be set, as it is for this view.
    """

    shape: Callable[[View], tuple[int, int, int]]
    default: str = ""
    refused: str = gettext_noop("{name}={given}: {error}, so the example's are used")
    fixed: Callable[[View], bool] = lambda _: False

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name)
        if given is None:
            return self.default
        if self.fixed(view):
            reader.problem(gettext(_SAID["fixed"], name=self.name))
            return self.default
        try:
            return write(read(given, self.shape(view)))
        except TensorError as error:
            reader.problem(gettext(self.refused, name=self.name, given=shown(given), error=error))
            return self.default

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.default else {self.name: value}


@dataclass(frozen=True, kw_only=True)
class Lengths(Field[View, str]):
    """Valid lengths, or ``none``.

    Args:
        sizes: of the batch and of its queries, as they are for this view.
        kinds: which kinds of lengths are allowed, see :func:`.tensors.read_lengths`.
        default: the lengths of a bare address, as they are for this view.
    """

    sizes: Callable[[View], tuple[int, int]]
    kinds: Callable[[View], str]
    default: Callable[[View], str]

    def parse(self, text: str, view: View) -> str:
        """The lengths in the one way to write them; TensorError if their kind is not allowed."""
        return read_lengths(text, *self.sizes(view), self.kinds(view))

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        default = self.default(view)
        given = reader.take(self.name)
        if given is None or given == NOBODY:
            return default if given is None else ""
        try:
            return self.parse(given, view)
        except TensorError as error:
            words = {"given": shown(given), "problem": error, "used": default or NOBODY}
            reader.problem(gettext(_SAID["refused"], name=self.name, **words))
            return default

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.default(view) else {self.name: value or NOBODY}


Matrix = tuple[tuple[float, ...], ...]
Tensor = tuple[Matrix, ...]

_MOST_NUMBERS = 4_000  # of one tensor
LARGEST, _SMALLEST = 1e6, 1e-9
_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})(e[+-]?[0-9]{1,2})?\Z")
_LENGTH = re.compile(r"[0-9]{1,9}\Z")


class TensorError(ValueError):
    """A text that is no tensor of the shape asked for, in one sentence; ``values`` are its own."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(gettext(text, **values))


def rounded(value: float) -> float:
    """To four significant digits, as a text holds it; 0 where next to nothing."""
    return float(f"{value:.4g}") if abs(value) >= _SMALLEST else 0.0


def write(tensor: Iterable[Iterable[Iterable[float]]]) -> str:
    """The text that :func:`read` turns into ``tensor``, rounded."""
    return ":".join("/".join(",".join(map(_digits, row)) for row in rows) for rows in tensor)


def read(text: str, shape: Sequence[int]) -> Tensor:
    """The tensor of shape ``(B, n, d)`` that the text holds.

    TensorError: another shape, too many numbers, or what is no number of at most a million.
    """
    _see_that_it_is_short(text)
    parts = text.split(":")
    if len(parts) != shape[0]:
        raise TensorError(_SAID["matrices"], count=shape[0], given=len(parts))
    return tuple(_matrix([row.split(",") for row in part.split("/")], shape[1:]) for part in parts)


def _see_that_it_is_short(text: str) -> None:
    if len(text) > 16 * _MOST_NUMBERS:
        raise TensorError(_SAID["long"], most=_MOST_NUMBERS, length=len(text))


def shape_of(text: str) -> tuple[int, int, int]:
    """The shape that a text has, if all its rows are as long as the first."""
    first = text.partition(":")[0]
    return text.count(":") + 1, first.count("/") + 1, first.partition("/")[0].count(",") + 1


def write_lines(matrix: Iterable[Iterable[float]]) -> str:
    """A matrix for a text field: a line per row."""
    return "\n".join("  ".join(map(_digits, row)) for row in matrix)


def read_lines(text: str, shape: Sequence[int]) -> Matrix:
    """The matrix ``(n, d)`` that somebody typed: a line per row, or as Python prints it.

    TensorError: as :func:`read`.
    """
    _see_that_it_is_short(text)
    lines = re.sub(r"[\[(]", " ", text.replace(";", "\n").replace("]", "\n").replace(")", "\n"))
    cells = [re.split(r"[\s,]+", line.strip(" ,\t\r")) for line in lines.splitlines()]
    return _matrix([row for row in cells if row != [""]], shape)


def read_lengths(text: str, batch: int, queries: int, kinds: str = "row query") -> str:
    """Valid lengths in the one way to write them: ``2,6`` per row, ``1,3/2,4`` per query.

    Empty for none; TensorError where they are of no kind that ``kinds`` allows.
    """
    groups = re.split(r"\s*[/;:|\n]\s*", text.strip().strip("[](),;/ "))
    rows = [re.split(r"[\s,]+", group.strip("[](), ")) for group in groups]
    if rows == [[""]]:
        return ""
    wrong = next((cell for row in rows for cell in row if not _LENGTH.match(cell)), None)
    if wrong is not None:
        raise TensorError(_SAID["whole"], given=_short(wrong))
    shapes = {"row": [batch], "query": [queries] * batch}
    sizes = [len(row) for row in rows]
    if sizes not in [shape for kind, shape in shapes.items() if kind in kinds]:
        raise TensorError(
            _WANTED[kinds], per_row=",".join("1" * batch), sizes=", ".join(map(str, sizes)),
            per_query="/".join([",".join("1" * queries)] * batch),
        )  # fmt: skip
    return "/".join(",".join(str(int(cell)) for cell in row) for row in rows)


def lengths(text: str) -> tuple[tuple[int, ...], ...]:
    """What :func:`read_lengths` wrote, as numbers: one group, or one per batch row."""
    return tuple(tuple(map(int, group.split(","))) for group in text.split("/")) if text else ()


def _matrix(rows: Sequence[Sequence[str]], shape: Sequence[int]) -> Matrix:
    sizes = {len(row) for row in rows}
    if len(rows) != shape[0] or sizes != {shape[1]}:
        count, size, found = *shape, ", ".join(map(str, sorted(sizes)))
        if not rows:
            raise TensorError(_SAID["no_rows"], count=count, size=size)
        raise TensorError(_SAID["rows"], count=count, size=size, rows=len(rows), sizes=found)
    return tuple(tuple(map(_number, row)) for row in rows)


def _number(text: str) -> float:
    if not _NUMBER.match(text):
        raise TensorError(_SAID["number"], given=_short(text))
    value = float(text)
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise TensorError(_SAID["large"], largest=LARGEST, given=_short(text))
    return rounded(value)


def _digits(value: float) -> str:
    # A plus sign would mean a space in an address.
    text = f"{rounded(value):.4g}".replace("e+0", "e").replace("e-0", "e-")
    return "0" if text == "-0" else text


def _short(text: str) -> str:
    return "".join(c if c.isprintable() else "·" for c in text[:20]) + "…" * (len(text) > 20)
