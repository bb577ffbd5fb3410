"""Fetching a file whose content is known by its SHA-1."""

import hashlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO

from attention_plugins.marking import gettext_noop

Progress = Callable[[int, int | None], None]

MOST_BYTES = 500_000_000
_CHUNK = 65_536


class DownloadError(OSError):
    """A file that could not be fetched, and why, in one sentence."""


def fetch(
    url: str, target: Path, *, sha1: str, progress: Progress | None = None, timeout: float = 30.0,
) -> Path:  # fmt: skip
    """The file of ``url`` at ``target``, downloaded unless it is already there.

    The target appears at once and whole; one process waits for another that fetches the same file.
    The hash, not the connection, vouches for the content. ``progress`` gets the bytes so far and
    in all (None if unknown), and may raise to stop. DownloadError: no connection within
    ``timeout`` seconds, no such file, another content, or a target with another content, which is
    never overwritten.
    """
    try:
        if not _there(target, sha1):
            from filelock import FileLock

            target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(target.with_name(f"{target.name}.lock")):
                if not _there(target, sha1):  # another process may have been first
                    _download(url, target, sha1, progress or (lambda done, total: None), timeout)
    except DownloadError:
        raise
    except OSError as error:  # as all errors of requests, with which pooch downloads
        answer = getattr(error, "response", None)
        if answer is not None:
            raise DownloadError(f"{url} answered {answer.status_code} {answer.reason}") from error
        raise DownloadError(f"cannot get {url}: {_reason(error)}") from error
    return target


def _there(target: Path, sha1: str) -> bool:
    if not target.exists():
        return False
    with target.open("rb") as file:
        found = hashlib.file_digest(file, "sha1").hexdigest()
    if found != sha1:
        raise DownloadError(
            f"{target} has SHA-1 {found}, need {sha1}; move it away to download it anew"
        )
    return True


def _download(url: str, target: Path, sha1: str, progress: Progress, timeout: float) -> None:
    import pooch

    def download(url: str, output_file: str, _: object) -> None:
        Path(output_file).unlink()  # pooch made it for its owner alone; a home may be shared
        with open(output_file, "xb") as file:
            counted = _Counted(file, url, progress)
            load = pooch.HTTPDownloader(
                progressbar=counted,  # pyright: ignore[reportArgumentType]  # any bar will do
                chunk_size=_CHUNK,
                timeout=timeout,
            )
            load(url, counted, None)

    pooch.get_logger().setLevel("ERROR")  # callers show the progress
    try:
        pooch.retrieve(
            url, known_hash=f"sha1:{sha1}", fname=target.name, path=target.parent,
            # Its annotation names other arguments than those that it passes, which are by place.
            downloader=download,  # pyright: ignore[reportArgumentType]
        )  # fmt: skip
    except OSError:  # some errors of requests are ValueErrors too
        raise
    except ValueError as error:  # another hash
        said = str(error).partition(". ")[0]
        raise DownloadError(f"{url}: {said}; nothing was kept, try again") from error


class _Counted:
    """A file that reports the bytes written to it, and takes at most ``MOST_BYTES``.

    It stands in for pooch's progress bar too, since that is told the ``total``. The bar's own
    methods do nothing: pooch calls them once a chunk, however long the chunk is.
    """

    total = 0  # unknown

    def __init__(self, file: BinaryIO, url: str, progress: Progress) -> None:
        self._file, self._url, self._progress = file, url, progress
        self._done = 0

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._done += len(chunk)
        if self._done > MOST_BYTES:
            raise DownloadError(f"{self._url} has over {MOST_BYTES:,} bytes")
        self._progress(self._done, self.total or None)

    def flush(self) -> None:
        self._file.flush()

    def update(self, count: int) -> None: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


def _reason(error: BaseException) -> str:
    while inner := error.__cause__ or error.__context__:
        error = inner
    said = getattr(error, "strerror", None) or str(error)
    cut = isinstance(error, (ConnectionError, TimeoutError, HTTPException))
    return gettext_noop(f"{said}; nothing was kept, try again") if cut else said
