"""The wire format between a pool and its workers: JSON headers and raw bytes, never pickle."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any

_PREFIX = struct.Struct("!4sIQ")
_MAGIC = b"AWF1"
MAX_HEADER = 16 * 2**20
MAX_PAYLOAD = 512 * 2**20


class WireError(Exception):
    """Bytes that are not a message, or a message beyond the limits."""


def write(stream: IO[bytes], header: Mapping[str, Any], payload: bytes = b"") -> None:
    """Write one message and flush: magic number, two lengths, header as UTF-8 JSON, payload.

    Raises:
        WireError: a header or a payload over the limits; nothing was written.
        TypeError: a header that does not fit in JSON; nothing was written.
        OSError: the reader is gone.
    """
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "backslashreplace")
    _check_header(len(text))
    check_payload(len(payload))
    stream.write(_PREFIX.pack(_MAGIC, len(text), len(payload)) + text)
    stream.write(payload)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read the header and the payload of the next message.

    Raises:
        EOFError: the stream ended, between two messages or inside one.
        WireError: the bytes are not a message.
    """
    magic, header, payload = _PREFIX.unpack(_read_exactly(stream, _PREFIX.size))
    if magic != _MAGIC:
        raise WireError(f"need a message to start with {_MAGIC!r}, got {magic!r}")
    _check_header(header)
    check_payload(payload)
    try:
        fields = json.loads(_read_exactly(stream, header))
    except ValueError as error:
        raise WireError(f"a message's header is not JSON: {error}") from error
    return fields, _read_exactly(stream, payload)


def check_payload(size: int) -> None:
    """Check that a payload of ``size`` bytes may be sent.

    Raises:
        WireError: it is too large.
    """
    if size > MAX_PAYLOAD:
        raise WireError(f"need a result of at most {MAX_PAYLOAD:,} bytes, got {size:,}")


def _check_header(size: int) -> None:
    if size > MAX_HEADER:
        raise WireError(f"need a header of at most {MAX_HEADER:,} bytes, got {size:,}")


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the stream ended")
    return data
