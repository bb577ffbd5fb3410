"""A bundle: a run as one file, with its request, facts, tables, charts and pictures.

A bundle is a zip file. Its first entry ``manifest.json`` names every other entry with its size and
sha256: ``tables/*.arrow`` (Arrow IPC streams), ``charts/*.vl.json`` (Vega-Lite with its data),
``pictures/*.svg`` and ``pictures/*.png``. Equal runs give equal bytes.

Imported bundles are untrusted: anything altered, oversized or unexpected is rejected with a
reason. Their charts stay in the bundle for those who unpack it; pages draw from the tables.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.storage.archive import MB, pack, unpack
from dashboard.storage.errors import BundleError
from dashboard.storage.strict_json import parse_object
from dashboard.storage.tables import MAX_VALUES, count_values, parse_table, table_bytes

FORMAT, VERSION = "attention-workbench run", 1
LARGEST_MANIFEST = 4 * MB
_MANIFEST = "manifest.json"
_NAME = r"[a-z0-9][a-z0-9_-]{0,59}"
_ENTRY = re.compile(
    rf"(?:(tables)/({_NAME})\.arrow|(charts)/({_NAME})\.vl\.json|(pictures)/({_NAME}\.(?:svg|png)))\Z"
)
_LINK = re.compile(r"(/[a-z]*(\?[!-~]*)?)?\Z")  # of this dashboard, printable ASCII
_LONGEST_TEXT, _LONGEST_LINK = 300, 20_000
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_WIDEST_PNG = 8_000  # px of either side
_MOST_PIXELS = 64_000_000  # of all pictures together
_FIELDS = {
    "format": str, "version": int, "title": str, "link": str, "request": dict, "facts": dict,
    "versions": dict, "entries": dict,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A run, and how its page showed it.

    Args:
        request: what was computed.
        result: its tables and facts.
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


def slug(name: str) -> str:
    """Return a name that a bundle allows: ``"Curve, of a"`` becomes ``"curve-of-a"``."""
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:60].strip("-_")
    return words or "chart"


@functools.cache
def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Return the versions of what draws and writes; those of what computed are in the result."""
    names = ("attention-workbench", "altair", "pyarrow", "streamlit")
    found = {name: _version(name) for name in names}
    return {"python": platform.python_version(), **{n: v for n, v in found.items() if v}}


def write(bundle: Bundle) -> bytes:
    """Return the bundle as a file.

    Raises:
        BundleError: larger than :func:`read` allows, or with a name that it rejects.
    """
    result = bundle.result
    entries = {f"tables/{name}.arrow": table_bytes(t) for name, t in result.tables.items()}
    entries |= {f"charts/{name}.vl.json": _json(spec) for name, spec in bundle.charts.items()}
    entries |= {f"pictures/{name}": data for name, data in bundle.pictures.items()}
    for name in entries:
        _split(name)
    manifest = _json(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": bundle.title[:_LONGEST_TEXT],
            "link": bundle.link,
            "request": asdict(bundle.request),
            "facts": dict(result.facts),
            "versions": dict(bundle.versions),
            "entries": {name: _stamp(data) for name, data in entries.items()},
        }
    )
    _check_manifest_size(manifest)
    return pack({_MANIFEST: manifest, **dict(sorted(entries.items()))})


def read(data: bytes) -> Bundle:
    """Read a bundle.

    Read a bundle of unknown origin only in a worker, see :func:`.tables.parse_table`.

    Raises:
        BundleError: what is wrong with it, in one sentence.
        MemoryError: it needs more memory than this process may use.
    """
    try:
        return _read(data)
    except BundleError:
        raise
    except ValueError as error:
        raise BundleError(str(error)) from error


