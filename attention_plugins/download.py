"""Fetching a file whose content is known by its SHA-1, from where an earlier try left off."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

try:
    import fcntl
except ImportError:  # on Windows, two processes must not fetch one file at a time
    fcntl = None

Progress = Callable[[int, int | None], None]

MOST_BYTES = 500_000_000
_MOST_CUTS = 4
_CHUNK = 65_536
_SECONDS_BETWEEN_LOOKS = 0.1
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class DownloadError(OSError):
    """A file that could not be fetched, and why, in one sentence."""


class _Cut(Exception):
    """The connection was lost while the file came in."""


def fetch(
    url: str,
    target: Path,
    *,
    sha1: str,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """The file of ``url`` at ``target``, downloaded unless it is already there.

    What has arrived waits in ``target`` + ``.part``; after a cut connection this call, or the
    next, goes on from there where the server knows HTTP ranges. The target appears at once and
    whole. Where another process is fetching into the same folder, this one waits for it.

    Args:
        url: ``http`` or ``https``; the hash, not the connection, vouches for the content.
        target: where the file goes; its folders are made.
        sha1: of the whole file, in hexadecimal.
        progress: called with the bytes there so far and the bytes in all (None if unknown); it
            may raise to stop.
        timeout: seconds of silence after which the connection counts as lost.

    Raises:
        DownloadError: no connection, no such file, another content, or a target with another
            content, which is never overwritten.
    """
    part = target.with_name(f"{target.name}.part")
    report = progress or (lambda done, total: None)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent, lambda: report(_size(part), None)):
            if not _there(target, sha1) and not _finished(part, target, sha1):
                _download(url, part, target, sha1, report, timeout)
    except DownloadError:
        raise
    except HTTPError as error:
        error.close()
        raise DownloadError(f"{url} answered {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        cause = getattr(error, "reason", error)
        raise DownloadError(
            f"cannot get {url}: {getattr(cause, 'strerror', None) or cause}"
        ) from error
    return target


def sha1_of(path: Path) -> str:
    """The SHA-1 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()


@contextmanager
def _alone(folder: Path, meanwhile: Callable[[], None]) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process even if that is killed."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                meanwhile()
                time.sleep(_SECONDS_BETWEEN_LOOKS)
        yield
    finally:
        os.close(handle)


def _there(target: Path, sha1: str) -> bool:
    if not target.exists():
        return False
    if (found := sha1_of(target)) != sha1:
        raise DownloadError(
            f"{target} has SHA-1 {found}, need {sha1}; move it away to download it anew"
        )
    return True


def _finished(part: Path, target: Path, sha1: str) -> bool:
    """Whether the part is the whole file; if so, it is now the target."""
    if not part.exists() or sha1_of(part) != sha1:
        return False
    os.replace(part, target)
    return True


def _download(
    url: str, part: Path, target: Path, sha1: str, report: Progress, timeout: float
) -> None:
    cuts = 0
    while cuts < _MOST_CUTS:
        began, complete = _receive(url, part, report, timeout)
        if _finished(part, target, sha1):
            return
        if not complete:
            cuts += 1
        else:
            found = sha1_of(part)
            part.unlink()
            if began == 0:
                raise DownloadError(f"{url} has SHA-1 {found}, need {sha1}")
    raise DownloadError(
        f"the connection to {url} was cut {_MOST_CUTS} times, last at {_size(part):,} bytes; "
        "try again to go on from there"
    )


def _size(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0


def _receive(url: str, part: Path, report: Progress, timeout: float) -> tuple[int, bool]:
    """One connection: the byte it began at, and whether the rest of the file came."""
    have = _size(part)
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urlopen(request, timeout=timeout)
    except HTTPError as error:
        if error.code != 416 or not have:
            raise
        error.close()
        part.unlink()  # it is as long as the file, or longer, and another
        return have, False
    with response:
        began, total = _span(response)
        if began not in (0, have):
            raise DownloadError(f"{url} began at byte {began:,}, asked for {have:,}")
        with part.open("ab" if began else "wb") as file:
            try:
                done = _copy(response, file, began, total, report)
            except _Cut:
                return began, False
    return began, total is None or done >= total


def _span(response: HTTPResponse) -> tuple[int, int | None]:
    """The first byte of an answer, and the size of the whole file where it is told."""
    found = _RANGE.match(response.headers.get("Content-Range", ""))
    if response.status == 206 and found:
        return int(found[1]), None if found[2] == "*" else int(found[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _copy(
    response: HTTPResponse, file: BinaryIO, done: int, total: int | None, report: Progress
) -> int:
    while chunk := _read(response):
        file.write(chunk)
        done += len(chunk)
        report(done, total)
        if done > MOST_BYTES:
            raise DownloadError(f"{response.url} has over {MOST_BYTES:,} bytes")
    return done


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read1(_CHUNK)
    except (OSError, HTTPException) as error:
        raise _Cut from error
