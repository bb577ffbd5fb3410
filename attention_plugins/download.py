"""Fetching a file whose content is known by its SHA-1, from where an earlier try left off."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Progress = Callable[[int, int | None], None]

MOST_BYTES = 500_000_000
_ATTEMPTS = 4
_CHUNK = 65_536
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
    whole. Several processes may fetch one target together: they write equal bytes to equal
    places.

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
    try:
        if target.exists() and (found := sha1_of(target)) != sha1:
            raise DownloadError(
                f"{target} has SHA-1 {found}, need {sha1}; move it away to download it anew"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        if not _taken(part, target, sha1):
            _download(url, part, target, sha1, progress or (lambda done, total: None), timeout)
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


def _taken(part: Path, target: Path, sha1: str) -> bool:
    """Whether the target is there, now that a right part was made the target."""
    try:
        if sha1_of(part) == sha1:
            os.replace(part, target)
    except FileNotFoundError:
        pass  # nothing has arrived yet, or another process was first
    return target.exists()


def _download(
    url: str, part: Path, target: Path, sha1: str, progress: Progress, timeout: float
) -> None:
    for _ in range(_ATTEMPTS):
        began, complete = _receive(url, part, progress, timeout)
        if _taken(part, target, sha1):
            return
        if complete:
            found = sha1_of(part)
            part.unlink(missing_ok=True)
            if began == 0:
                raise DownloadError(f"{url} has SHA-1 {found}, need {sha1}")
    raise DownloadError(
        f"the connection to {url} was cut {_ATTEMPTS} times, last at {_size(part):,} bytes; "
        "try again to go on from there"
    )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _receive(url: str, part: Path, progress: Progress, timeout: float) -> tuple[int, bool]:
    """One connection: the byte it began at, and whether the rest of the file came."""
    have = _size(part)
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urlopen(request, timeout=timeout)
    except HTTPError as error:
        if error.code != 416:
            raise
        error.close()
        part.unlink(missing_ok=True)  # it is longer than the file
        return have, False
    part.touch()  # and not opened with "w", as another process may be writing the same bytes
    with response, part.open("r+b") as file:
        began, total = _span(response)
        if began > have:
            raise DownloadError(f"{url} began at byte {began:,}, asked for {have:,}")
        file.seek(began)
        done = began
        try:
            while chunk := _read(response):
                file.write(chunk)
                done += len(chunk)
                progress(done, total)
                if done > MOST_BYTES:
                    raise DownloadError(f"{url} has over {MOST_BYTES:,} bytes")
        except _Cut:
            return began, False
        complete = total is None or done >= total
        if complete:
            file.truncate(done)
        return began, complete


def _span(response: HTTPResponse) -> tuple[int, int | None]:
    """The first byte of an answer, and the size of the whole file where it is told."""
    found = _RANGE.match(response.headers.get("Content-Range", ""))
    if response.status == 206 and found:
        return int(found[1]), None if found[2] == "*" else int(found[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read1(_CHUNK)
    except (OSError, HTTPException) as error:
        raise _Cut from error
