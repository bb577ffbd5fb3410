"""Uploaded files by the sha256 of their content, shared by the page and the workers."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_MB = 2**20
_SECONDS_AN_UNFINISHED_FILE_STAYS = 3600


def default_root() -> Path:
    """The folder of everything kept, the same as that of :mod:`attention_plugins.home`."""
    if chosen := os.environ.get("ATTENTION_WORKBENCH_HOME"):
        return Path(chosen)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    folder = data if data.is_absolute() else Path.home() / ".local/share"
    return folder / "attention-workbench"


class Blobs:
    """Files that cannot change: their name is their sha256. Any number of processes may share one.

    Args:
        root: a folder, made when first needed; the files lie in its ``blobs``.
        largest: bytes of one file.
        total: bytes of all; beyond them the files that were not used for longest are removed.
    """

    def __init__(
        self, root: Path | None = None, *, largest: int = 50 * _MB, total: int = 1024 * _MB
    ) -> None:
        self._folder = (root or default_root()) / "blobs"
        self._largest = largest
        self._total = total

    def put(self, data: bytes) -> str:
        """Keep the bytes; their sha256 in 64 hexadecimal digits.

        Raises:
            ValueError: more bytes than one file may have.
            OSError: the folder cannot be written.
        """
        if len(data) > self._largest:
            raise ValueError(
                f"need a file of at most {self._largest / _MB:g} MB, got {len(data) / _MB:.1f} MB"
            )
        digest = hashlib.sha256(data).hexdigest()
        path = self._folder / digest
        if not self._touch(path):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write(path, data)
            self._make_room(keep=path)
        return digest

    def path(self, digest: str) -> Path:
        """Where the file with that sha256 lies; it now counts as just used.

        Raises:
            ValueError: something else than 64 hexadecimal digits, or a file that is not here.
        """
        if not _DIGEST.match(digest):
            raise ValueError(f"need the 64 hexadecimal digits of a sha256, got {digest[:80]!r}")
        path = self._folder / digest
        if not self._touch(path):
            raise ValueError(
                f"the uploaded file {digest[:12]}… is not kept here (any more); upload it again"
            )
        return path

    @staticmethod
    def _touch(path: Path) -> bool:
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
        except PermissionError:  # kept by another user of this machine
            pass
        return True

    def _write(self, path: Path, data: bytes) -> None:
        descriptor, unfinished = tempfile.mkstemp(prefix=".", dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(unfinished, path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise

    def _make_room(self, keep: Path) -> None:
        held = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # removed by another process meanwhile
                stat = path.stat()
                held.append((stat.st_mtime, stat.st_size, path))
        excess = sum(size for _, size, _ in held) - self._total
        abandoned = time.time() - _SECONDS_AN_UNFINISHED_FILE_STAYS
        for used, size, path in sorted(held):
            if path.name.startswith("."):
                removable = used < abandoned
            else:
                removable = excess > 0 and path != keep
            if removable:
                with suppress(OSError):
                    path.unlink()
                    excess -= size
