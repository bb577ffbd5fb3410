"""Writes files so that a crash, a full disk or a power loss leaves whole files."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dashboard.storage.errors import StorageError
from dashboard.storage.home import VARIABLE

_log = logging.getLogger(__name__)


def replace(path: Path, payload: bytes) -> None:
    """Write a private file so that there is either the old one or the new one, whole.

    It is on the disk when this returns, and so is its entry in the folder.

    Raises:
        OSError: it cannot be written; the old one stays.
    """
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    sync(path.parent)


def make_folder(folder: Path) -> None:
    """Make a private folder and its missing parents, and write their entries to the disk.

    Raises:
        OSError: it cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True, mode=0o700)
        sync(each.parent)
    folder.mkdir(exist_ok=True)  # raises if it is a file


def sync(path: Path) -> None:
    """Write a file's content, or a folder's entries, to the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse it for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` of a write below ``path`` into a :class:`StorageError`."""
    try:
        yield
    except OSError as error:
        _log.warning("cannot write %s: %s", path, error)  # strangers do not read where it is
        raise StorageError(
            f"cannot write the data folder: {error.strerror or type(error).__name__}; free some "
            f"space there, or set {VARIABLE} to a folder that can be written"
        ) from error


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[bool]:
    """Hold the lock of a file in an existing folder; it ends with this process at the latest.

    Args:
        path: of the lock file.
        timeout: seconds to wait for another holder; then False is yielded.

    Raises:
        OSError: the lock file cannot be made.
    """
    path.parent.stat()  # or the lock would make the folder
    lock = FileLock(path)
    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
