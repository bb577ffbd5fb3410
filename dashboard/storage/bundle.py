"""A bundle: a run as one file, with its request, facts, tables, charts and pictures.

A bundle is a zip file. Its first entry ``manifest.json`` names every other entry with its size and
sha256: ``tables/*.arrow`` (Arrow IPC streams), ``charts/*.vl.json`` (Vega-Lite with its data),
``pictures/*.svg`` and ``pictures/*.png``. Equal runs give equal bytes.

Imported bundles are untrusted: anything altered, oversized or unexpected is rejected with a
reason. Their charts stay in the bundle for those who unpack it; pages draw from the tables.
"""

import functools
import importlib.metadata
import io
import platform
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from dashboard.records.request import Request, Result
from dashboard.storage import entries
from dashboard.storage.entries import MAX_VALUES, count_values
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


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file of the entries, in their order.

    BundleError: beyond the limits of :func:`unpack`.
    """
    total = sum(map(len, files.values()))
    largest = max(map(len, files.values()), default=0)
    if len(files) > MOST_ENTRIES or largest > LARGEST_ENTRY or total > LARGEST_TOTAL:
        raise BundleError(
            f"need at most {MOST_ENTRIES} entries of {LARGEST_ENTRY // MB} MB, "
            f"{LARGEST_TOTAL // MB} MB in all, got {len(files)} of {total / MB:.1f} MB in all"
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _TIMESTAMP)
            info.create_system, info.external_attr = _UNIX, (stat.S_IFREG | _MODE) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data, compresslevel=6)
    check_size(file.getvalue())
    return file.getvalue()


def unpack(data: bytes, allowed: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the entries of a zip file by name, without trusting the sizes in its headers.

    Args:
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
    """Raise a ``BundleError`` if a bundle has more than :data:`LARGEST_ARCHIVE` bytes."""
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
        found[info.filename] = _read_entry(archive, info, left)
        left -= len(found[info.filename])
    return found


def _check(info: zipfile.ZipInfo, allowed: Callable[[str], bool]) -> None:
    # The name as it stands: what `filename` shows was cut at the first zero byte.
    if info.orig_filename != info.filename or not allowed(info.filename):
        raise BundleError(f"a bundle has no entry called {_named(info)}")
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise BundleError(f"the entry {_named(info)} is a link, or no plain file")
    if info.flag_bits & 0x1:
        raise BundleError(f"the entry {_named(info)} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(f"the entry {_named(info)} has an unknown compression")


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes:
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


FORMAT, VERSION = "attention-workbench run", 1
LARGEST_MANIFEST = 4 * MB
_MANIFEST = "manifest.json"
_LONGEST_TEXT = 300
_FIELDS = {
    "format": str, "version": int, "title": str, "link": str, "request": dict, "facts": dict,
    "versions": dict, "entries": dict,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A run of a request, and how its page showed it.

    Args:
        title: one line.
        link: the page's link, ``/page?…``; empty if there is none.
        charts: Vega-Lite specifications by names that :func:`slug` returns.
        pictures: bytes by such names with ``.svg`` or ``.png``.
        versions: of the programs that made the bundle.
    """

    request: Request
    result: Result
    title: str = ""
    link: str = ""
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@functools.lru_cache(maxsize=1_000)
def slug(name: str, instead: str = "chart", longest: int = 60) -> str:
    """Return a name that a bundle allows: ``"Curve, of a"`` becomes ``"curve-of-a"``.

    Args:
        instead: for a name most of whose letters are none of these, such as one in Chinese.
        longest: characters.
    """
    letters = [letter for letter in name if letter.isalnum()]
    if 2 * sum(map(str.isascii, letters)) < len(letters):
        name = instead
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")
    if len(words) > longest:  # no word is cut but a first one
        words = words[: longest + 1].rpartition("-")[0] or words[:longest]
    return words or instead


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions of what draws and writes; those of what computed are in the result."""
    found = {"python": platform.python_version()}
    for name in ("attention-workbench", "altair", "pyarrow", "streamlit"):
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def write(bundle: Bundle) -> bytes:
    """Return the bundle as a file.

    BundleError: larger than :func:`read` allows, or with a name that it rejects.
    """
    result = bundle.result
    files = entries.entries_of(result.tables, bundle.charts, bundle.pictures)
    manifest = entries.as_json({
        "format": FORMAT, "version": VERSION, "title": bundle.title[:_LONGEST_TEXT],
        "link": bundle.link, "request": asdict(bundle.request), "facts": dict(result.facts),
        "versions": dict(bundle.versions),
        "entries": {name: entries.stamp(data) for name, data in files.items()},
    })  # fmt: skip
    _check_manifest_size(manifest)
    return pack({_MANIFEST: manifest, **dict(sorted(files.items()))})


@entries.rejecting()
def read(data: bytes) -> Bundle:
    """Read a bundle.

    Read a bundle of unknown origin only in a worker, see :func:`.tables.parse_table`.

    Raises:
        BundleError: what is wrong with it, in one sentence.
        MemoryError: it needs more memory than this process may use.
    """
    files = unpack(data, lambda name: name == _MANIFEST or entries.is_entry(name))
    if _MANIFEST not in files:
        raise BundleError("the entry manifest.json is missing from the bundle")
    packed = files.pop(_MANIFEST)
    _check_manifest_size(packed)
    manifest = entries.parse_object(packed, _MANIFEST)
    _check_manifest(manifest)
    entries.check_stamps(manifest["entries"], files, _MANIFEST)
    tables, charts, pictures = entries.contents_of(files)
    if (values := sum(map(count_values, tables.values()))) > MAX_VALUES:
        raise BundleError(f"need at most {MAX_VALUES:,} values in all tables, got {values:,}")
    return Bundle(
        request=Request.from_fields(manifest["request"]),
        result=Result(tables=tables, facts=manifest["facts"]), charts=charts, pictures=pictures,
        **{name: manifest[name] for name in ("title", "link", "versions")},
    )  # fmt: skip


def _check_manifest_size(packed: bytes) -> None:
    if len(packed) > LARGEST_MANIFEST:
        raise BundleError(
            f"need a manifest of at most {LARGEST_MANIFEST // MB} MB, "
            f"got {len(packed) / MB:.1f} MB"
        )


def _check_manifest(manifest: Mapping[str, Any]) -> None:
    if manifest.get("format") != FORMAT:
        raise BundleError(f"need the format {FORMAT!r}, got {str(manifest.get('format'))[:60]!a}")
    if manifest.get("version") != VERSION or isinstance(manifest["version"], bool):
        given = str(manifest.get("version"))[:60]
        raise BundleError(f"need version {VERSION} of the format, got {given!a}")
    entries.check_fields(manifest, _FIELDS, _MANIFEST)
    title = manifest["title"]
    if len(title) > _LONGEST_TEXT or (title and not title.isprintable()):
        raise BundleError(f"need a title of one line and at most {_LONGEST_TEXT} characters")
    entries.check_link(manifest["link"])
    texts = manifest["versions"].values()
    if not all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in texts):
        raise BundleError("manifest.json: need versions that are short texts")
