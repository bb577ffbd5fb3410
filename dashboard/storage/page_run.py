"""A run as a file: the whole page as it was seen, and the results that it was drawn from.

The file is a zip. Its first entry ``page.json`` has the name, the note, the link, what stood on
the page (see :mod:`dashboard.storage.seen`), and size and sha256 of every other entry:
``charts/*.vl.json``, ``tables/*.arrow`` and ``pictures/*`` as they were seen, ``panels/1.zip`` and
so on for the bundles of the results (see :mod:`dashboard.storage.bundle`), and ``picture.png``, a
small picture of the page. Equal runs give equal bytes.

A panel's bundle alone is read as a page with that one result, of which nothing was seen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dashboard.records.text import one_line
from dashboard.storage import bundle, entries, seen
from dashboard.storage.bundle import MB, Bundle, pack, unpack
from dashboard.storage.entries import MAX_VALUES, count_values
from dashboard.storage.files import BundleError
from dashboard.storage.seen import Group

FORMAT, VERSION = "attention-workbench page", 2
MOST_PANELS = 250  # an experiment of eight scorings and 30 seeds, tuned, has up to 249
LARGEST_PAGE = 4 * MB
LONGEST_NAME, LONGEST_NOTE = 200, 2_000
LARGEST_PICTURE = 2 * MB
PNG = b"\x89PNG\r\n\x1a\n"
_PAGE, _PICTURE = "page.json", "picture.png"
_PANEL = re.compile(r"panels/([1-9][0-9]{0,2})\.zip\Z")
_FIELDS = {
    "format": str, "version": int, "name": str, "note": str, "link": str, "seen": dict,
    "entries": dict,
}  # fmt: skip
_NAME_OF_FIRST_ENTRY = 30  # its place in a zip file


@dataclass(frozen=True, kw_only=True)
class PageRun:
    """A page as it was seen.

    Args:
        panels: the requests and results that it was drawn from; at least one.
        name: one line; ``note`` is any text, whose lines may break.
        link: the page's link, ``/page?…``; empty if there is none.
        picture: a PNG; empty if there is none.
        seen: what stood on it; nothing if it is a panel's bundle.
        charts: Vega-Lite specifications with their data, by the names in ``seen``, as tables.
        pictures: of the charts, as ``<name>.png`` and ``<name>.svg``.
    """

    panels: tuple[Bundle, ...]
    name: str
    note: str = ""
    link: str = ""
    picture: bytes = b""
    seen: Group = field(default_factory=Group)
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)


def write(page: PageRun) -> bytes:
    """Return the page as a file.

    BundleError: larger than :func:`read` allows, or with texts that it rejects.
    """
    _check_count(len(page.panels))
    _check_picture(page.picture)
    _check_budget(page)
    seen.check(page.seen, {*page.charts}, {*page.tables})
    files = entries.entries_of(page.tables, page.charts, page.pictures)
    for number, panel in enumerate(page.panels, start=1):
        files[f"panels/{number}.zip"] = bundle.write(panel)
    if page.picture:
        files[_PICTURE] = page.picture
    held = {"format": FORMAT, "version": VERSION, "name": page.name, "note": page.note,
            "link": page.link, "seen": page.seen.model_dump(mode="json"),
            "entries": {name: entries.stamp(data) for name, data in files.items()}}  # fmt: skip
    _check(held)
    first = entries.as_json(held)
    _check_size(first)
    return pack({_PAGE: first, **files})


@entries.rejecting()
def read(data: bytes) -> PageRun:
    """Read a page, or a panel's bundle as a page of one result.

    Read a file of unknown origin only in a worker, see :func:`.tables.parse_table`.

    Raises:
        BundleError: what is wrong with it, in one sentence.
        MemoryError: it needs more memory than this process may use.
    """
    if not data.startswith(_PAGE.encode(), _NAME_OF_FIRST_ENTRY):
        panel = bundle.read(data)
        name = one_line(panel.title) or one_line(panel.request.task) or "A panel"
        return PageRun(panels=(panel,), name=name, link=panel.link)
    files = unpack(
        data, lambda n: n in (_PAGE, _PICTURE) or bool(_PANEL.match(n)) or entries.is_entry(n)
    )
    if _PAGE not in files:
        raise BundleError(f"the entry {_PAGE} is missing from the page")
    first = files.pop(_PAGE)
    _check_size(first)
    held = entries.parse_object(first, _PAGE)
    _check(held)
    entries.check_stamps(held["entries"], files, _PAGE)
    picture = files.pop(_PICTURE, b"")
    _check_picture(picture)
    packed = {name: files.pop(name) for name in list(files) if _PANEL.match(name)}
    _check_count(len(packed))
    expected = [f"panels/{number}.zip" for number in range(1, len(packed) + 1)]
    if packed.keys() != {*expected}:
        raise BundleError(f"need the panels {', '.join(expected)}, got {', '.join(packed)}")
    tables, charts, pictures = entries.contents_of(files)
    page = PageRun(
        panels=tuple(bundle.read(packed[name]) for name in expected),
        name=held["name"], note=held["note"], link=held["link"], picture=picture,
        seen=seen.read(held["seen"], {*charts}, {*tables}),
        charts=charts, tables=tables, pictures=pictures,
    )  # fmt: skip
    _check_budget(page)
    return page


def _check(held: Mapping[str, Any]) -> None:
    if held.get("format") != FORMAT or held.get("version") != VERSION:
        raise BundleError(f"need the format {FORMAT!r}, version {VERSION}")
    entries.check_fields(held, _FIELDS, _PAGE)
    check_words(held["name"], held["note"])
    entries.check_link(held["link"])


def check_words(name: str, note: str) -> None:
    """See that a page may have that name and that note."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BundleError(f"need a name of one line and at most {LONGEST_NAME} characters")
    if len(note) > LONGEST_NOTE or not note.replace("\n", "").isprintable():
        raise BundleError(f"need a note of plain text and at most {LONGEST_NOTE:,} characters")


def _check_size(first: bytes) -> None:
    if len(first) > LARGEST_PAGE:
        raise BundleError(
            f"need a {_PAGE} of at most {LARGEST_PAGE // MB} MB, got {len(first) / MB:.1f} MB"
        )


def _check_count(panels: int) -> None:
    if not 0 < panels <= MOST_PANELS:
        raise BundleError(f"need 1 to {MOST_PANELS} results on a page, got {panels}")


def _check_budget(page: PageRun) -> None:
    """Check that all results together have no more to be drawn than one bundle may have."""
    pictures = {f"{n}/{name}": data for n, panel in enumerate(page.panels, start=1)
                for name, data in panel.pictures.items()}  # fmt: skip
    entries.check_pictures({**pictures, **page.pictures})
    held = [page.tables, *(panel.result.tables for panel in page.panels)]
    values = sum(count_values(table) for tables in held for table in tables.values())
    if values > MAX_VALUES:
        raise BundleError(f"need at most {MAX_VALUES:,} values in all results, got {values:,}")


def _check_picture(picture: bytes) -> None:
    if picture and (not picture.startswith(PNG) or len(picture) > LARGEST_PICTURE):
        raise BundleError(f"{_PICTURE} is not a PNG of at most {LARGEST_PICTURE // MB} MB")
    if picture:
        entries.check_pictures({_PICTURE: picture})
