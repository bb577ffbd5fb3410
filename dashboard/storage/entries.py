"""Tables, charts, pictures and JSON as entries of a zip file, named and stamped.

Tables are Arrow IPC streams. What is wrong with an entry is raised as a :class:`.BundleError`.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dashboard.language import gettext_noop
from dashboard.records.request import to_ipc
from dashboard.storage.files import BundleError
from dashboard.storage.seen import NAME

MAX_DEPTH = 64
MAX_NODES = 5_000_000
LONGEST_LINK = 20_000
_LINK = re.compile(r"(/[a-z]*(\?[!-~]*)?)?\Z")  # of this dashboard, printable ASCII


@contextmanager
def rejecting() -> Iterator[None]:
    """Turn a ``ValueError`` on what a bundle holds into a :class:`BundleError`."""
    try:
        yield
    except BundleError:
        raise
    except ValueError as error:
        raise BundleError(str(error)) from error


def check_fields(held: Mapping[str, Any], kinds: Mapping[str, type], name: str) -> None:
    """Check that the first entry of a zip file has the fields that it should, of their kinds."""
    if held.keys() != kinds.keys():
        differing = sorted(held.keys() ^ kinds.keys())[0]
        raise BundleError(f"{name} lacks, or should not have, {differing[:60]!a}")
    for field, kind in kinds.items():
        if type(held[field]) is not kind:
            raise BundleError(f"{name}: {field} is of another kind than it should be")


def check_link(link: str) -> None:
    """Check that a link leads to a page of this dashboard, or is empty."""
    if len(link) > LONGEST_LINK or not _LINK.match(link):
        raise BundleError(f"need a link to a page of this dashboard, got {link[:60]!a}")


def parse_object(data: bytes, name: str) -> dict[str, Any]:
    """Read a JSON object in UTF-8, of a file of that name.

    ValueError: not such an object; nested more than :data:`MAX_DEPTH` deep; NaN or infinite
    numbers; a name twice in one object; text that is not Unicode.
    """
    try:
        held = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        for value in _leaves(held):
            if isinstance(value, str):
                value.encode()
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError("a number is too large")
    except (ValueError, RecursionError) as error:
        reason = str(error)[:200] or gettext_noop("nested too deep")
        raise ValueError(f"{name} is not the JSON it should be: {reason}") from error
    if not isinstance(held, dict):
        raise ValueError(f"{name} is not the JSON it should be: need an object")
    return held


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return held


def _leaves(held: Any) -> Iterator[Any]:
    """Yield every name and every plain value, unless there are too many, or nested too deep."""
    stack, nodes = [(held, 1)], 0
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise ValueError(
                f"it is nested more than {MAX_DEPTH} deep, or has more than {MAX_NODES:,} values"
            )
        if isinstance(value, dict):
            yield from value
            stack.extend((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            stack.extend((inner, depth + 1) for inner in value)
        else:
            yield value


_ENTRY = re.compile(
    rf"(?:(tables)/({NAME})\.arrow|(charts)/({NAME})\.vl\.json|(pictures)/({NAME}\.(?:svg|png)))\Z"
)
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_WIDEST_PNG = 8_000  # px of either side
_MOST_PIXELS = 64_000_000  # of all pictures together


def is_entry(name: str) -> bool:
    """Whether an entry of that name may be a table, a chart or a picture."""
    return bool(_ENTRY.match(name))


def entries_of(
    tables: Mapping[str, pa.Table], charts: Mapping[str, Mapping[str, Any]],
    pictures: Mapping[str, bytes],
) -> dict[str, bytes]:  # fmt: skip
    """Return the files of tables, charts and pictures by the names of their entries."""
    entries = {f"tables/{name}.arrow": table_bytes(table) for name, table in tables.items()}
    entries |= {f"charts/{name}.vl.json": as_json(spec) for name, spec in charts.items()}
    entries |= {f"pictures/{name}": data for name, data in pictures.items()}
    for name in entries:
        _split(name)
    return entries


def contents_of(
    entries: Mapping[str, bytes],
) -> tuple[dict[str, pa.Table], dict[str, dict[str, Any]], dict[str, bytes]]:
    """Return the tables, charts and pictures that :func:`entries_of` wrote; pictures as bytes."""
    placed = [(*_split(name), name, data) for name, data in entries.items()]
    pictures = {stem: data for folder, stem, _, data in placed if folder == "pictures"}
    check_pictures(pictures)
    tables = {stem: parse_table(d, name) for folder, stem, name, d in placed if folder == "tables"}
    charts = {stem: parse_object(d, n) for folder, stem, n, d in placed if folder == "charts"}
    return tables, charts, pictures


def _split(name: str) -> tuple[str, str]:
    match = _ENTRY.match(name)
    if match is None:
        raise BundleError(f"a bundle has no entry called {name[:80]!a}")
    folder, stem = (part for part in match.groups() if part)
    return folder, stem


def check_stamps(stamps: Mapping[str, Any], entries: Mapping[str, bytes], manifest: str) -> None:
    """Check that the entries are those that the entry ``manifest`` names, byte for byte."""
    for name in sorted(stamps.keys() - entries.keys()):
        raise BundleError(f"the entry {name[:80]!a} is missing from the bundle")
    for name in sorted(entries.keys() - stamps.keys()):
        raise BundleError(f"the entry {name!a} is not named in {manifest}")
    for name, content in entries.items():
        if stamps[name] != stamp(content):
            raise BundleError(
                f"the entry {name!a} is not what {manifest} says (size or sha256): "
                "the bundle was changed"
            )


def stamp(data: bytes) -> dict[str, Any]:
    """Return by what a manifest knows an entry: its size and its sha256."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def fitting(pictures: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the pictures without the PNGs that would be too many pixels for a bundle."""
    found, left = {}, _MOST_PIXELS
    for name, data in pictures.items():
        width, height = _sides(data) if name.endswith(".png") else (0, 0)
        if max(width, height) <= _WIDEST_PNG and width * height <= left:
            found[name], left = data, left - width * height
    return found


def check_pictures(pictures: Mapping[str, bytes]) -> None:
    """Check by their heads alone that the PNGs are some, and not too many pixels to be decoded."""
    pixels = 0
    for name, data in pictures.items():
        if not name.endswith(".png"):
            continue  # pages offer it as a file only
        width, height = _sides(data)
        if not data.startswith(_PNG) or not all(0 < n <= _WIDEST_PNG for n in (width, height)):
            raise BundleError(f"{name} is not a PNG of at most {_WIDEST_PNG:,} px a side")
        pixels += width * height
    if pixels > _MOST_PIXELS:
        raise BundleError(f"need pictures of at most {_MOST_PIXELS:,} px in all, got {pixels:,}")


def _sides(png: bytes) -> tuple[int, int]:
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def as_json(value: Any) -> bytes:
    """Return JSON of one spelling: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


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
