"""Uploaded files by the sha256 of their content, shared by the page and the workers."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from dashboard.storage.files import DIGEST, home, make_folder, replace, writing
from dashboard.storage.uploads import FOLDER, forget, owned

_MB = 2**20
_SECONDS_A_FILE_OF_NOBODY_STAYS = 3600


class Blobs:
    """Immutable files, named by their sha256. Any number of processes may share a folder.

    Args:
        root: a folder, made when first needed; the files lie in its ``blobs``.
        largest: bytes of one file.
        total: bytes of all files. Beyond them no file is taken in; what nobody has among their
            uploads any more, and nobody used for an hour, is removed before that.
    """

    def __init__(
        self, root: Path | None = None, *, largest: int = 50 * _MB, total: int = 1024 * _MB
    ) -> None:
        self._root = root or home()
        self._folder = self._root / "blobs"
        self._largest = largest
        self._total = total

    def put(self, data: bytes) -> str:
        """Store the bytes and return their sha256 in 64 hexadecimal digits.

        They are on the disk when this returns. A file of that name with other content, as after a
        power loss, is replaced.

        Raises:
            ValueError: more bytes than one file or all files may have.
            StorageError: the folder cannot be written.
        """
        if len(data) > self._largest:
            raise ValueError(
                f"need a file of at most {self._largest / _MB:g} MB, got {len(data) / _MB:.1f} MB"
            )
        digest = hashlib.sha256(data).hexdigest()
        path = self._folder / digest
        if not (_is_whole(path, len(data), digest) and self._touch(path)):
            with writing(self._folder):
                make_folder(self._folder)
                self._make_room(len(data))
                replace(path, data)
        return digest

    def path(self, digest: str) -> Path:
        """Return where the file with that sha256 lies, and mark it as just used.

        Raises:
            ValueError: not 64 hexadecimal digits, or a file that is not stored.
        """
        if not DIGEST.match(digest):
            raise ValueError(f"need the 64 hexadecimal digits of a sha256, got {digest[:80]!r}")
        path = self._folder / digest
        if not (path.is_file() and self._touch(path)):
            raise ValueError(
                f"the uploaded file {digest[:12]}… is not kept here: it was removed, or expired "
                "because nobody used it, or was uploaded elsewhere; upload it again"
            )
        return path

    def remove(self, digest: str) -> None:
        """Delete the file with that sha256, if there is one.

        Raises:
            OSError: it cannot be deleted.
        """
        if DIGEST.match(digest):
            (self._folder / digest).unlink(missing_ok=True)

    def newest(self) -> float | None:
        """Return when a file was last used, in seconds since 1970; None if there is none."""
        times = []
        with suppress(FileNotFoundError):
            times = [path.stat().st_mtime for path in self._folder.iterdir()]
        return max(times, default=None)

    def expire(self, before: float, needed: Callable[[], Collection[str]]) -> int:
        """Remove the uploads that nobody has used since then, but for those that are needed.

        Args:
            before: in seconds since 1970.
            needed: returns the sha256 of files that stay; asked if anything would go.

        Returns:
            How many went.

        Raises:
            StorageError: the folder cannot be written.
        """
        if not self._folder.is_dir():
            return 0
        with writing(self._folder):
            old = {
                path.name for path in self._folder.iterdir()
                if DIGEST.match(path.name) and path.stat().st_mtime < before
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
    """Whether there is a file with that size and sha256."""
    try:
        if path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False
