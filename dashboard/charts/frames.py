"""From the tables of a result to what the charts draw."""

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike
from pyarrow import csv

from dashboard.language import gettext, gettext_noop

# What a spreadsheet would run as a formula. Numbers such as -1.5 stay what they are.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ONE = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"{_ONE}(, {_ONE})*", re.ASCII)


def tidy_weights(table: pa.Table) -> pa.Table:
    """A result's table ``maps`` with a row per weight; raises as :func:`maps`.

    Returns:
        ``kind``, ``layer``, ``head``, ``query``, ``key`` (positions from 0), ``query_label``,
        ``key_label``, ``weight`` (null where masked).
    """
    parts = [_rows(frame) for frame in maps(table)]
    return pa.concat_tables(parts) if parts else pa.table({})


def _rows(frame: "MapFrame") -> pa.Table:
    head, query, key = (axis.ravel().astype(np.int32) for axis in np.indices(frame.weights.shape))
    return pa.table({
        "kind": pa.repeat(frame.kind, len(head)),
        "layer": pa.repeat(pa.scalar(frame.layer, pa.int32()), len(head)),
        "head": head,
        "query": query,
        "key": key,
        "query_label": pa.array(frame.query_labels, pa.string()).take(pa.array(query)),
        "key_label": pa.array(frame.key_labels, pa.string()).take(pa.array(key)),
        "weight": pa.array(frame.weights.ravel(), from_pandas=True),
    })  # fmt: skip


def table_csv(table: pa.Table) -> bytes:
    """A table of numbers and texts as CSV in UTF-8; a table ``maps`` as :func:`tidy_weights`.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, also as the
    name of a column; lists are joined by spaces.
    """
    if {"weights", "queries", "keys"} <= {*table.column_names}:
        table = tidy_weights(table)
    sink = io.BytesIO()
    columns = [_plain(column) for column in table.columns]
    csv.write_csv(pa.table(columns, names=[*map(_harmless, table.column_names)]), sink)
    return sink.getvalue()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        joined = [None if v is None else " ".join(map(str, v)) for v in column.to_pylist()]
        column = pa.chunked_array([pa.array(joined, pa.string())])
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    # Many rows hold few texts: each is looked at once.
    texts = column.combine_chunks().dictionary_encode()
    harmless = [_harmless(text) for text in texts.dictionary.to_pylist()]
    return pa.chunked_array([pa.array(harmless, column.type).take(texts.indices)])


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBERS.fullmatch(text) else text


Table = pa.Table | pd.DataFrame

_MOST_DIGITS = 10  # of a number in a chart
_TINY = 1e-12  # numbers nearer to 0 need powers of ten that no float is


@dataclass(frozen=True, kw_only=True)
class MapFrame:
    """The weights of one attention site, ``kind`` and ``layer``, with its labels.

    Args:
        weights: ``(heads, queries, keys)``, float32, read-only; NaN where masked.
        query_labels, key_labels: one per row and per column.
        signed: whether weights may be below 0, which a map is also drawn as that has some.
        is_mean: whether the only map is of all heads together.
    """

    kind: str
    layer: int
    weights: np.ndarray
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    signed: bool = False
    is_mean: bool = False


def maps(table: pa.Table) -> list[MapFrame]:
    """The rows of a table ``maps``; ValueError where weights are not heads x queries x keys."""
    frames = []
    rows = table.drop_columns(["weights"]).to_pylist()
    for row, numbers in zip(rows, table["weights"], strict=True):
        kind, layer = row["kind"], row["layer"]
        queries, keys = tuple(row["queries"]), tuple(row["keys"])
        shape = (row["heads"], len(queries), len(keys))
        flat = numbers.values.to_numpy(zero_copy_only=False)
        if flat.size != np.prod(shape):
            raise ValueError(
                f"map of {kind} layer {layer}: need {' x '.join(map(str, shape))} weights "
                f"(heads x queries x keys), got {flat.size}"
            )
        weights = flat.astype(np.float32, copy=True).reshape(shape)
        if row["causal"]:
            weights[:, ~np.tri(*shape[1:], dtype=bool)] = np.nan
        weights.flags.writeable = False
        frames.append(MapFrame(
            kind=kind, layer=layer, weights=weights, query_labels=queries, key_labels=keys,
            signed=bool(row.get("signed")),
        ))  # fmt: skip
    return frames


