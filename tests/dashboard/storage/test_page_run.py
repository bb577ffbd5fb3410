from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import page, panel

from dashboard.storage import bundle
from dashboard.storage.errors import BundleError
from dashboard.storage.page_run import MOST_PANELS, PNG, PageRun, read, write

BYTES = write(page())


def contents(data=BYTES):
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in entries.items():
            opened.writestr(name, data)
    return file.getvalue()


def with_page(**changes):
    entries = contents()
    held = json.loads(entries["page.json"]) | changes
    return packed(entries | {"page.json": json.dumps(held).encode()})


def test_a_page_is_read_as_it_was_written():
    assert read(BYTES) == page()
    assert [*contents()] == ["page.json", "panels/1.zip", "panels/2.zip", "picture.png"]
    bare = PageRun(panels=(panel(),), name="x")
    assert read(write(bare)) == bare


def test_equal_pages_give_equal_bytes():
    assert write(page()) == BYTES
    assert write(page("two")) != BYTES


def test_the_bundle_of_a_panel_is_a_page_of_its_own():
    inside = contents()["panels/2.zip"]
    assert inside == bundle.write(page().panels[1])
    assert read(inside) == PageRun(panels=(page().panels[1],), name="Gaussian, seed 11")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "other"}, "need the format"), ({"version": 2}, "need the format"),
        ({"name": 5}, "name is of another kind"), ({"note": None}, "note is of another kind"),
        ({"name": ""}, "name of one line"), ({"name": "a\nb"}, "name of one line"),
        ({"name": "x" * 201}, "name of one line"), ({"note": "x" * 2001}, "a note of plain text"),
        ({"note": "a\x00"}, "a note of plain text"), ({"note": "a\u202e"}, "a note of plain text"),
        ({"link": "http://evil.example"}, "link to a page"), ({"link": "/a b"}, "link to a page"),
        ({"link": "/?" + "x" * 20_000}, "link to a page"), ({"more": 1}, "should not have"),
    ],
)  # fmt: skip
def test_a_wrong_page_is_refused_with_the_reason(changes, reason):
    with pytest.raises(BundleError, match=reason):
        read(with_page(**changes))


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"panels/3.zip": b"no bundle"}, "not a zip file"),
        ({"panels/4.zip": contents()["panels/1.zip"]}, r"need the panels panels/1\.zip"),
        ({"panels/0.zip": b""}, "no entry called"), ({"../x": b""}, "no entry called"),
        ({"panels/1.zip": BYTES}, "no entry called"), ({"page.json": b"{"}, "not the JSON"),
        ({"picture.png": b"<svg/>"}, r"picture\.png is not a PNG"),
        ({"picture.png": PNG + bytes(2**21)}, r"picture\.png is not a PNG"),
        ({f"panels/{n}.zip": contents()["panels/1.zip"] for n in range(1, 10)}, "1 to 8 panels"),
    ],
)  # fmt: skip
def test_wrong_entries_are_refused_with_the_reason(entries, reason):
    with pytest.raises(BundleError, match=reason):
        read(packed(contents() | entries))


@pytest.mark.parametrize("missing", ["panels/1.zip", "page.json"])
def test_a_missing_entry_is_said(missing):
    entries = {name: data for name, data in contents().items() if name != missing}
    with pytest.raises(BundleError, match=r"need the panels|no entry called"):
        read(packed(entries))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""}, {"panels": ()}, {"panels": (panel(),) * (MOST_PANELS + 1)},
        {"picture": b"GIF"}, {"link": "https://x"}, {"note": "\x1b"},
    ],
)  # fmt: skip
def test_nothing_is_written_that_would_not_be_read(changes):
    with pytest.raises(BundleError):
        write(page(**{"name": "one", **changes}))


@given(st.integers(0, len(BYTES) - 1), st.integers(1, 255))
def test_a_changed_byte_raises_nothing_else(place, change):
    data = bytearray(BYTES)
    data[place] ^= change
    with suppress(BundleError):
        assert read(bytes(data)).panels