def _read(data: bytes) -> Bundle:
    entries = unpack(data, lambda name: name == _MANIFEST or bool(_ENTRY.match(name)))
    if _MANIFEST not in entries:
        raise BundleError("the entry manifest.json is missing from the bundle")
    packed = entries.pop(_MANIFEST)
    _check_manifest_size(packed)
    manifest = parse_object(packed, _MANIFEST)
    _check_manifest(manifest)
    _check_stamps(manifest["entries"], entries)
    tables: dict[str, pa.Table] = {}
    charts: dict[str, dict[str, Any]] = {}
    pictures = {
        _split(name)[1]: data for name, data in entries.items() if name.startswith("pictures/")
    }
    check_pictures(pictures)
    for name, content in entries.items():
        folder, stem = _split(name)
        if folder == "tables":
            tables[stem] = parse_table(content, name)
        elif folder == "charts":
            charts[stem] = parse_object(content, name)
    if (values := sum(map(count_values, tables.values()))) > MAX_VALUES:
        raise BundleError(f"need at most {MAX_VALUES:,} values in all tables, got {values:,}")
    return Bundle(
        request=Request.from_fields(manifest["request"]),
        result=Result(tables=tables, facts=manifest["facts"]),
        title=manifest["title"],
        link=manifest["link"],
        charts=charts,
        pictures=pictures,
        versions=manifest["versions"],
    )


def _split(name: str) -> tuple[str, str]:
    """Return an entry's folder, and its name in the mapping of a :class:`Bundle`."""
    match = _ENTRY.match(name)
    if match is None:
        raise BundleError(f"a bundle has no entry called {name[:80]!a}")
    folder, stem = (part for part in match.groups() if part)
    return folder, stem


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
    if manifest.keys() != _FIELDS.keys():
        differing = sorted(manifest.keys() ^ _FIELDS.keys())[0]
        raise BundleError(f"manifest.json lacks, or should not have, {differing[:60]!a}")
    for name, kind in _FIELDS.items():
        if not isinstance(manifest[name], kind):
            raise BundleError(f"manifest.json: {name} is of another kind than it should be")
    title, link = manifest["title"], manifest["link"]
    if len(title) > _LONGEST_TEXT or (title and not title.isprintable()):
        raise BundleError(f"need a title of one line and at most {_LONGEST_TEXT} characters")
    if len(link) > _LONGEST_LINK or not _LINK.match(link):
        raise BundleError(f"need a link to a page of this dashboard, got {link[:60]!a}")
    texts = manifest["versions"].values()
    if not all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in texts):
        raise BundleError("manifest.json: need versions that are short texts")


def _check_stamps(stamps: Mapping[str, Any], entries: Mapping[str, bytes]) -> None:
    """Check that the entries are those that the manifest names, byte for byte."""
    for name in sorted(stamps.keys() - entries.keys()):
        raise BundleError(f"the entry {name[:80]!a} is missing from the bundle")
    for name in sorted(entries.keys() - stamps.keys()):
        raise BundleError(f"the entry {name!a} is not named in manifest.json")
    for name, content in entries.items():
        if stamps[name] != _stamp(content):
            raise BundleError(
                f"the entry {name!a} is not what manifest.json says (size or sha256): "
                "the bundle was changed"
            )


def _stamp(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def fitting(pictures: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the pictures without the PNGs that would be too many pixels for a bundle."""
    found, left = {}, _MOST_PIXELS
    for name, data in pictures.items():
        width, height = _sides(data) if name.endswith(".png") else (0, 0)
        if max(width, height) <= _WIDEST_PNG and width * height <= left:
            found[name], left = data, left - width * height
    return found


def check_pictures(pictures: Mapping[str, bytes]) -> None:
    """Check by their heads alone that the PNGs are some, and not too many pixels to be decoded.

    Raises:
        BundleError: they are not; it says which.
    """
    pixels = 0
    for name, data in pictures.items():
        if not name.endswith(".png"):
            continue  # pages offer it as a file only
        width, height = _sides(data)
        if not data.startswith(_PNG) or not all(0 < n <= _WIDEST_PNG for n in (width, height)):
            raise BundleError(f"{name} is not a PNG of at most {_WIDEST_PNG:,} px a side")
        pixels += width * height
    if pixels > _MOST_PIXELS:
        raise BundleError(f"need pictures of at most {_MOST_PIXELS:,} px in all, got {pixels:,}")


def _sides(png: bytes) -> tuple[int, int]:
    """Width and height in px, as the head of a PNG says."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def _json(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()
