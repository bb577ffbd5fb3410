"""Files by the sha256 of their content, in a folder or in any store that fsspec reaches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec.core import url_to_fs
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from dashboard.records.text import without_folders
from dashboard.storage.archive import LARGEST_ARCHIVE
from dashboard.storage.files import (
    DIGEST,
    StorageError,
    make_folder,
    read_bounded,
    replace,
    writing,
)


class Contents:
    """Immutable files, named by their sha256. Any number of processes may share a store.

    Args:
        location: a folder, or a URL such as ``s3://bucket/runs``.

    Raises:
        StorageError: no such kind of store, or its package is not installed.
    """

    def __init__(self, location: str) -> None:
        self._location = location
        try:
            # What another server stores must be seen at once.
            system, root = url_to_fs(location, use_listings_cache=False)
        except (ValueError, ImportError) as error:
            raise StorageError(
                f"ATTENTION_BLOBS: need a folder, or the URL of a store that fsspec knows: {error}"
            ) from error
        self._files = DirFileSystem(root, system)
        self._folder = Path(root) if isinstance(system, LocalFileSystem) else None

    def put(self, data: bytes) -> str:
        """Store the bytes and return their sha256.

        In a folder they are on the disk when this returns. A file of that name with other
        content, as after a power loss, is replaced.

        Raises:
            StorageError: the store cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        with self._errors("write"):
            if self._folder is None:
                if not self._is_whole(digest, len(data)):
                    self._files.pipe_file(digest, data)
                return digest
            with writing(self._folder):
                if not self._is_whole(digest, len(data)):
                    make_folder(self._folder)
                    replace(self._folder / digest, data)
        return digest

    def read(self, digest: str) -> bytes:
        """Return the file with that sha256.

        Raises:
            StorageError: no sha256; it is missing, was changed, or the store cannot be read.
        """
        if not DIGEST.match(digest):
            raise StorageError("need the 64 hexadecimal digits of a sha256")
        try:
            with self._errors("read"):
                if self._folder is None:
                    data = self._files.cat_file(digest)
                else:
                    data = read_bounded(self._folder / digest, LARGEST_ARCHIVE)
        except FileNotFoundError as error:
            raise StorageError("the file of this run is missing") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StorageError("the file of this run was changed in its store; import it again")
        return data

    def has(self, digest: str) -> bool:
        """Whether there is a file of that name.

        Raises:
            StorageError: the store cannot be read.
        """
        with self._errors("read"):
            return self._files.exists(digest)

    def names(self) -> Iterator[tuple[str, float]]:
        """Yield every file's name, and when it was written, in seconds since 1970.

        Files that were not finished are among them.

        Raises:
            StorageError: the store cannot be read.
        """
        with self._errors("read"):
            try:
                found: Any = self._files.ls("", detail=True)
            except FileNotFoundError:
                return
            for each in found:
                if each["type"] == "file":
                    yield each["name"].rpartition("/")[2], _written(each)

    def remove(self, name: str) -> None:
        """Delete a file that :meth:`names` named; nothing happens if there is none.

        Raises:
            StorageError: it cannot be deleted.
        """
        with self._errors("write"):
            try:
                self._files.rm_file(name)
            except FileNotFoundError:
                return

    def _is_whole(self, digest: str, size: int) -> bool:
        try:
            if self._files.info(digest)["size"] != size:
                return False
            return hashlib.sha256(self._files.cat_file(digest)).hexdigest() == digest
        except FileNotFoundError:
            return False

    @contextmanager
    def _errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, StorageError):
            raise
        except Exception as error:  # each store raises errors of its own
            said = without_folders(getattr(error, "strerror", "") or str(error))
            reason = " ".join(said.split())[:200] or type(error).__name__
            raise StorageError(f"cannot {action} the files of runs: {reason}") from error


def _written(info: Mapping[str, object]) -> float:
    """When a file was written, under the name that its store has for it; else now."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        match info.get(name):
            case float() | int() as seconds:
                return float(seconds)
            case datetime() as moment:
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            case str() as text:
                return datetime.fromisoformat(text).timestamp()
    return datetime.now(UTC).timestamp()