def any_signed(frames: Iterable[MapFrame]) -> bool:
    """Whether maps that are drawn together need a scale of two sides."""
    return any(frame.signed or below_0(frame.weights) for frame in frames)


def below_0(values: np.ndarray) -> bool:
    """Whether any number is; NaN is not."""
    return bool((values < 0).any())


def masked_rows(weights: np.ndarray) -> np.ndarray:
    """The weights ``(..., queries, keys)`` with NaN in rows whose weights are all 0."""
    return np.where(~np.nan_to_num(weights).any(axis=-1, keepdims=True), np.nan, weights)


def matrix(table: pa.Table) -> np.ndarray:
    """A table of numbers as ``(rows, columns)``."""
    return np.column_stack([column.to_numpy() for column in table.columns])


def frame_of(table: Table) -> pd.DataFrame:
    """The table as a data frame."""
    return table.to_pandas() if isinstance(table, pa.Table) else table


def column_of(table: Table, name: str) -> np.ndarray:
    """A column as float64, NaN where it is null."""
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def texts_of(table: Table, name: str) -> list[Any]:
    """A column of texts."""
    column = table[name]
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.tolist()


def with_columns(table: Table, columns: Sequence[str], what: str = "") -> Table:
    """The table; ValueError, by ``what`` is needed, where it has no row, or a column lacks."""
    held = table.column_names if isinstance(table, pa.Table) else [*map(str, table.columns)]
    if not len(table) or not set(columns) <= set(held):
        raise ValueError(
            f"need {what or 'rows with ' + ', '.join(columns)}, got {len(table)} rows of "
            f"{', '.join(held) or 'nothing'}"
        )
    return table


def frame_with(table: Table, columns: Sequence[str], what: str = "") -> pd.DataFrame:
    """The same as a data frame."""
    return frame_of(with_columns(table, columns, what))


def array_of(values: Any) -> np.ndarray:
    """A copy as float64 of nested lists, or of whatever a notebook holds its numbers in.

    A tensor may be on a device, need a gradient, or be of a type that NumPy does not have: it is
    brought over by its own methods, since this process knows no tensor library.
    """
    if isinstance(values, list | tuple) and any(hasattr(each, "detach") for each in values):
        values = [array_of(each) for each in values]
    for step in ("detach", "cpu", "double", "numpy"):
        values = getattr(values, step)() if hasattr(values, step) else values
    return np.array(values, dtype=np.float64)


def top_weight(weights: Sequence[np.ndarray]) -> float:
    """The end of a colour scale that several maps share: the weight farthest from 0, rounded up.

    Rounded to one or two leading digits (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of
    ten), so that the legend reads well; 1.0 where there is no weight but 0.
    """
    largest = max((float(np.nanmax(np.abs(w))) for w in weights if np.size(w)), default=0.0)
    if not np.isfinite(largest) or largest <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    # A millionth of slack: float32 makes 0.3 a little more than 0.3.
    return float(f"{next(s for s in steps if s * power >= largest * (1 - 1e-6)) * power:.6g}")


def checked_end(vmax: float) -> float:
    """The end of a colour scale; raises ValueError where it is not above 0."""
    if not 0 < vmax < float("inf"):
        raise ValueError(f"need 0 < vmax for a colour scale, got vmax={vmax}")
    return vmax


