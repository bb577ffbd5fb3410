from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.records.request import Request, Result
from dashboard.storage import bundle, entries
from dashboard.storage.bundle import Bundle, read, slug, write
from dashboard.storage.entries import fitting
from dashboard.storage.files import BundleError

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack("!II", 7, 5) + b"rest"


def run() -> Bundle:
    maps = pa.table(
        {
            "kind": ["cross"],
            "layer": pa.array([2], pa.int32()),
            "heads": pa.array([1], pa.int32()),
            "queries": [["je", "œuvre", "<eos>"]],
            "keys": [["i", "work"]],
            "causal": [False],
            "weights": pa.array([np.linspace(0, 1, 6, dtype=np.float32)], pa.list_(pa.float32())),
        }
    )
    history = pa.table({"step": [0, 5], "loss": [np.nan, 1.5], "note": ["a", None]})
    return Bundle(
        request=Request.make(
            "translation",
            options={"text": "i work .", "beam": 3},
            parameters={"w": 1.0, "on": True},
        ),
        result=Result(
            tables={"maps": maps, "history": history},
            facts={"tokens": ["je", "œuvre"], "seconds": 0.25, "card": {"bleu": None}},
        ),
        title="Œuvre",
        link="/translation?text=i+work+.&beam=3",
        charts={"map-of-a": {"mark": "rect", "data": {"values": [{"q": 0}]}}},
        pictures={"map-of-a.png": PNG, "map-of-a.svg": b"<svg/>"},
        versions={"python": "3.11"},
    )


BYTES = write(run())


def contents(data: bytes = BYTES) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as opened:
        for name, data in entries.items():
            opened.writestr(name, data)
    return file.getvalue()


def with_manifest(**changes) -> bytes:
    entries = contents()
    manifest = json.loads(entries["manifest.json"]) | changes
    return packed(entries | {"manifest.json": json.dumps(manifest).encode()})


def with_entry(name: str, data: bytes) -> bytes:
    """A bundle whose manifest vouches for that entry too."""
    entries = contents() | {name: data}
    manifest = json.loads(entries["manifest.json"])
    stamp = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest["entries"][name] = stamp
    return packed(entries | {"manifest.json": json.dumps(manifest).encode()})


def refusal(data: bytes) -> str:
    with pytest.raises(BundleError) as raised:
        read(data)
    said = str(raised.value)
    assert "\n" not in said
    assert len(said) < 400
    return said


def test_out_and_in_again_is_equal():
    again = read(BYTES)
    assert again.request == run().request
    assert again.request.key == run().request.key
    assert {type(value) for _, value in again.request.parameters} == {bool, float}
    assert again.result.facts == run().result.facts
    assert again.result.tables.keys() == {"maps", "history"}
    for name, table in run().result.tables.items():
        assert again.result.tables[name].schema == table.schema
    assert again.result.tables["maps"].equals(run().result.tables["maps"])
    loss = again.result.tables["history"]["loss"].to_pylist()
    assert np.isnan(loss[0])
    assert loss[1] == 1.5
    assert again.charts == run().charts
    assert again.pictures == run().pictures
    assert (again.title, again.link, again.versions) == ("Œuvre", run().link, {"python": "3.11"})


def test_equal_runs_give_equal_bytes():
    twin = run()
    tables = dict(reversed(twin.result.tables.items()))
    sliced = pa.concat_tables([tables["history"][:1], tables["history"][1:]])
    result = Result(tables=tables | {"history": sliced}, facts=twin.result.facts)
    assert write(replace(twin, result=result)) == BYTES
    assert write(read(BYTES)) == BYTES
    assert write(replace(twin, title="another")) != BYTES


def test_anybody_can_unpack_one():
    entries = contents()
    assert list(entries) == ["manifest.json", *sorted(entries.keys() - {"manifest.json"})]
    manifest = json.loads(entries["manifest.json"])
    assert manifest["entries"].keys() == entries.keys() - {"manifest.json"}
    assert json.loads(entries["charts/map-of-a.vl.json"])["mark"] == "rect"
    with pa.ipc.open_stream(entries["tables/history.arrow"]) as opened:
        assert opened.read_all()["step"].to_pylist() == [0, 5]


