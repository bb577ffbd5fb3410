"""A bundle: a run as one file, with its request, facts, tables, charts and pictures.

A bundle is a zip file. Its first entry ``manifest.json`` names every other entry with its size and
sha256: ``tables/*.arrow`` (Arrow IPC streams), ``charts/*.vl.json`` (Vega-Lite with its data),
``pictures/*.svg`` and ``pictures/*.png``. Equal runs give equal bytes.

Imported bundles are untrusted: anything altered, oversized or unexpected is rejected with a
reason. Their charts stay in the bundle for those who unpack it; pages draw from the tables.
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dashboard.records.request import Request, Result
from dashboard.storage.archive import MB, pack, unpack
from dashboard.storage.entries import (
    as_json,
    check_stamps,
    contents_of,
    entries_of,
    is_entry,
    parse_object,
    stamp,
)
from dashboard.storage.files import BundleError
from dashboard.storage.tables import MAX_VALUES, count_values

FORMAT, VERSION = "attention-workbench run", 1
LARGEST_MANIFEST = 4 * MB
_MANIFEST = "manifest.json"
_LINK = re.compile(r"(/[a-z]*(\?[!-~]*)?)?\Z")  # of this dashboard, printable ASCII
_LONGEST_TEXT, _LONGEST_LINK = 300, 20_000
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


def slug(name: str, instead: str = "chart") -> str:
    """Return a name that a bundle allows: ``"Curve, of a"`` becomes ``"curve-of-a"``.

    Args:
        instead: for a name most of whose letters are none of these, such as one in Chinese.
    """
    letters = [letter for letter in name if letter.isalnum()]
    if 2 * sum(map(str.isascii, letters)) < len(letters):
        name = instead
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:60].strip("-_")
    return words or instead


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
    entries = entries_of(result.tables, bundle.charts, bundle.pictures)
    manifest = as_json(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": bundle.title[:_LONGEST_TEXT],
            "link": bundle.link,
            "request": asdict(bundle.request),
            "facts": dict(result.facts),
            "versions": dict(bundle.versions),
            "entries": {name: stamp(data) for name, data in entries.items()},
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
    entries = unpack(data, lambda name: name == _MANIFEST or is_entry(name))
    if _MANIFEST not in entries:
        raise BundleError("the entry manifest.json is missing from the bundle")
    packed = entries.pop(_MANIFEST)
    _check_manifest_size(packed)
    manifest = parse_object(packed, _MANIFEST)
    _check_manifest(manifest)
    check_stamps(manifest["entries"], entries, _MANIFEST)
    tables, charts, pictures = contents_of(entries)
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
