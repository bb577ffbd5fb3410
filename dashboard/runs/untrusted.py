"""JSON and Arrow from somebody else: bounded, checked, refused in one sentence."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

MOST_DEPTH = 64
MOST_NODES = 5_000_000
MOST_COLUMNS = 256
MOST_VALUES = 32_000_000  # of one table, lists unpacked; 48 maps of 500 x 500 have 12,000,000
MOST_TEXTS = 2_000_000
LONGEST_NAME = 200
_RECORD_BATCH_COMPRESSION = 3  # the field's number in Arrow's Message.fbs
_MESSAGE_HEADER = 2


class BundleError(ValueError):
    """What is not taken in, and why, in one sentence."""


def parse_json(data: bytes, name: str) -> dict[str, Any]:
    """A JSON object in UTF-8, without what other JSON readers would refuse.

    Args:
        name: of the file, for the sentence.

    Raises:
        BundleError: no such object, nested more than :data:`MOST_DEPTH` deep, NaN or infinite
            numbers, a name twice in one object, text that is not Unicode.
    """
    try:
        held = json.loads(data, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        for value in _leaves(held, name):
            if isinstance(value, str):
                value.encode()
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError("a number is too large")
    except BundleError:
        raise
    except (ValueError, RecursionError) as error:
        reason = str(error)[:200] or "nested too deep"
        raise BundleError(f"{name} is not the JSON it should be: {reason}") from error
    if not isinstance(held, dict):
        raise BundleError(f"{name} is not the JSON it should be: need an object")
    return held


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return held


def _leaves(held: Any, name: str) -> Iterator[Any]:
    """Every name and every plain value, as long as there are not too many, nor too deep."""
    stack, nodes = [(held, 1)], 0
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MOST_DEPTH or nodes > MOST_NODES:
            raise BundleError(
                f"{name} is nested more than {MOST_DEPTH} deep, or has more than {MOST_NODES:,} "
                "values"
            )
        if isinstance(value, dict):
            yield from value
            stack.extend((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            stack.extend((inner, depth + 1) for inner in value)
        else:
            yield value


def table_bytes(table: pa.Table) -> bytes:
    """A table as an uncompressed Arrow IPC stream, without metadata; equal tables, equal bytes."""
    bare = _bare(table).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, bare.schema) as writer:
        writer.write_table(bare)
    return sink.getvalue().to_pybytes()


def parse_table(data: bytes, name: str) -> pa.Table:
    """The table that :func:`table_bytes` wrote, every offset and text of it checked.

    Raises:
        BundleError: not such a table, compressed inside, columns of other types than truth
            values, numbers, texts and lists of these, or too many values.
    """
    try:
        _check_messages(data)
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            _check_schema(reader.schema)
            table = reader.read_all()
        table.validate(full=True)
        _check_size(table)
    except BundleError as error:
        raise BundleError(f"{name} is refused: {error}") from error
    except (pa.ArrowException, ValueError, TypeError, OSError, EOFError, struct.error) as error:
        raise BundleError(f"{name} is not an Arrow table: {str(error)[:200]}") from error
    return _bare(table)


def _bare(table: pa.Table) -> pa.Table:
    fields = [pa.field(field.name, field.type) for field in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _check_messages(data: bytes) -> None:
    """Nothing but batches as they lie there: a compressed one could unpack to any size."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(data)):
        if message.type not in ("schema", "record batch"):
            raise BundleError(f"need plain batches, got a {message.type}")
        if message.type == "record batch" and _is_compressed(message.metadata.to_pybytes()):
            raise BundleError("need batches that are not compressed")


def _is_compressed(metadata: bytes) -> bool:
    """Whether a record batch says how its buffers are compressed.

    Read from the flatbuffer itself, which PyArrow does not show; PyArrow has verified it before.
    """
    (message,) = struct.unpack_from("<I", metadata, 0)
    header = message + _field(metadata, message, _MESSAGE_HEADER)
    batch = header + struct.unpack_from("<I", metadata, header)[0]
    return _field(metadata, batch, _RECORD_BATCH_COMPRESSION) > 0


def _field(metadata: bytes, table: int, number: int) -> int:
    """Where a flatbuffer's table has that field, counted from its start; 0 if it is not set."""
    start = table - struct.unpack_from("<i", metadata, table)[0]
    (size,) = struct.unpack_from("<H", metadata, start)
    place = 4 + 2 * number
    return struct.unpack_from("<H", metadata, start + place)[0] if place < size else 0


def _check_schema(schema: pa.Schema) -> None:
    names = schema.names
    if len(names) > MOST_COLUMNS or len({*names}) < len(names):
        raise BundleError(f"need at most {MOST_COLUMNS} columns, each with a name of its own")
    for field in schema:
        if len(field.name) > LONGEST_NAME:
            raise BundleError(f"a column's name has more than {LONGEST_NAME} characters")
        if not _is_plain(field.type):
            kind = str(field.type)[:40]
            raise BundleError(f"need columns of truth values, numbers, texts or lists, got {kind}")


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _is_plain(kind.value_type) and not pa.types.is_list(kind.value_type)
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string)
    return any(check(kind) for check in checks)


def _check_size(table: pa.Table) -> None:
    values = texts = table.num_rows
    for column in table.columns:
        for chunk in column.chunks:
            inner = chunk.values if pa.types.is_list(chunk.type) else chunk
            values += len(chunk) + len(inner)
            texts += len(inner) if pa.types.is_string(inner.type) else 0
    if values > MOST_VALUES or texts > MOST_TEXTS:
        raise BundleError(f"need at most {MOST_VALUES:,} values and {MOST_TEXTS:,} texts")
