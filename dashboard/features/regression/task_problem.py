"""The data of a regression: a data set that is installed, or a table that a user has uploaded.

Of a table, the rows count that have a number in each chosen column, or a text where it is one of
texts. The file is read in blocks, up to the row limit: a wrong one costs no time or memory.
"""

# pyarrow.compute makes its functions when it is imported.
# pyright: reportAttributeAccessIssue=false

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial, reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from pyarrow import csv
from torch import Tensor

from attention_plugins import registry
from attention_plugins.contract import ContractError, RegressionData, settle
from attention_plugins.regression import check_data
from dashboard.records.request import COLUMNS, UPLOAD, Request, is_upload
from dashboard.storage import table_cells, table_format
from dashboard.storage.blobs import Blobs
from dashboard.storage.table_cells import Dates, days
from dashboard.storage.table_format import LeftOut, TableError, TableFormat

ROW_LIMIT = 1_000_000
_BLOCK = 1 << 20  # bytes; a row must fit into one
_LARGEST = 1e100  # squares of it and sums of those stay finite
_QUERIES = 100
_QUERIES_MANY_INPUTS = 1_000


class Skipped(NamedTuple):
    """How many rows were not used, by the first reason that holds."""

    ragged: int = 0
    missing: int = 0
    text: int = 0


Kept = tuple[str, ...] | None  # what a column became: texts, parts of dates; None if itself
_Maker = tuple[str, Callable[..., dict[str, Tensor]]]


