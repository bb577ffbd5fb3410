from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import page, panel

from dashboard.storage import bundle, page_run
from dashboard.storage.entries import stamp
from dashboard.storage.files import BundleError
from dashboard.storage.page_run import MOST_PANELS, PNG, PageRun, read, write
from dashboard.storage.seen import MOST_BLOCKS, Group, Text

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


def stamped(entries):
    """The entries with a page.json that knows them."""
    held = json.loads(entries["page.json"])
    held["entries"] = {name: stamp(data) for name, data in entries.items() if name != "page.json"}
    return entries | {"page.json": json.dumps(held).encode()}


def with_page(**changes):
    entries = contents()
    held = json.loads(entries["page.json"]) | changes
    return packed(entries | {"page.json": json.dumps(held).encode()})


def test_a_page_is_read_as_it_was_written():
    assert read(BYTES) == page()
    assert [*contents()] == [
        "page.json", "tables/rates.arrow", "charts/map.vl.json", "pictures/map.png",
        "panels/1.zip", "panels/2.zip", "picture.png",
    ]  # fmt: skip
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
        ({"format": "other"}, "need the format"), ({"version": 1}, "need the format"),
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
        ({"panels/1.zip": BYTES}, "no entry called"),
        ({"picture.png": b"<svg/>"}, r"picture\.png is not a PNG"),
        ({"picture.png": PNG + bytes(2**21)}, r"picture\.png is not a PNG"),
        ({"charts/more.vl.json": b"{}"}, "the chart 'more' is on no place"),
    ],
)  # fmt: skip
def test_wrong_entries_are_refused_with_the_reason(entries, reason):
    with pytest.raises(BundleError, match=reason):
        read(packed(stamped(contents() | entries)))


@pytest.mark.parametrize("missing", ["panels/1.zip", "page.json", "charts/map.vl.json"])
def test_a_missing_entry_is_said(missing):
    entries = {name: data for name, data in contents().items() if name != missing}
    with pytest.raises(BundleError, match=r"missing from the bundle|no entry called"):
        read(packed(entries))


def test_an_entry_that_was_changed_is_refused():
    with pytest.raises(BundleError, match=r"'charts/map\.vl\.json' is not what page\.json says"):
        read(packed(contents() | {"charts/map.vl.json": b'{"mark": "image"}'}))


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"kind": "script", "text": "x"}, "need one of 'heading', .*, got ‘script’"),
        ({"kind": "caption", "text": "x" * 20_001}, "a length of at most 20000"),
        ({"kind": "caption", "text": "x", "more": 1}, "more is not known here"),
        ({"kind": "chart", "name": "../x"}, "need a text that fits"),
        ({"kind": "chart", "name": "gone"}, "chart 'gone' is missing from the file"),
        ({"kind": "table", "name": "gone"}, "table 'gone' is missing from the file"),
        ({"kind": "table", "name": "rates", "formats": {"a": "%s"}}, "need a text that fits"),
        ({"kind": "group", "weights": [0]}, "more than 0"),
        ({"kind": "group", "letter": "e"}, "'a', 'b', 'c' or 'd'"),
    ],
)
def test_what_was_seen_is_checked_block_by_block(block, reason):
    held = json.loads(contents()["page.json"])["seen"]
    with pytest.raises(BundleError, match=reason):
        read(with_page(seen={**held, "blocks": [*held["blocks"], block]}))


def test_what_was_seen_has_a_limit_of_its_blocks():
    many = {"kind": "group", "blocks": [{"kind": "text", "text": "x"}] * (MOST_BLOCKS + 1)}
    with pytest.raises(BundleError, match="at most 2,000 blocks"):
        read(with_page(seen=many))
    with pytest.raises(BundleError, match="at most 2,000 blocks"):
        write(page(seen=Group(blocks=(Text(kind="text", text="x"),) * (MOST_BLOCKS + 1))))


def test_a_page_of_as_many_results_as_may_be_is_read():
    """The number of the last has three digits."""
    written = write(page(name="one", panels=(panel(),) * MOST_PANELS))
    assert len(read(written).panels) == MOST_PANELS


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


def test_all_results_of_a_page_have_a_budget_of_values(monkeypatch):
    large = page(panels=(panel(rows=31), panel(5, rows=31)))
    packed_before = write(large)
    monkeypatch.setattr(page_run, "MAX_VALUES", 65)  # as many as one has
    for act in (lambda: write(large), lambda: read(packed_before)):
        with pytest.raises(BundleError, match="need at most 65 values"):
            act()
    assert read(write(page(panels=(panel(rows=31),))))
