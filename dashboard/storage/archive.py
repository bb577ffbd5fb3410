"""Zip files: equal contents give equal bytes, and what is read is bounded and checked."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping

from dashboard.storage.files import BundleError

MB = 2**20
LARGEST_ARCHIVE = 20 * MB  # the largest upload of a page, see .streamlit/config.toml
LARGEST_ENTRY = 64 * MB
LARGEST_TOTAL = 128 * MB
MOST_ENTRIES = 1024
_CHUNK = 2**16
_ENTRY_MARK = b"PK\x01\x02"
_LONGEST_SHOWN = 60
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the earliest of a zip file
_UNIX, _MODE = 3, 0o644


def pack(entries: Mapping[str, bytes]) -> bytes:
    """Return a zip file of the entries, in their order.

    Raises:
        BundleError: beyond the limits of :func:`unpack`.
    """
    total = sum(map(len, entries.values()))
    largest = max(map(len, entries.values()), default=0)
    if len(entries) > MOST_ENTRIES or largest > LARGEST_ENTRY or total > LARGEST_TOTAL:
        raise BundleError(
            f"need at most {MOST_ENTRIES} entries of {LARGEST_ENTRY // MB} MB, "
            f"{LARGEST_TOTAL // MB} MB in all, got {len(entries)} of {total / MB:.1f} MB in all"
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name, _TIMESTAMP)
            info.create_system, info.external_attr = _UNIX, (stat.S_IFREG | _MODE) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data, compresslevel=6)
    packed = file.getvalue()
    check_size(packed)
    return packed


def unpack(data: bytes, allowed: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the entries of a zip file by name, without trusting the sizes in its headers.

    Args:
        data: the file.
        allowed: returns whether an entry may have that name.

    Raises:
        BundleError: not a zip file; a name that is not allowed or occurs twice; a link, a folder
            or an encrypted entry; beyond the limits.
    """
    check_size(data)
    # Before the directory is read, which takes long with a million entries.
    if data.count(_ENTRY_MARK) > MOST_ENTRIES:
        raise BundleError(f"need a bundle of at most {MOST_ENTRIES} entries, got more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _entries(archive, allowed)
    except BundleError:
        raise
    except (
        zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError,
        IndexError, OverflowError, NotImplementedError, RuntimeError,
    ) as error:  # fmt: skip
        reason = str(error)[:200] or type(error).__name__
        raise BundleError(f"this is not a zip file that can be read: {reason}") from error


def check_size(data: bytes) -> None:
    """Check that a bundle is not too large.

    Raises:
        BundleError: more than :data:`LARGEST_ARCHIVE` bytes.
    """
    if len(data) > LARGEST_ARCHIVE:
        raise BundleError(
            f"need a bundle of at most {LARGEST_ARCHIVE // MB} MB, got {len(data) / MB:.1f} MB"
        )


def _entries(archive: zipfile.ZipFile, allowed: Callable[[str], bool]) -> dict[str, bytes]:
    infos = archive.infolist()
    if len(infos) > MOST_ENTRIES:
        raise BundleError(f"need a bundle of at most {MOST_ENTRIES} entries, got {len(infos)}")
    found: dict[str, bytes] = {}
    left = LARGEST_TOTAL
    for info in infos:
        _check(info, allowed)
        if info.filename in found:
            raise BundleError(f"the entry {_named(info)} stands twice in the bundle")
        found[info.filename] = _read(archive, info, left)
        left -= len(found[info.filename])
    return found


def _check(info: zipfile.ZipInfo, allowed: Callable[[str], bool]) -> None:
    # The name as it stands: what `filename` shows was cut at the first zero byte.
    if info.orig_filename != info.filename or not allowed(info.filename):
        raise BundleError(f"a bundle has no entry called {_named(info)}")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BundleError(f"the entry {_named(info)} is a link, or no plain file")
    if info.flag_bits & 0x1:
        raise BundleError(f"the entry {_named(info)} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(f"the entry {_named(info)} has an unknown compression")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes:
    """Read the entry, and stop as soon as it is larger than allowed."""
    most = min(LARGEST_ENTRY, left)
    data = bytearray()
    with archive.open(info) as file:
        while chunk := file.read(_CHUNK):
            data += chunk
            if len(data) > most:
                raise BundleError(
                    f"the entry {_named(info)} unpacks to more than is taken: "
                    f"{LARGEST_ENTRY // MB} MB each, {LARGEST_TOTAL // MB} MB in all"
                )
    return bytes(data)


def _named(info: zipfile.ZipInfo) -> str:
    return ascii(info.orig_filename[:_LONGEST_SHOWN])