class Table(NamedTuple):
    """The chosen columns, the target last.

    Attributes:
        titles: names with the units of the numbers.
        values: numbers ``(rows, columns)`` in float64.
        rows: their numbers ``(rows,)``: that below the header is 1, blank lines do not count.
        kept: what each chosen column became; empty where each is itself.
        own: of new rows the file's columns by their names, texts and dates as they are written.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    values: Tensor
    skipped: Skipped
    rows: Tensor
    kept: tuple[Kept, ...] = ()
    own: pa.Table | None = None


def read_table(path: Path, columns: str = "") -> Table:
    """Read the chosen columns of a table.

    Args:
        columns: such as ``2,4:5``, columns 2 and 4 as inputs of column 5, or ``-2,4:5`` of the
            parts of dates in 2; the usual ones where it is empty, see :meth:`.TableFormat.usual`.

    Raises:
        TableError: no table, or one with other columns or too many rows.
        OSError: it cannot be read.
    """
    form = table_format.format_of(path)
    return _read_columns(path, form, form.choose(columns).all)


def read_rows(path: Path, table: Path, columns: str = "") -> tuple[Table, dict[str, int]]:
    """Read another file's columns of the same names as a table's inputs, in the same way.

    Returns:
        The inputs alone; of each column of text, in how many rows it is none of those kept.

    Raises:
        TableError: of the table, or a column is missing in the other file or written otherwise.
        OSError: one of them cannot be read.
    """
    of, form = table_format.format_of(table), table_format.format_of(path, 0)
    inputs, readings, texts = [], {}, []
    chosen = of.choose(columns).inputs
    if names := dict.fromkeys(of.name(one) for one in chosen if of.name(one) not in form.names):
        missing, held = ", ".join(names), ", ".join(form.names[: table_format.MOST_INPUTS])
        raise TableError(
            f"the new rows need every input of the table; missing: {missing}; found: {held}"
        )
    for column in chosen:
        name, reading = of.name(column), of.readings.get(abs(column))
        place = form.names.index(name) + 1
        own = form.readings.get(place)
        if isinstance(reading, Dates) and isinstance(own, Dates):
            own = reading = own._replace(since=reading.since)
        if column in of.texts:
            texts.append(LeftOut(place, "text"))
        elif place not in form.numeric or own != reading:
            wanted = of.title(abs(column))
            raise TableError(
                f"column {name!r} of the new rows cannot be read as in the table: need {wanted}"
            )
        inputs.append(place if column > 0 else -place)
        readings[place] = reading
    form = replace(form, readings={k: v for k, v in readings.items() if v}, left_out=tuple(texts))
    kept = read_table(table, columns).kept[:-1] or (None,) * len(inputs)
    found = _read_columns(path, form, inputs, kept)
    if not len(found.rows):
        raise TableError(f"no row has a value in each column; {sum(found.skipped):,} were skipped")
    starts, unknown = iter(found.values.T), {}
    for column, own in zip(inputs, kept, strict=True):
        parts = [next(starts) for _ in own or [""]]
        if column in form.texts:
            unknown[form.name(column)] = int((sum(parts) == 0).sum())
    return found, unknown


def _read_columns(
    path: Path, form: TableFormat, chosen: Sequence[int], known: Sequence[Kept] = ()
) -> Table:
    """These columns; texts and parts of dates as is ``known`` of another table's, if anything."""
    missing, text, kept, come = 0, 0, 0, 0
    fixed, own = known or [None] * len(chosen), list[pa.Table]()
    ragged: list[int] = []
    parts: list[Tensor] = []
    places: list[np.ndarray] = []
    nothing = table_cells.missing(form.encoding)
    codes = {
        each: {text: code for code, text in enumerate(own or ())}
        for each, own in zip(chosen, fixed, strict=True) if each in form.texts
    }  # fmt: skip

    def skip(row: csv.InvalidRow) -> str:
        ragged.append(row.number)
        return "skip"

    places_of = [str(abs(each)) for each in chosen]
    for batch in _batches(path, form, dict.fromkeys(places_of), skip):
        numbers = [
            _coded(cells, codes[column], form) if column in codes else _read(cells, column, form)
            for cells, column in zip(map(batch.column, places_of), chosen, strict=True)
        ]
        is_absent = partial(pc.match_substring_regex, pattern=nothing, ignore_case=True)
        absent = reduce(pc.or_, map(is_absent, batch.columns))
        wrong = reduce(pc.or_, map(pc.is_null, numbers))
        missing += _true(absent)
        text += _true(pc.and_not(wrong, absent))
        used = pc.invert(wrong)
        kept += _true(used)
        if kept > ROW_LIMIT or missing + text + len(ragged) > ROW_LIMIT:
            raise TableError(f"more than {ROW_LIMIT:,} rows; take a sample of at most that many")
        if known:
            own.append(pa.table({
                form.name(column): pa.array(_texts(batch.column(place), form))
                if column in codes or isinstance(form.readings.get(abs(column)), Dates) else values
                for column, place, values in zip(chosen, places_of, numbers, strict=True)
            }).filter(used))  # fmt: skip
        rows = [torch.from_numpy(column.filter(used).to_numpy().copy()) for column in numbers]
        parts.append(torch.stack(rows, dim=1))
        places.append(come + np.flatnonzero(used.to_numpy(zero_copy_only=False)))
        come += len(batch)
    values = torch.cat(parts) if parts else torch.zeros(0, len(chosen), dtype=torch.float64)
    names = tuple(form.name(column) for column in chosen)
    titles = tuple(form.title(column) for column in chosen)
    of_all = np.concatenate(places) if places else np.zeros(0, np.int64)
    numbers = torch.from_numpy(_numbers_of(of_all, form.header, np.array(ragged, np.int64)))
    table = Table(
        names, titles, values, Skipped(len(ragged), missing, text), numbers,
        own=pa.concat_tables(own) if own else None,
    )  # fmt: skip
    makers = [
        (" = ", partial(_of_texts, known=[*codes[column]])) if column in codes
        else (": ", partial(_of_parts, since=form.readings[-column].since)) if column < 0
        else None
        for column in chosen
    ]  # fmt: skip
    return _encoded(table, makers, fixed) if any(makers) else table


def _texts(cells: pa.Array, form: TableFormat) -> list[str]:
    encoding = "utf-8" if form.encoding.startswith("utf") else form.encoding  # as arrow has it
    return [cell.decode(encoding, "replace").strip() for cell in cells.to_pylist()]


def _coded(cells: pa.Array, codes: dict[str, int], form: TableFormat) -> pa.Array:
    """Numbers of texts, in the order in which they come, also into ``codes``; null of nothing."""
    found = [None if table_cells.is_missing(one) else codes.setdefault(one, len(codes))
             for one in _texts(cells, form)]  # fmt: skip
    return pa.array(found, pa.float64())


def _encoded(table: Table, makers: Sequence[_Maker | None], kept: Sequence[Kept]) -> Table:
    """Columns of texts and of parts of dates as several each: those ``kept``, if any are."""
    columns: list[tuple[str, str, Tensor]] = []
    held: list[Kept] = []
    for name, title, values, maker, own in zip(
        *table[:2], table.values.T, makers, kept, strict=True
    ):
        if maker is None:
            columns.append((name, title, values))
            held.append(None)
            continue
        made = maker[1](values, kept=own)
        named = [(f"{name}{maker[0]}{each[:30]}", one) for each, one in made.items()]
        columns += [(each, each, one) for each, one in named]
        held.append((*made,))
    names, titles, parts = zip(*columns, strict=True)
    values = torch.stack(parts, dim=1)
    return table._replace(names=names, titles=titles, values=values, kept=tuple(held))


