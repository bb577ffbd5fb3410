"""Writing files so that a crash or a full disk leaves something whole, and says so."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class StorageError(ValueError):
    """A folder that cannot be written, in one sentence."""


def replace(path: Path, payload: bytes) -> None:
    """Write a file so that there is either the old one or the new one, whole."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says of a write below ``path`` into a :class:`StorageError`."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror or error}; free some space there, or set "
            "ATTENTION_WORKBENCH_HOME to a folder that can be written"
        ) from error


def try_lock(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; False if another process holds it."""
    try:
        import fcntl
    except ImportError:  # Windows: nobody to ask
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
