"""Writes files so that a crash, a full disk or a power loss leaves whole files.

Reads files that others laid down: regular files only, and no more bytes than expected, see
:mod:`attention_plugins.home`.
"""

import logging
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from filelock import FileLock, Timeout
from pydantic import Field

from attention_plugins.home import VARIABLE, home, read_bounded  # noqa: F401  # also from here

ID = re.compile(r"[0-9a-f]{32}\Z")
DIGEST = re.compile(r"[0-9a-f]{64}\Z")

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
MaybeId = Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MaybeDigest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class StorageError(ValueError):
    """A file or a folder that cannot be read or written."""


class BundleError(ValueError):
    """A bundle that is rejected, or cannot be made."""


_ID = "folder-id"


def folder_id(place: Path, *, make: bool = False) -> str:
    """Return the id of a data folder, by which machines that share it recognise it.

    ``make``: give it one if it has none; otherwise that is empty.
    """
    path = place / _ID
    if make and not path.is_file():
        place.mkdir(parents=True, exist_ok=True)
        made = secrets.token_hex(16)
        draft = place / f"{_ID}-{made}"
        draft.write_text(made, encoding="utf-8")
        with suppress(FileExistsError):  # of two servers that make one at once the first wins
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def trainings_root(root: Path | None = None) -> Path:
    """Return the folder that has one folder for each training."""
    return (root or home()) / "trainings"


def checkpoints_root(root: Path | None = None) -> Path:
    """Return the folder of the exported checkpoints, one folder each."""
    return (root or home()) / "checkpoints"


_log = logging.getLogger(__name__)


def replace(path: Path, payload: bytes) -> None:
    """Write a private file so that there is either the old one or the new one, whole.

    It is on the disk when this returns, and so is its entry in the folder.

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
    """Make a private folder and its missing parents, and write their entries to the disk."""
    for each in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
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

    ``timeout``: seconds to wait for another holder; then False is yielded.
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