def _of_texts(codes: Tensor, known: Sequence[str], kept: Kept) -> dict[str, Tensor]:
    """Columns of 0 and 1 of the most frequent texts, by these."""
    if kept is None:
        counts = codes.long().bincount(minlength=len(known))
        most = counts.argsort(descending=True, stable=True)[: table_format.MOST_VALUES]
        return {str(known[code]): (codes == code).double() for code in most.tolist()}
    return {text: (codes == known.index(text)).double() for text in kept}


def _of_parts(days_on: Tensor, since: date, kept: Kept) -> dict[str, Tensor]:
    """Year, sines and cosines of month, day of week and hour; by default those that vary."""
    moments = np.datetime64(since, "s") + (days_on.numpy() * 86_400).round().astype("m8[s]")
    on = moments.astype("M8[D]")
    found = {"year": moments.astype("M8[Y]").astype(float) + 1970}
    for name, share in {
        "month": moments.astype("M8[M]").astype(int) % 12 / 12,
        "day of week": (on.astype(int) + 3) % 7 / 7,  # the first day of 1970 was a Thursday
        "hour": (moments - on).astype(float) / 86_400,
    }.items():
        for wave in (np.sin, np.cos):
            word = "sine" if wave is np.sin else "cosine"
            found[f"{name}, {word}"] = wave(2 * np.pi * share)
    varied = [name for name, values in found.items() if len(values) and np.ptp(values) > 1e-9]
    chosen = varied or ["year"] if kept is None else kept
    return {name: torch.from_numpy(found[name]) for name in chosen}


def _numbers_of(places: np.ndarray, header: int, ragged: np.ndarray) -> np.ndarray:
    """The numbers of rows below the header.

    Args:
        places: among the rows as wide as the header that come below it, from 0.
        header: how many such rows there are down to it.
        ragged: numbers of the other rows in the whole file, from 1, increasing.
    """
    before = ragged - np.arange(len(ragged)) - 1  # how many wide rows come before each

    def in_file(wide: np.ndarray) -> np.ndarray:
        return wide + 1 + np.searchsorted(before, wide, side="right")

    top = in_file(np.array([header - 1]))[0] if header else 0
    return in_file(places + header) - top


def ordered(table: Table) -> Table:
    """The table, sorted where it has a single input."""
    if table.values.shape[1] != 2:
        return table
    order = table.values[:, 0].argsort(stable=True)
    return table._replace(values=table.values[order], rows=table.rows[order])


def as_regression(table: Table) -> RegressionData:
    """The last column as y, those before as x; a single x is sorted.

    Queries are 100 evenly spaced points over the range of a single x, else the inputs
    themselves (1,000 of them, evenly picked, where there are more). TableError: fewer than two
    rows, or an x that never changes.
    """
    table = ordered(table)
    x, y = table.values[:, :-1], table.values[:, -1]
    if len(x) < 2:
        raise TableError(
            f"need 2 rows or more with a number in each chosen column, got {x.shape[0]}; "
            f"{sum(table.skipped):,} rows were skipped"
        )
    for name, column in zip(table.names, x.T, strict=False):
        if (column == column[0]).all():
            raise TableError(
                f"column {name!r} is {column[0]:g} in every row; "
                "an input needs at least two different values"
            )
    if x.shape[1] == 1:
        queries = torch.linspace(float(x[0, 0]), float(x[-1, 0]), _QUERIES, dtype=x.dtype)[:, None]
    else:
        queries = x[queried_rows(x)]
    return RegressionData(x, y, queries)


def queried_rows(x: Tensor) -> Tensor:
    """Which rows of several inputs ``(n, d)`` are the queries: all, or 1,000 evenly picked."""
    return torch.linspace(0, len(x) - 1, min(len(x), _QUERIES_MANY_INPUTS)).round().long()


def _batches(
    path: Path, form: TableFormat, chosen: Iterable[str], skip: Callable[[csv.InvalidRow], str]
) -> Iterator[pa.RecordBatch]:
    """The chosen columns as bytes, some rows at a time, without the header."""
    names = [str(place) for place in range(1, len(form.names) + 1)]
    header = form.header
    try:
        for batch in csv.open_csv(
            path,
            # Bytes are not decoded unless they have to be: digits are the same in all others.
            read_options=csv.ReadOptions(
                column_names=names, block_size=_BLOCK, use_threads=False,
                encoding="utf-16" if form.encoding == "utf-16" else "utf8",
            ),
            parse_options=csv.ParseOptions(
                delimiter=form.delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()), include_columns=[*chosen],
            ),
        ):  # fmt: skip
            yield batch[header:]
            header = max(0, header - len(batch))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise TableError(
            f"the table cannot be read ({error}); is a row longer than {_BLOCK:,} bytes, or a "
            "quotation mark left open?"
        ) from error


