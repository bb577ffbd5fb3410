"""A run as a file: the whole page as it was seen, with all its panels.

The file is a zip. Its first entry ``page.json`` has the name, the note and the link;
``panels/1.zip`` and so on are the bundles of the panels, see :mod:`dashboard.storage.bundle`;
``picture.png`` is a small picture of the page. Equal runs give equal bytes.

A panel's bundle alone is read as a page with that one panel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.records.text import one_line
from dashboard.storage import bundle
from dashboard.storage.archive import MB, pack, unpack
from dashboard.storage.bundle import Bundle
from dashboard.storage.errors import BundleError
from dashboard.storage.strict_json import parse_object
from dashboard.storage.tables import MAX_VALUES, count_values

FORMAT, VERSION = "attention-workbench page", 1
MOST_PANELS = 8
LONGEST_NAME, LONGEST_NOTE, LONGEST_LINK = 200, 2_000, 20_000
LARGEST_PICTURE = 2 * MB
PNG = b"\x89PNG\r\n\x1a\n"
_PAGE, _PICTURE = "page.json", "picture.png"
_PANEL = re.compile(r"panels/([1-9])\.zip\Z")
_LINK = re.compile(r"(/[a-z]*(\?[!-~]*)?)?\Z")  # of this dashboard, printable ASCII
_FIELDS = {"format": str, "version": int, "name": str, "note": str, "link": str}
_NAME_OF_FIRST_ENTRY = 30  # its place in a zip file


@dataclass(frozen=True, kw_only=True)
class PageRun:
    """A page as it was seen.

    Args:
        panels: their requests, results and charts, in their order; at least one.
        name: one line.
        note: any text; lines may break.
        link: the page's link, ``/page?…``; empty if there is none.
        picture: a PNG; empty if there is none.
    """

    panels: tuple[Bundle, ...]
    name: str
    note: str = ""
    link: str = ""
    picture: bytes = b""


def write(page: PageRun) -> bytes:
    """Return the page as a file.

    Raises:
        BundleError: larger than :func:`read` allows, or with texts that it rejects.
    """
    held = {"format": FORMAT, "version": VERSION, "name": page.name, "note": page.note,
            "link": page.link}  # fmt: skip
    _check(held)
    _check_count(len(page.panels))
    _check_picture(page.picture)
    entries = {_PAGE: json.dumps(held, sort_keys=True, ensure_ascii=False).encode()}
    for number, panel in enumerate(page.panels, start=1):
        entries[f"panels/{number}.zip"] = bundle.write(panel)
    if page.picture:
        entries[_PICTURE] = page.picture
    return pack(entries)


def read(data: bytes) -> PageRun:
    """Read a page, or a panel's bundle as a page of one panel.

    Read a file of unknown origin only in a worker, see :func:`.tables.parse_table`.

    Raises:
        BundleError: what is wrong with it, in one sentence.
        MemoryError: it needs more memory than this process may use.
    """
    if not data.startswith(_PAGE.encode(), _NAME_OF_FIRST_ENTRY):
        panel = bundle.read(data)
        name = one_line(panel.title) or one_line(panel.request.task) or "A panel"
        return PageRun(panels=(panel,), name=name, link=panel.link)
    entries = unpack(data, lambda name: name in (_PAGE, _PICTURE) or bool(_PANEL.match(name)))
    try:
        held = parse_object(entries.pop(_PAGE), _PAGE)
    except ValueError as error:
        raise BundleError(str(error)) from error
    _check(held)
    picture = entries.pop(_PICTURE, b"")
    _check_picture(picture)
    _check_count(len(entries))
    expected = [f"panels/{number}.zip" for number in range(1, len(entries) + 1)]
    if sorted(entries) != expected:
        raise BundleError(f"need the panels {', '.join(expected)}, got {', '.join(entries)}")
    panels = tuple(bundle.read(entries[name]) for name in expected)
    _check_budget(panels)
    return PageRun(
        panels=panels, name=held["name"], note=held["note"], link=held["link"], picture=picture
    )


def _check(held: dict[str, object]) -> None:
    """Check what ``page.json`` holds."""
    if held.get("format") != FORMAT or held.get("version") != VERSION:
        raise BundleError(f"need the format {FORMAT!r}, version {VERSION}")
    if held.keys() != _FIELDS.keys():
        differing = sorted(held.keys() ^ _FIELDS.keys())[0]
        raise BundleError(f"{_PAGE} lacks, or should not have, {differing[:60]!a}")
    for name, kind in _FIELDS.items():
        if type(held[name]) is not kind:
            raise BundleError(f"{_PAGE}: {name} is of another kind than it should be")
    name, note, link = (str(held[field]) for field in ("name", "note", "link"))
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BundleError(f"need a name of one line and at most {LONGEST_NAME} characters")
    if len(note) > LONGEST_NOTE or not note.replace("\n", "").isprintable():
        raise BundleError(f"need a note of plain text and at most {LONGEST_NOTE:,} characters")
    if len(link) > LONGEST_LINK or not _LINK.match(link):
        raise BundleError(f"need a link to a page of this dashboard, got {link[:60]!a}")


def _check_count(panels: int) -> None:
    if not 0 < panels <= MOST_PANELS:
        raise BundleError(f"need 1 to {MOST_PANELS} panels, got {panels}")


def _check_budget(panels: Sequence[Bundle]) -> None:
    """Check that all panels together have no more to be drawn than one bundle may have."""
    pictures = {f"{n}/{name}": data for n, panel in enumerate(panels, start=1)
                for name, data in panel.pictures.items()}  # fmt: skip
    bundle.check_pictures(pictures)
    values = sum(count_values(t) for panel in panels for t in panel.result.tables.values())
    if values > MAX_VALUES:
        raise BundleError(f"need at most {MAX_VALUES:,} values in all panels, got {values:,}")


def _check_picture(picture: bytes) -> None:
    if picture and (not picture.startswith(PNG) or len(picture) > LARGEST_PICTURE):
        raise BundleError(f"{_PICTURE} is not a PNG of at most {LARGEST_PICTURE // MB} MB")
    if picture:
        bundle.check_pictures({_PICTURE: picture})
