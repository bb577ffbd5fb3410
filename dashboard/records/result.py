"""The result of a request: named tables and a few facts, as Arrow on the wire and at rest."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Result:
    """Tables by name, and facts that fit in JSON (metrics, provenance, texts).

    A table named ``maps`` holds one row per attention site: ``kind`` (string), ``layer`` (int32),
    ``heads`` (int32), ``queries`` and ``keys`` (lists of labels), ``causal`` (bool: the keys after
    a query's own position are masked), ``weights`` (list of float32, heads x queries x keys in C
    order).
    """

    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def digest(self) -> str:
        """A name for what was computed: 32 hexadecimal digits that differ if anything does.

        What is drawn from a result is kept under this name, never under the request's: after a
        plugin or a checkpoint was replaced, an equal request gives another result.
        """
        return hashlib.sha256(self.to_bytes()).hexdigest()[:32]

    def to_bytes(self) -> bytes:
        """Return one Arrow IPC stream: a row per table, the facts in the schema's metadata.

        Raises:
            ValueError: facts that are not JSON, such as NaN.
            TypeError: as ValueError.
        """
        names = sorted(self.tables)
        payloads = [_to_ipc(self.tables[name]) for name in names]
        schema = pa.schema([("name", pa.string()), ("table", pa.large_binary())])
        envelope = pa.table([names, payloads], schema=schema)
        facts = json.dumps(self.facts, ensure_ascii=False, allow_nan=False)
        return _to_ipc(envelope.replace_schema_metadata({"facts": facts}))

    @classmethod
    def from_bytes(cls, payload: bytes) -> Result:
        """Read what :meth:`to_bytes` wrote.

        Raises:
            ValueError: not such a stream.
        """
        try:
            envelope = _from_ipc(payload)
            tables = {
                name.as_py(): _from_ipc(table.as_buffer())
                for name, table in zip(envelope["name"], envelope["table"], strict=True)
            }
            return cls(tables=tables, facts=json.loads(envelope.schema.metadata[b"facts"]))
        except (pa.ArrowException, OSError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a result: {error}") from error


def _to_ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _from_ipc(payload: bytes | pa.Buffer) -> pa.Table:
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_all()
