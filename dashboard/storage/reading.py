"""Reads files that others laid down: regular files only, and no more bytes than expected.

As :mod:`attention_plugins.reading`, which the page process may not import.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer


def read_bounded(path: Path, most: int) -> bytes:
    """Return the content of a regular file; links to one are followed.

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is a pipe, a device or a folder, is larger, or cannot be read.
    """
    with open(path, "rb", opener=_open) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is a pipe or a device; need a regular file")
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path.name} is larger than {most:,} bytes")
    return data


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _WITHOUT_WAITING)
