"""Charts in words and numbers, for those who do not see them and for those who want to be sure.

Each function returns a sentence or two on what a chart shows, with the same numbers as a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.charts.frames import Table, column_of, digits_of, frame_of, texts_of
from dashboard.language import gettext, gettext_noop, listed, together, translated
from dashboard.records.beside import beside

_SAID = beside(__file__, "words.toml")["summary"]
_FIRST = gettext_noop("The largest {quantity} is {number}, at {place}.")
_FARTHEST = gettext_noop("The {quantity} farthest from 0 is {number}, at {place}.")
_EMPTY = gettext_noop("None of the {all:,} cells has a number.")
_LINE = _SAID["line"]
_LEVEL = gettext_noop("{name} is {low} throughout.")
_RANKED = _SAID["ranked"]
_MOST_NAMED = 3  # cells
# What differs by this share of a number is equal: its order would be the processor's.
_ROUNDING = 1e-9
_MOST_LINES = 6
_LONGEST = 40  # characters of a label


@dataclass(frozen=True)
class Summary:
    """A chart without its picture.

    Args:
        words: whole sentences.
        table: makes the table of what is drawn.
    """

    words: str
    table: Callable[[], pa.Table]


def of_matrix(
    values: np.ndarray, rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None, *, quantity: str = gettext_noop("weight"),
    names: tuple[str, str] = (gettext_noop("query"), gettext_noop("key")),
) -> Summary:  # fmt: skip
    """A heatmap ``(rows, columns)``: its largest cells, by distance from 0 if some are below it.

    Args:
        values: what is not finite counts as masked.
        rows, columns: labels; positions where None.
        quantity, names: what a cell is; what a row and a column is.
    """
    grid = np.asarray(values, dtype=np.float64)
    down = [*map(str, range(grid.shape[0]) if rows is None else rows)]
    across = [*map(str, range(grid.shape[1]) if columns is None else columns)]
    row, column = map(translated, names)
    words = _matrix_words(grid, down, across, translated(quantity), (row, column))
    return Summary(words, partial(_matrix_table, grid, down, across, row))


def _matrix_words(
    grid: np.ndarray, rows: Sequence[str], columns: Sequence[str], quantity: str,
    names: tuple[str, str],
) -> str:  # fmt: skip
    finite = np.isfinite(grid)
    if not finite.any():
        return gettext(_EMPTY, all=grid.size)
    if finite.sum() > 1 and _level(grid[finite].min(), grid[finite].max()):
        return gettext(_SAID["level_matrix"], quantity=quantity, number=number(grid[finite][0]))
    signed = bool((grid[finite] < 0).any())
    sizes = np.where(finite, np.abs(grid) if signed else grid, -np.inf).ravel()
    named = min(_MOST_NAMED, int(finite.sum()))
    among = np.flatnonzero(sizes >= np.partition(sizes, -named)[-named] * (1 - _ROUNDING))
    shares = np.round(sizes[among] / (sizes.max() or 1) / _ROUNDING)
    largest = among[np.argsort(-shares, kind="stable")][:named]
    found = []
    for at in largest:
        row, column = divmod(int(at), grid.shape[1])
        place = gettext(
            "{row_name} {row}, {column_name} {column}", row_name=names[0], column_name=names[1],
            row=f"“{rows[row][:_LONGEST]}”", column=f"“{columns[column][:_LONGEST]}”",
        )  # fmt: skip
        found.append({"number": number(grid[row, column]), "place": place})
    said = [gettext(_FARTHEST if signed else _FIRST, quantity=quantity, **found[0])]
    if found[1:]:
        others = listed(gettext("{number} at {place}", **one) for one in found[1:])
        said.append(gettext("Next come {others}.", others=others))
    if not finite.all():
        masked = int((~finite).sum())
        said.append(
            gettext("Cells without a number: {count:,} of {all:,}.", count=masked, all=grid.size)
        )
    return together(said)


def _level(low: float, high: float) -> bool:
    return bool(np.isclose(low, high, rtol=_ROUNDING, atol=0))


def _matrix_table(
    grid: np.ndarray, rows: Sequence[str], columns: Sequence[str], name: str
) -> pa.Table:
    finite = np.where(np.isfinite(grid), grid, np.nan)
    numbers = [pa.array(column, pa.float64(), from_pandas=True) for column in finite.T]
    return pa.table([pa.array(rows, pa.string()), *numbers], names=_headers([name, *columns]))


def of_lines(
    x: Sequence[float] | np.ndarray, lines: Mapping[str, Sequence[float] | np.ndarray], *,
    x_title: str, y_title: str,
) -> Summary:  # fmt: skip
    """Lines over one x: where each is lowest and where highest; NaN is a gap."""
    series = [(name, np.asarray(x, float), np.asarray(y, float)) for name, y in lines.items()]
    columns = {x_title: x, **lines}
    return Summary(_line_words(series, x_title, y_title), lambda: _table(pd.DataFrame(columns)))


def of_series(table: Table, *, name: str, x: str, y: str, titles: tuple[str, str]) -> Summary:
    """Lines as rows, each with its own x; as :func:`of_lines`.

    Args:
        name, x, y: columns.
        titles: of the axes, which are also the table's headers of x and y.
    """
    rows: dict[str, list[int]] = {}
    for at, key in enumerate(texts_of(table, name)):
        rows.setdefault(str(key), []).append(at)
    across, heights = column_of(table, x), column_of(table, y)
    series = [(key, across[at], heights[at]) for key, at in rows.items()]
    headers = dict(zip((x, y), titles, strict=True))
    return Summary(
        _line_words(series, *titles), lambda: _table(frame_of(table).rename(columns=headers))
    )


def _line_words(
    series: Sequence[tuple[str, np.ndarray, np.ndarray]], x_title: str, y_title: str
) -> str:
    said = [gettext("{y_title} against {x_title}.", y_title=y_title, x_title=x_title)]
    told = series[:_MOST_LINES]
    _, across, heights = zip(*told, strict=True) if told else ((), [[]], [[]])
    x_digits, digits = digits_of(np.concatenate(across), 3), digits_of(np.concatenate(heights), 3)
    for name, x, values in told:
        if not np.isfinite(values).any():
            continue
        low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
        said.append(gettext(
            _LEVEL if _level(values[low], values[high]) else _LINE, name=name[:_LONGEST],
            x_title=x_title, low_x=number(x[low], x_digits), low=number(values[low], digits),
            high_x=number(x[high], x_digits), high=number(values[high], digits),
        ))  # fmt: skip
    if (more := len(series) - _MOST_LINES) > 0:
        said.append(gettext("The table has {count} more lines.", count=more))
    return together(said)


def of_ranked(frame: pd.DataFrame, *, name: str, value: str, what: str) -> Summary:
    """Bars or dots, of the columns ``name`` and ``value``: the highest and the lowest."""
    values, names = frame[value].to_numpy(float), frame[name]
    if not (known := np.count_nonzero(~np.isnan(values))):
        return Summary(gettext(_EMPTY, all=len(frame)), partial(_table, frame))
    high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
    words = gettext(
        _RANKED, count=known, what=what, high=number(values[high]), low=number(values[low]),
        highest=str(names.iloc[high])[:_LONGEST], lowest=str(names.iloc[low])[:_LONGEST],
    )  # fmt: skip
    return Summary(words, partial(_table, frame))


def number(value: Any, digits: int = 3) -> str:
    """As many significant digits, with a minus sign, which 0 never has: ``1,020``, ``−2e−07``."""
    return f"{float(f'{float(value):.{digits}g}') + 0.0:,.12g}".replace("-", "−")


def fixed(value: float, digits: int = 2) -> str:
    """So many digits behind the point, with a minus sign, which 0 never has: ``−0.25``."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _table(frame: pd.DataFrame) -> pa.Table:
    headed = frame.set_axis(_headers(frame.columns), axis="columns")
    return pa.Table.from_pandas(headed, preserve_index=False)


def _headers(labels: Iterable[str]) -> list[str]:
    """The labels, each that occurs again with a number."""
    held: dict[str, None] = {}
    for label in labels:
        numbered = (f"{label} ({number})" for number in count(2))
        held[next(one for one in chain([label], numbered) if one not in held)] = None
    return [*held]
