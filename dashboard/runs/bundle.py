"""A run as one file that another dashboard takes in: request, facts, tables, charts, pictures.

A zip with ``manifest.json`` first, which names every other entry with its size and sha256;
``tables/*.arrow`` (Arrow IPC streams), ``charts/*.vl.json`` (Vega-Lite with its data) and
``pictures/*.svg``, ``pictures/*.png``. Equal runs give equal bytes.

What comes from elsewhere is data, never something to run: its charts are kept for those who unpack
the file, and drawn here anew from its tables.
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

from dashboard.runs.archive import MB, pack, unpack
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.untrusted import BundleError, parse_json, parse_table, table_bytes

__all__ = ["FORMAT", "VERSION", "Bundle", "BundleError", "read", "slug", "versions", "write"]

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
_FIELDS = {
    "format": str, "version": int, "title": str, "link": str, "request": dict, "facts": dict,
    "versions": dict, "entries": dict,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A run with what it was seen as.

    Args:
        title: a line.
        link: the page's link, ``/page?…``; empty where there is none.
        charts: Vega-Lite specifications by a name as :func:`slug` makes it.
        pictures: bytes by such a name with ``.svg`` or ``.png``.
        versions: of the programs that made it.
    """

    request: Request
    result: Result
    title: str = ""
    link: str = ""
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def slug(name: str) -> str:
    """A name that may stand in a bundle: ``"Curve, of a"`` becomes ``"curve-of-a"``."""
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:60].strip("-_")
    return words or "chart"


@functools.cache
def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Of the programs of this process that draw and write; a result says those that computed."""
    names = ("attention-workbench", "altair", "pyarrow", "streamlit")
    found = {name: _version(name) for name in names}
    return {"python": platform.python_version(), **{n: v for n, v in found.items() if v}}


def write(bundle: Bundle) -> bytes:
    """The bundle as a file.

    Raises:
        BundleError: larger than :func:`read` takes, or with a name that it would refuse.
    """
    result = bundle.result
    entries = {f"tables/{name}.arrow": table_bytes(t) for name, t in result.tables.items()}
    entries |= {f"charts/{name}.vl.json": _json(spec) for name, spec in bundle.charts.items()}
    entries |= {f"pictures/{name}": data for name, data in bundle.pictures.items()}
    for name in entries:
        if not _ENTRY.match(name):
            raise BundleError(f"a bundle has no entry called {name[:80]!a}")
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
    """The bundle in a file of anybody's.

    Raises:
        BundleError: what is wrong with it, in one sentence.
    """
    entries = unpack(data, lambda name: name == _MANIFEST or bool(_ENTRY.match(name)))
    if _MANIFEST not in entries:
        raise BundleError("the entry manifest.json is missing from the bundle")
    packed = entries.pop(_MANIFEST)
    _check_manifest_size(packed)
    manifest = parse_json(packed, _MANIFEST)
    _check_manifest(manifest)
    _check_stamps(manifest["entries"], entries)
    tables: dict[str, pa.Table] = {}
    charts: dict[str, dict[str, Any]] = {}
    pictures: dict[str, bytes] = {}
    for name, content in entries.items():
        folder, stem = (part for part in _ENTRY.match(name).groups() if part)
        if folder == "tables":
            tables[stem] = parse_table(content, name)
        elif folder == "charts":
            charts[stem] = parse_json(content, name)
        else:
            _check_picture(content, name)
            pictures[stem] = content
    return Bundle(
        request=_request(manifest["request"]),
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


def _check_stamps(stamps: Mapping[str, Any], entries: Mapping[str, bytes]) -> None:
    """What is there is what the manifest names, byte for byte."""
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


def _check_picture(data: bytes, name: str) -> None:
    if name.endswith(".svg"):
        return  # only ever handed on as a file
    sides = [int.from_bytes(data[start : start + 4], "big") for start in (16, 20)]
    if not data.startswith(_PNG) or not all(0 < side <= _WIDEST_PNG for side in sides):
        raise BundleError(f"{name} is not a PNG of at most {_WIDEST_PNG:,} px a side")


def _request(fields: Mapping[str, Any]) -> Request:
    known = Request.__dataclass_fields__
    texts = {name for name, held in known.items() if held.type == "str"}
    if fields.keys() != known.keys():
        raise BundleError("manifest.json: need a request with exactly a request's fields")
    for name in ("parameters", "options"):
        held = fields[name]
        if not (isinstance(held, list) and all(_is_pair(pair) for pair in held)):
            raise BundleError(f"manifest.json: need {name} of a name and a plain value each")
    if not all(isinstance(fields[name], str) for name in texts) or type(fields["seed"]) is not int:
        raise BundleError("manifest.json: need a request of texts and a whole seed")
    pairs = {name: tuple(map(tuple, fields[name])) for name in ("parameters", "options")}
    return Request(**{**fields, **pairs})


def _is_pair(pair: Any) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], bool | int | float | str)
    )


def _json(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()