@pytest.mark.parametrize("name", sorted(contents()))
def test_a_flipped_byte_is_refused(name):
    data = bytearray(BYTES)
    with zipfile.ZipFile(io.BytesIO(BYTES)) as opened:
        info = opened.getinfo(name)
    start = info.header_offset + 30 + len(name)
    data[start + info.compress_size // 2] ^= 0x10
    assert refusal(bytes(data))


def test_changed_contents_are_refused_though_the_zip_is_whole():
    entries = contents()
    changed = entries["tables/history.arrow"].replace(b"a", b"b", 1)
    assert "tables/history.arrow" in refusal(packed(entries | {"tables/history.arrow": changed}))


def test_an_entry_too_many_is_refused():
    assert "not named" in refusal(packed(contents() | {"tables/more.arrow": b"x"}))


@pytest.mark.parametrize("name", ["manifest.json", "tables/maps.arrow", "pictures/map-of-a.png"])
def test_a_missing_entry_is_refused(name):
    entries = contents()
    del entries[name]
    assert f"{name}" in refusal(packed(entries))
    assert "missing" in refusal(packed(entries))


@pytest.mark.parametrize(
    "name",
    [
        "../x", "/etc/passwd", "tables/../x.arrow", "tables\\x.arrow", "C:\\x.arrow", "tables/",
        "tables/a/b.arrow", "tables/.arrow", "tables/A.arrow", "pictures/x.html", "x",
        "tables/x.arrow\0.txt", "tables/x.arrow\n", "charts/x.json",
        "tables/" + "a" * 61 + ".arrow",
    ],
)  # fmt: skip
def test_names_that_a_bundle_does_not_have_are_refused(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for other, data in contents().items():
            opened.writestr(other, data)
        info = zipfile.ZipInfo("placeholder")
        info.filename = name  # past the cleaning that the constructor does
        opened.writestr(info, b"x")
    assert "no entry called" in refusal(file.getvalue())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, data in [*contents().items(), ("tables/maps.arrow", b"other")]:
            opened.writestr(name, data)
    assert "twice" in refusal(file.getvalue())


@pytest.mark.parametrize(("mode", "reason"), [(0o120777, "link"), (0o040755, "link"), (0, "")])
def test_links_and_folders_are_refused(mode, reason):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, data in contents().items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode if name.startswith("tables") else 0o100644) << 16
            opened.writestr(info, data)
    if reason:
        assert reason in refusal(file.getvalue())
    else:
        assert read(file.getvalue()).title == "Œuvre"


def test_what_packs_more_tightly_than_a_zip_is_refused():
    assert read(packed(contents(), zipfile.ZIP_STORED)).title == "Œuvre"
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert "has an unknown compression" in refusal(packed(contents(), compression))


def test_what_is_encrypted_is_said_to_be():
    data = bytearray(BYTES)
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(data)) == "the entry 'manifest.json' is encrypted"


def test_a_long_title_is_cut_to_what_is_read():
    assert read(write(replace(run(), title="t" * 999))).title == "t" * 300


