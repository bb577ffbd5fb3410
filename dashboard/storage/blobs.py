"""Files by the sha256 of their content: uploads, and the files of runs in any store of fsspec."""

import hashlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dashboard.records.text import without_folders
from dashboard.storage import files
from dashboard.storage.bundle import LARGEST_ARCHIVE
from dashboard.storage.files import StorageError
from dashboard.storage.uploads import FOLDER, forget, owned

_MB = 2**20
_SECONDS_A_FILE_OF_NOBODY_STAYS = 3600


class Blobs:
    """Uploaded files, named by their sha256. Any number of processes may share a folder.

    Every method that writes raises ``StorageError``, or ``OSError``, where that is not possible.

    Args:
        root: a folder, made when first needed; the files lie in its ``blobs``.
        largest: bytes of one file.
        total: bytes of all files. Beyond them no file is taken in; what nobody has among their
            uploads any more, and nobody used for an hour, is removed before that.
    """

    def __init__(
        self, root: Path | None = None, *, largest: int = 50 * _MB, total: int = 1024 * _MB
    ) -> None:
        self._root, self._largest, self._total = root or files.home(), largest, total
        self._folder = self._root / "blobs"

    def put(self, data: bytes) -> str:
        """Store the bytes and return their sha256 in 64 hexadecimal digits.

        They are on the disk when this returns. A file of that name with other content, as after a
        power loss, is replaced.

        ValueError: more bytes than one file or all files may have.
        """
        if len(data) > self._largest:
            raise ValueError(
                f"need a file of at most {self._largest / _MB:g} MB, got {len(data) / _MB:.1f} MB"
            )
        digest = hashlib.sha256(data).hexdigest()
        path = self._folder / digest
        if not (_is_whole(path, len(data), digest) and self._touch(path)):
            with files.writing(self._folder):
                files.make_folder(self._folder)
                self._make_room(len(data))
                files.replace(path, data)
        return digest

    def path(self, digest: str) -> Path:
        """Return where the file with that sha256 lies, and mark it as just used.

        ValueError: not 64 hexadecimal digits, or a file that is not stored.
        """
        if not files.DIGEST.match(digest):
            raise ValueError(f"need the 64 hexadecimal digits of a sha256, got {digest[:80]!r}")
        path = self._folder / digest
        if not (path.is_file() and self._touch(path)):
            raise ValueError(
                f"the uploaded file {digest[:12]}… is not kept here: it was removed, or expired "
                "because nobody used it, or was uploaded elsewhere; upload it again"
            )
        return path

    def remove(self, digest: str) -> None:
        """Delete the file with that sha256, if there is one."""
        if files.DIGEST.match(digest):
            (self._folder / digest).unlink(missing_ok=True)

    def newest(self) -> float | None:
        """Return when a file was last used, in seconds since 1970; None if there is none."""
        with suppress(FileNotFoundError):
            return max((path.stat().st_mtime for path in self._folder.iterdir()), default=None)
        return None

    def expire(self, before: float, needed: Callable[[], Collection[str]]) -> int:
        """Remove the uploads that nobody has used since then, and return how many went.

        Those stay whose sha256 ``needed`` returns, which is asked if anything would go.
        """
        if not self._folder.is_dir():
            return 0
        with files.writing(self._folder):
            old = {
                path.name for path in self._folder.iterdir()
                if files.DIGEST.match(path.name) and path.stat().st_mtime < before
            }  # fmt: skip
            gone = old - set(needed()) if old else set()
            forget(gone, self._root)
            for name in gone:
                self.remove(name)
            return len(gone)

    @staticmethod
    def _touch(path: Path) -> bool:
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
        except PermissionError:  # it belongs to another user of this machine
            pass
        return True

    def _make_room(self, wanted: int) -> None:
        """Remove unfinished files, and of those that nobody has as many as are in the way."""
        held = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another process removed it
                stat = path.stat()
                held.append((stat.st_mtime, stat.st_size, path))
        excess = sum(size for _, size, _ in held) + wanted - self._total
        had = owned(self._root / FOLDER) if excess > 0 else set()
        before = time.time() - _SECONDS_A_FILE_OF_NOBODY_STAYS
        for used, size, path in sorted(held):
            unfinished = path.name.startswith(".")
            if used < before and (unfinished or (excess > 0 and path.name not in had)):
                with suppress(OSError):
                    path.unlink()
                    excess -= size
        if excess > 0:
            raise ValueError(
                f"no room: all visitors' files on this server may have {self._total / _MB:,.0f} "
                "MB together; remove one of yours, or ask who runs it for more"
            )


def _is_whole(path: Path, size: int, digest: str) -> bool:
    try:
        if path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


class Contents:
    """Immutable files, named by their sha256. Any number of processes may share a store.

    Every method raises ``StorageError`` where the store cannot be read or written.

    Args:
        location: a folder, or a URL such as ``s3://bucket/runs``.

    Raises:
        StorageError: no such kind of store, or its package is not installed.
    """

    def __init__(self, location: str) -> None:
        # The page process has uploads, too, and is spared this import.
        from fsspec.core import url_to_fs
        from fsspec.implementations.dirfs import DirFileSystem
        from fsspec.implementations.local import LocalFileSystem

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
        """
        digest = hashlib.sha256(data).hexdigest()
        with self._errors("write"):
            if self._folder is None:
                if not self._has_whole(digest, len(data)):
                    self._files.pipe_file(digest, data)
                return digest
            with files.writing(self._folder):
                if not _is_whole(self._folder / digest, len(data), digest):
                    files.make_folder(self._folder)
                    files.replace(self._folder / digest, data)
        return digest

    def read(self, digest: str) -> bytes:
        """Return the file with that sha256.

        StorageError: no sha256; it is missing, was changed, or the store cannot be read.
        """
        if not files.DIGEST.match(digest):
            raise StorageError("need the 64 hexadecimal digits of a sha256")
        try:
            with self._errors("read"):
                if self._folder is None:
                    data = self._files.cat_file(digest)
                else:
                    data = files.read_bounded(self._folder / digest, LARGEST_ARCHIVE)
        except FileNotFoundError as error:
            raise StorageError("the file of this run is missing") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StorageError("the file of this run was changed in its store; import it again")
        return data

    def has(self, digest: str) -> bool:
        """Whether there is a file of that name."""
        with self._errors("read"):
            return self._files.exists(digest)

    def names(self) -> Iterator[tuple[str, float]]:
        """Yield every file's name, and when it was written, in seconds since 1970.

        Files that were not finished are among them.
        """
        with self._errors("read"), suppress(FileNotFoundError):
            found: Any = self._files.ls("", detail=True)
            for each in found:
                if each["type"] == "file":
                    yield each["name"].rpartition("/")[2], _written(each)

    def remove(self, name: str) -> None:
        """Delete a file that :meth:`names` named; nothing happens if there is none."""
        with self._errors("write"), suppress(FileNotFoundError):
            self._files.rm_file(name)

    def _has_whole(self, digest: str, size: int) -> bool:
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
