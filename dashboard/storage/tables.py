"""Tables of bundles as Arrow IPC streams, and the limits of what is read from one."""

import pyarrow as pa

from dashboard.records.request import to_ipc

MAX_COLUMNS = 256
MAX_VALUES = 32_000_000  # of all tables, lists unpacked; 48 maps of 500 x 500 have 12,000,000
MAX_TEXTS = 2_000_000
MAX_NAME = 200  # characters


def table_bytes(table: pa.Table) -> bytes:
    """Return the table as an uncompressed stream without metadata; equal tables, equal bytes."""
    return to_ipc(_without_metadata(table).combine_chunks())


def parse_table(data: bytes, name: str) -> pa.Table:
    """Read the table that :func:`table_bytes` wrote, and check every offset and text of it.

    Call it on data of unknown origin only in a worker: the reader is native code, and a crafted
    stream may unpack to any size before it is rejected.

    Raises:
        ValueError: not such a table; columns of other types than booleans, numbers, texts and
            lists of these; too many values; compressed batches that are larger than the file.
        MemoryError: it needs more memory than this process may use.
    """
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            _check_schema(reader.schema)
            table = reader.read_all()
        if table.get_total_buffer_size() > len(data):
            raise ValueError("need batches that are not compressed")
        table.validate(full=True)
        _check_size(table)
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, ValueError, TypeError, OSError, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{name} is not a table of a bundle: {reason}") from error
    return _without_metadata(table)


def _without_metadata(table: pa.Table) -> pa.Table:
    fields = [pa.field(field.name, field.type) for field in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _check_schema(schema: pa.Schema) -> None:
    names = schema.names
    if len(names) > MAX_COLUMNS or len({*names}) < len(names):
        raise ValueError(f"need at most {MAX_COLUMNS} columns, each with a name of its own")
    for field in schema:
        if len(field.name) > MAX_NAME:
            raise ValueError(f"a column's name has more than {MAX_NAME} characters")
        if not _is_plain(field.type):
            kind = str(field.type)[:40]
            raise ValueError(f"need columns of booleans, numbers, texts or lists, got {kind}")


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _is_plain(kind.value_type) and not pa.types.is_list(kind.value_type)
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string)
    return any(check(kind) for check in checks)


def count_values(table: pa.Table) -> int:
    """Return how many values a table has, lists unpacked, and one more for each row and list."""
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    lists = [chunk for chunk in chunks if pa.types.is_list(chunk.type)]
    return table.num_rows + sum(map(len, chunks)) + sum(len(each.values) for each in lists)


def _check_size(table: pa.Table) -> None:
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    inner = (each.values if pa.types.is_list(each.type) else each for each in chunks)
    texts = sum(len(chunk) for chunk in inner if pa.types.is_string(chunk.type))
    if count_values(table) > MAX_VALUES or texts > MAX_TEXTS:
        raise ValueError(f"need at most {MAX_VALUES:,} values and {MAX_TEXTS:,} texts")