def test_a_zip_bomb_is_given_up_whatever_its_header_says(monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST_ENTRY", 3 * bundle.MB)
    data = bytearray(packed({"tables/bomb.arrow": bytes(23 * bundle.MB)}))
    assert len(data) < bundle.MB / 8
    assert "unpacks to more" in refusal(bytes(data))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + place
        data[at : at + 4] = struct.pack("<I", 5)
    assert refusal(bytes(data))


def test_the_sum_of_entries_is_bounded(monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST_TOTAL", 5 * bundle.MB)
    many = {f"tables/t{n}.arrow": bytes(2 * bundle.MB) for n in range(3)}
    assert "unpacks to more" in refusal(packed(many))
    with pytest.raises(BundleError, match="in all"):
        bundle.pack(many)


def test_the_number_of_entries_is_bounded_before_they_are_read(monkeypatch):
    many = packed({f"tables/t{n}.arrow": b"" for n in range(bundle.MOST_ENTRIES + 1)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert str(bundle.MOST_ENTRIES) in refusal(many)


def test_the_file_itself_is_bounded():
    assert "20 MB" in refusal(bytes(bundle.LARGEST_ARCHIVE + 1))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "version 1"),
        ({"version": True}, "version 1"),
        ({"version": "1"}, "version 1"),
        ({"format": "something else"}, "format"),
        ({"more": 1}, "more"),
        ({"title": "two\nlines"}, "title"),
        ({"title": 5}, "title"),
        ({"link": "https://evil.example/"}, "link"),
        ({"link": "//evil.example/?x"}, "link"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"facts": []}, "facts"),
        ({"versions": {"torch": 2}}, "versions"),
        ({"request": {"task": "x"}}, "request"),
        ({"entries": []}, "entries"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(changes, reason):
    assert reason in refusal(with_manifest(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": "0"}, {"seed": True}, {"task": 3}, {"options": {"a": 1}}, {"options": [["a"]]},
        {"parameters": [["a", [1]]]}, {"parameters": [[1, 1]]}, {"device": None},
    ],
)  # fmt: skip
def test_a_request_of_another_kind_is_refused(changes):
    request = json.loads(contents()["manifest.json"])["request"] | changes
    assert "request" in refusal(with_manifest(request=request)) or "need" in refusal(
        with_manifest(request=request)
    )


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000, b'{"a":' * 100_000, b"{}{}", b"[]", b"\xff", b'{"a": NaN}',
        b'{"a": 1e999}', b'{"a": 1, "a": 2}', b'{"a": "\\ud800"}', b'{"\\ud800": 1}', b"",
        b'{"a":' * 70 + b"1" + b"}" * 70,
    ],
)  # fmt: skip
def test_json_that_is_none_or_too_deep_is_refused(text):
    assert "charts/bad.vl.json" in refusal(with_entry("charts/bad.vl.json", text))
    assert "manifest.json" in refusal(packed(contents() | {"manifest.json": text}))


def ipc(table: pa.Table, **options) -> bytes:
    sink = pa.BufferOutputStream()
    written = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, table.schema, options=written) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def bad_text() -> pa.Table:
    column = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(struct.pack("<ii", 0, 2)), pa.py_buffer(b"\xff\xfe")]
    )
    return pa.table({"a": column})


def bad_offsets() -> bytes:
    """A stream in which the first text ends a million bytes behind the last one."""
    head, ends, texts = ipc(pa.table({"a": ["abcde"]})).rpartition(struct.pack("<ii", 0, 5))
    assert ends
    return head + struct.pack("<ii", 0, 10**6) + texts


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", ""),
        (b"ARROW1\0\0", ""),
        (ipc(pa.table({"a": np.zeros(10**6)}), compression="zstd"), "compressed"),
        (ipc(pa.table({"a": np.zeros(10**6)}), compression="lz4"), "compressed"),
        (ipc(pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})), "dictionary"),
        (ipc(pa.table({"a": pa.nulls(5)})), "null"),
        (ipc(pa.table({"a": pa.array([[[1]]])})), "list"),
        (ipc(pa.table({"a": pa.array([b"x"])})), "binary"),
        (ipc(pa.table({"a": pa.array([{"b": 1}])})), "struct"),
        (ipc(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])), "name of its own"),
        (ipc(pa.table({str(n): [1] for n in range(257)})), "256"),
        (ipc(pa.table({"n" * 201: [1]})), "200"),
        (ipc(bad_text()), "UTF8"),
        (bad_offsets(), ""),
    ],
)
def test_tables_that_are_none_are_refused(data, reason):
    said = refusal(with_entry("tables/bad.arrow", data))
    assert "tables/bad.arrow" in said
    assert reason in said


def test_rows_without_data_are_bounded(monkeypatch):
    monkeypatch.setattr("dashboard.storage.entries.MAX_TEXTS", 1000)
    table = pa.table({"a": pa.array([""] * 1001)})
    assert "1,000 texts" in refusal(with_entry("tables/empty.arrow", ipc(table)))


@pytest.mark.parametrize("data", [b"GIF89a", PNG[:20], PNG[:16] + struct.pack("!II", 10**6, 1)])
def test_pictures_that_are_none_are_refused(data):
    assert "PNG" in refusal(with_entry("pictures/x.png", data))


