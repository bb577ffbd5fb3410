"""What travels between a pool and its workers: JSON headers, blocks of bytes, no pickle."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

_PREFIX = struct.Struct("!4sIQ")
_MARK = b"AWF1"
LARGEST_HEADER = 16 * 2**20
LARGEST_PAYLOAD = 512 * 2**20


class FrameError(Exception):
    """Bytes that are no frame, or a frame beyond the limits."""


def write(stream: BinaryIO, header: Mapping[str, Any], payload: bytes = b"") -> None:
    """Write one frame and flush: mark, lengths in bytes, header as UTF-8 JSON, payload.

    Raises:
        FrameError: a header or a payload over the limits; nothing was written.
        TypeError: a header that does not fit in JSON; nothing was written.
        OSError: the reader is gone.
    """
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "backslashreplace")
    _check_header(len(text))
    check_payload(len(payload))
    stream.write(_PREFIX.pack(_MARK, len(text), len(payload)) + text)
    stream.write(payload)
    stream.flush()


def read(stream: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """The next frame's header and payload.

    Raises:
        EOFError: the stream ended, between two frames or inside one.
        FrameError: something else than a frame.
    """
    mark, header, payload = _PREFIX.unpack(_exactly(stream, _PREFIX.size))
    if mark != _MARK:
        raise FrameError(f"need a frame to start with {_MARK!r}, got {mark!r}")
    _check_header(header)
    check_payload(payload)
    try:
        fields = json.loads(_exactly(stream, header))
    except ValueError as error:
        raise FrameError(f"a frame's header is not JSON: {error}") from error
    return fields, _exactly(stream, payload)


def check_payload(size: int) -> None:
    """Whether so many bytes may be sent.

    Raises:
        FrameError: too many.
    """
    if size > LARGEST_PAYLOAD:
        raise FrameError(f"need a result of at most {LARGEST_PAYLOAD:,} bytes, got {size:,}")


def _check_header(size: int) -> None:
    if size > LARGEST_HEADER:
        raise FrameError(f"need a header of at most {LARGEST_HEADER:,} bytes, got {size:,}")


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the stream ended")
    return data