def _read(cells: pa.Array, column: int, form: TableFormat) -> pa.Array:
    """The numbers of a column, as the format says; null where a cell is none."""
    reading = form.readings.get(abs(column))
    if isinstance(reading, Dates):
        texts = (cell.decode("ascii", "replace") for cell in cells.to_pylist())
        return pa.array([days(text, reading) for text in texts], pa.float64())
    if reading:
        unit = table_cells.pattern(reading, form.encoding)
        cells = pc.replace_substring_regex(cells, unit, r"\1")
    return _numbers(cells, form)


def _numbers(cells: pa.Array, form: TableFormat) -> pa.Array:
    """Numbers; null where a cell is none, or one too large to calculate with."""
    pattern = table_cells.number(form.decimal, form.encoding)
    fits = pc.match_substring_regex(cells, rf"^\s*(?:{pattern})\s*$")
    marks = table_cells.separators(form.decimal, form.encoding)
    bare = pc.replace_substring_regex(cells, marks, "")
    plain = pc.if_else(fits, pc.replace_substring(bare, form.decimal, "."), pa.scalar(None))
    found = plain.cast(pa.string()).cast(pa.float64())
    return pc.if_else(pc.less_equal(pc.abs(found), _LARGEST), found, pa.scalar(None))


def _true(mask: pa.Array) -> int:
    return pc.sum(mask).as_py() or 0


DEFAULT_PROBLEM = "sine"
DATA_OPTION = "data."  # before the names of a problem's own parameters


class Problem(NamedTuple):
    """Data as read, x sorted where it is one number.

    Attributes:
        names, titles: of the columns, the target's last; titles have units.
        sha256: of the content.
        skipped: rows of an uploaded table; None for a data set that is installed.
        measured: y at the queries ``(m,)``, where these are rows of a table; else None.
        rows: the number of each point's row in the table ``(n,)``; None where there is none.
    """

    data: RegressionData
    names: tuple[str, ...]
    titles: tuple[str, ...]
    sha256: str
    skipped: Skipped | None = None
    measured: Tensor | None = None
    rows: Tensor | None = None


def stored(data: str) -> Path:
    """Where an uploaded table lies; TableError if it is not here."""
    try:
        return Blobs().path(data.removeprefix(UPLOAD))
    except ValueError as error:
        raise TableError(str(error)) from error


def read_problem(request: Request) -> Problem:
    """The data set or the uploaded table that a request names.

    ValueError: it is not here or not of regression, a bad parameter, a faulty table.
    """
    settings = {name.removeprefix(DATA_OPTION): value for name, value in request.options
                if name.startswith(DATA_OPTION)}  # fmt: skip
    if is_upload(request.data):
        if settings:
            raise ContractError(f"an uploaded table has no option {DATA_OPTION + min(settings)!r}")
        columns = str(dict(request.options).get(COLUMNS, ""))
        table = ordered(read_table(stored(request.data), columns))
        data = as_regression(table)
        measured = data.y[queried_rows(data.x)] if data.x.shape[1] > 1 else None
        digest = request.data.removeprefix(UPLOAD)
        return Problem(
            data, table.names, table.titles, digest, table.skipped, measured, table.rows
        )
    spec = registry.installed().dataset(request.data or DEFAULT_PROBLEM)
    if spec.task != "regression":
        raise ContractError(f"data set {spec.name!r} is for {spec.task}; need one for regression")
    data = spec.load(settle(spec.parameters, settings), request.seed)
    if not isinstance(data, RegressionData):
        raise ContractError(
            f"data set {spec.name!r} loaded {type(data).__name__}; need RegressionData"
        )
    check_data(data, spec.name)
    if data.x.shape[1] == 1:
        order = data.x[:, 0].argsort(stable=True)
        data = data._replace(x=data.x[order], y=data.y[order])
    digest = hashlib.sha256()
    for part in data:
        digest.update(b"" if part is None else part.double().numpy().tobytes())
    inputs = data.x.shape[1]
    names = ("x", "y") if inputs == 1 else (*(f"x{i + 1}" for i in range(inputs)), "y")
    return Problem(data, names, names, digest.hexdigest())