def test_a_name_that_could_not_be_read_is_not_written():
    with pytest.raises(BundleError, match=r"\.\./x"):
        write(replace(run(), charts={"../x": {}}))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Curve, of a", "curve-of-a"), ("../../x", "x"), ("é", "chart"), ("b" * 70, "b" * 60),
     (f"{'a b ' * 14}cutoff", f"{'a-b-' * 14}"[:-1])],
)  # fmt: skip
def test_slugs_may_stand_in_a_bundle(name, expected):
    assert slug(name) == expected
    assert read(write(replace(run(), charts={slug(name): {}}))).charts == {expected: {}}


def test_a_name_in_another_script_gives_way():
    assert slug("面板 a 的注意力", "translation") == "translation"
    assert slug("Größe der Köpfe", "translation") == "gr-e-der-k-pfe"
    assert slug("", "translation") == "translation"


positions = st.integers(0, len(BYTES) - 1)


@settings(max_examples=300, deadline=None)
@given(
    flips=st.lists(st.tuples(positions, st.integers(1, 255)), max_size=4),
    cut=st.none() | positions,
    put=st.none() | st.tuples(positions, st.binary(min_size=1, max_size=40)),
)
def test_any_change_of_bytes_is_refused_or_changes_nothing(flips, cut, put):
    data = bytearray(BYTES)
    for place, value in flips:
        data[place] ^= value
    if put:
        data[put[0] : put[0]] = put[1]
    if cut is not None:
        del data[cut:]
    with suppress(BundleError):
        assert write(read(bytes(data))) == BYTES


names = sorted(contents())


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(names), st.data())
def test_any_change_of_an_entry_that_is_vouched_for_is_refused_or_is_a_run(name, draw):
    """As one would do it who knows how a bundle is made: sums and sizes fit."""
    old = contents()[name]
    place = draw.draw(st.integers(0, len(old) - 1))
    new = draw.draw(st.binary(max_size=8))
    data = old[:place] + new + old[place + draw.draw(st.integers(0, 8)) :]
    whole = packed(contents() | {name: data})
    with suppress(BundleError):
        taken = read(whole if name == "manifest.json" else with_entry(name, data))
        assert read(write(taken)).request == taken.request
        for table in taken.result.tables.values():
            table.to_pandas()


def picture(width: int, height: int) -> bytes:
    return PNG[:16] + struct.pack("!II", width, height) + PNG[24:]


def test_all_pictures_together_have_a_budget_that_is_read_from_their_heads(monkeypatch):
    monkeypatch.setattr(entries, "_MOST_PIXELS", 100)
    for sizes, fits in (
        ([(10, 10)], True),
        ([(10, 7), (6, 5)], True),
        ([(10, 7), (1, 31)], False),
    ):
        made = {f"p{n}.png": picture(*size) for n, size in enumerate(sizes)}
        data = write(replace(run(), pictures=made))
        if fits:
            assert read(data).pictures == made
        else:
            assert refusal(data) == "need pictures of at most 100 px in all, got 101"


def test_what_is_written_here_fits_the_budget_of_whoever_reads_it(monkeypatch):
    monkeypatch.setattr(entries, "_MOST_PIXELS", 100)
    made = {"a.png": picture(10, 7), "a.svg": b"<svg/>", "b.png": picture(10, 4),
            "c.png": picture(6, 5), "d.png": picture(8_001, 0)}  # fmt: skip
    assert fitting(made).keys() == {"a.png", "a.svg", "c.png"}
    assert read(write(replace(run(), pictures=fitting(made)))).pictures == fitting(made)


def test_all_tables_together_have_a_budget_of_values(monkeypatch):
    one = pa.table({"a": [1, 2, 3], "b": [[1.0], [2.0, 3.0], []]})  # 3 rows, 3 + 3 + 3 values
    assert entries.count_values(one) == 12
    data = write(replace(run(), result=Result(tables={"x": one, "y": one}, facts={})))
    monkeypatch.setattr(bundle, "MAX_VALUES", 24)
    assert read(data).result.tables.keys() == {"x", "y"}
    monkeypatch.setattr(bundle, "MAX_VALUES", 23)
    assert refusal(data) == "need at most 23 values in all tables, got 24"
