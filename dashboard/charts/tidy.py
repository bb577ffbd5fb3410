"""The tables of a result as CSV, one fact a row, for a spreadsheet or a data frame."""

from __future__ import annotations

import io
import re

import numpy as np
import pyarrow as pa
from pyarrow import csv

from dashboard.charts.frames import MapFrame, maps

# What a spreadsheet would run as a formula. Numbers such as -1.5 stay what they are.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ONE = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"{_ONE}(, {_ONE})*", re.ASCII)


def tidy_weights(table: pa.Table) -> pa.Table:
    """A result's table ``maps`` with a row per weight.

    Returns:
        ``kind``, ``layer``, ``head``, ``query``, ``key`` (positions from 0), ``query_label``,
        ``key_label``, ``weight`` (null where masked).

    Raises:
        ValueError: as :func:`~dashboard.charts.frames.maps`.
    """
    parts = [_rows(frame) for frame in maps(table)]
    return pa.concat_tables(parts) if parts else pa.table({})


def _rows(frame: MapFrame) -> pa.Table:
    head, query, key = (axis.ravel().astype(np.int32) for axis in np.indices(frame.weights.shape))
    count = len(head)
    return pa.table(
        {
            "kind": pa.array([frame.kind], pa.string()).take(pa.array(np.zeros(count, np.int32))),
            "layer": pa.array(np.full(count, frame.layer, np.int32)),
            "head": pa.array(head),
            "query": pa.array(query),
            "key": pa.array(key),
            "query_label": pa.array(frame.query_labels, pa.string()).take(pa.array(query)),
            "key_label": pa.array(frame.key_labels, pa.string()).take(pa.array(key)),
            "weight": pa.array(frame.weights.ravel(), from_pandas=True),
        }
    )


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