def rounded(values: ArrayLike, beside: ArrayLike | None = None) -> np.ndarray:
    """Values as float64, with the digits that a chart can show: JSON is shorter.

    These are five significant digits, and more where all values, and those ``beside`` them on the
    same axis, are far from 0.
    """
    given = np.asarray(values, dtype=np.float64)
    digits = digits_of(given if beside is None else np.append(given, beside), 5)
    sizes = np.abs(given[np.isfinite(given) & (given != 0)])
    if sizes.size and not _TINY < sizes.min() <= sizes.max() < 1 / _TINY:
        return np.char.mod(f"%.{digits}g", given).astype(np.float64)
    # Quicker than to print them; a number half way between two may become the other one.
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(np.abs(given)))
        powers = 10.0 ** np.abs(np.nan_to_num(places, posinf=0, neginf=0))
        down = np.rint(given / powers) * powers
        return np.where(places < 0, down, np.rint(given * powers) / powers)


def digits_of(values: ArrayLike, wanted: int) -> int:
    """How many significant digits show finite values to ``wanted`` digits of their range.

    1013.2 and 1019.8 need two more than 0.2 and 6.8 do.
    """
    given = np.asarray(values, dtype=np.float64)
    finite = given[np.isfinite(given)]
    largest = np.abs(finite).max(initial=0.0)
    spread = np.ptp(finite) if finite.size else 0.0
    if not largest:
        return wanted
    if not spread:
        return _MOST_DIGITS
    in_common = math.ceil(math.log10(largest / (2 * spread)))
    return max(wanted, min(_MOST_DIGITS, wanted + in_common))


MEAN = gettext_noop("mean")


class HeadMap(NamedTuple):
    """A map of :func:`map_names`: what it is called, and its place among the small maps.

    Args:
        name, short: over the large map, and over the small one where there is no room.
        layer, head: as a tooltip says them.
    """

    map: str
    name: str
    layer: str
    head: str
    short: str
    row: int
    column: int


def map_names(frames: Sequence[MapFrame]) -> list[str]:
    """What can be enlarged: ``layer.head`` counted from 1, or ``layer.mean`` for all its heads."""
    found = []
    for frame in sorted(frames, key=lambda frame: frame.layer):
        heads = len(frame.weights)
        means = [MEAN] if heads > 1 or frame.is_mean else []
        numbers = range(1, heads + 1 - frame.is_mean)
        found += [f"{frame.layer + 1}.{head}" for head in (*means, *numbers)]
    return found


def map_title(name: str) -> str:
    """What ``1.2`` or ``1.mean`` stands for."""
    layer, _, head = name.partition(".")
    if head == MEAN:
        return gettext("layer {layer} · mean", layer=layer)
    return gettext("layer {layer} · head {head}", layer=layer, head=head)


def usual_map(frames: Sequence[MapFrame]) -> str:
    """The last layer: the mean of its heads, or its only head."""
    return map_names([max(frames, key=lambda frame: frame.layer)])[0]


def named_maps(frames: Sequence[MapFrame]) -> list[tuple[HeadMap, np.ndarray]]:
    """Every map in order with its weights ``(queries, keys)``, NaN where masked."""
    found: list[tuple[HeadMap, np.ndarray]] = []
    for row, frame in enumerate(sorted(frames, key=lambda frame: frame.layer)):
        layer, heads = f"{frame.layer + 1}", len(frame.weights)
        has_mean = heads > 1 or frame.is_mean
        if has_mean:
            name = gettext(
                "layer {layer} · mean of {heads} heads, a summary", layer=layer, heads=heads
            )
            head = gettext("mean of {heads}", heads=heads)
            if frame.is_mean:
                name, head = map_title(f"{layer}.{MEAN}"), gettext(MEAN)
            one = HeadMap(f"{layer}.{MEAN}", name, layer, head, gettext(MEAN), row, 0)
            found.append((one, frame.weights.astype(np.float64).mean(axis=0)))
        for number, weights in enumerate(frame.weights[int(frame.is_mean) :], start=1):
            key, head = f"{layer}.{number}", f"{number}"
            place = number - 1 + has_mean
            found.append((HeadMap(key, map_title(key), layer, head, head, row, place), weights))
    return [(one, masked_rows(weights)) for one, weights in found]
