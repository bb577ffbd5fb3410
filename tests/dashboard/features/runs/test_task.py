"""Imports by real workers: what a bundle does to its reader costs that import alone."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image, PngImagePlugin

from dashboard.features.runs import task
from dashboard.features.runs.page import add_run, store_upload
from dashboard.features.runs.view import LEFT_OUT
from dashboard.jobs.backend import Event
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import UPLOAD, Request, Result
from dashboard.storage import page_run
from dashboard.storage.bundle import Bundle, read, write
from dashboard.storage.files import BundleError
from dashboard.storage.page_run import PageRun
from dashboard.storage.page_run import write as write_page
from dashboard.ui.owner import run_store

PATIENCE = 120  # seconds; a busy machine may start a process slowly


class Context:
    """Takes reports, and is never cancelled."""

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1


def png(mode="RGB", size=(5, 7), colour=(255, 0, 0), **settings):
    file = io.BytesIO()
    Image.new(mode, size, colour).save(file, "PNG", **settings)
    return file.getvalue()


def run(title="one", **changes):
    made = Bundle(
        request=Request.make("regression", seed=7),
        result=Result(tables={"curve": pa.table({"x0": [0.5, 1.5, 2.5]})}, facts={"notes": []}),
        title=title,
        pictures={"a.png": png(), "a.svg": b"<svg/>"},
    )
    return replace(made, **changes)


def with_table(data):
    """A bundle whose manifest vouches for a table of these bytes."""
    with zipfile.ZipFile(io.BytesIO(write(run()))) as opened:
        entries = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(entries["manifest.json"])
    manifest["entries"]["tables/bad.arrow"] = {
        "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(),
    }  # fmt: skip
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        changed = {"tables/bad.arrow": data, "manifest.json": json.dumps(manifest).encode()}
        for name, content in (entries | changed).items():
            opened.writestr(name, content)
    return file.getvalue()


def bomb(gigabytes):
    """A small stream of batches that unpack to so much."""
    batch = pa.record_batch({"a": np.zeros(2**22)})  # 32 MB
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        for _ in range(gigabytes * 32):
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def panel(kept):
    """The only panel of a run."""
    (found,) = run_store().open(kept.id).panels
    return found


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def imported():
    """Imports a bundle in this process."""

    def one(data):
        request = store_upload(data)
        result = task.perform(request, Context())
        return add_run(
            run_store(), request, Event(number=1, stage="done", result=result), "friend.zip"
        )

    return one


@pytest.fixture
def worker(home):
    """``worker(data)``: the record of a bundle that a real worker has read."""
    pools = []

    def one(data):
        if not pools:
            variables = {"PYTHONPATH": str(Path(__file__).parent)}
            pools.append(
                LocalPool(
                    PoolOptions(
                        workers=1, tasks="crashing_tasks", warm=False, environment=variables
                    )
                )
            )
        request = store_upload(data)
        event = pools[0].wait(pools[0].submit(request), PATIENCE)
        return add_run(run_store(), request, event, "friend.zip")

    yield one
    for pool in pools:
        pool.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_bundle_that_crashes_or_overruns_the_reader_costs_only_its_import(worker, home):
    def stream(text):
        sink = pa.BufferOutputStream()
        table = pa.table({"a": [text]})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue().to_pybytes()

    crash = r"a worker failed to read it \(runs: its process was killed by SIGSEGV"
    for data, reason in (
        (with_table(stream("crash the reader")), crash),
        (with_table(bomb(2)), r"the file needs more than 1,024 MB to be read"),
        (with_table(b"no stream"), "not a table of a bundle"),
    ):
        with pytest.raises(BundleError, match=reason):
            worker(data)
    assert run_store().all() == []
    assert list((home / "blobs").iterdir()) == []
    kept = worker(write(run()))
    assert panel(kept).result == run().result
    assert (kept.name, kept.origin) == ("one", "imported")


def test_a_bundle_comes_in_as_it_was(imported, home):
    kept = imported(write(run()))
    again = panel(kept)
    assert replace(again, pictures={}) == replace(run(), pictures={})
    assert again.pictures.keys() == run().pictures.keys()
    assert list((home / "blobs").iterdir()) == []


def test_a_whole_page_comes_in_as_it_was(imported):
    seen = PageRun(
        panels=(run("one"), run("two")), name="both", note="two\nlines", link="/?a=x&b=y",
        picture=png(),
    )  # fmt: skip
    kept = imported(write_page(seen))
    again = run_store().open(kept.id)
    assert [panel.title for panel in again.panels] == ["one", "two"]
    assert again.panels[1].result == run().result
    assert (kept.name, kept.note, kept.link) == ("both", "two\nlines", "/?a=x&b=y")
    assert [panel.seed for panel in run_store().panels(kept.id)] == [7, 7]
    assert run_store().picture(kept) == again.picture
    with Image.open(io.BytesIO(again.picture)) as opened:
        assert opened.size == (5, 7)


def test_a_picture_of_a_page_that_cannot_be_decoded_is_left_out(imported):
    kept = imported(write_page(PageRun(panels=(run(),), name="one", picture=png()[:40])))
    assert kept.picture == ""
    assert run_store().open(kept.id).panels[0].result == run().result


def test_the_panels_of_a_page_share_one_budget(imported, monkeypatch):
    """Each panel alone would be taken."""
    head = png(size=(8_000, 1))
    giant = head[:20] + (8_000).to_bytes(4, "big") + head[24:]
    panels = tuple(run(pictures={"p.png": giant}) for _ in range(2))
    two = PageRun(panels=panels, name="two")
    with pytest.raises(ValueError, match=r"need pictures of at most 64,000,000 px in all"):
        write_page(two)
    with monkeypatch.context() as unchecked:
        unchecked.setattr(page_run, "_check_budget", lambda _: None)
        data, tables = write_page(two), write_page(replace(two, panels=(run(), run())))
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("decoded"))
    with pytest.raises(ValueError, match=r"need pictures of at most 64,000,000 px in all"):
        imported(data)
    monkeypatch.setattr(page_run, "MAX_VALUES", 5)
    with pytest.raises(ValueError, match=r"at most 5 values in all results, got \d+"):
        imported(tables)
    assert run_store().all() == []


def test_tables_are_written_anew(imported):
    """What the page reads later was written by the worker: compressed or not, without metadata."""
    table = pa.table({"a": np.random.default_rng(0).random(17)})
    sink = pa.BufferOutputStream()
    schema = table.schema.with_metadata({"pandas": "x" * 1000})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_table(table.replace_schema_metadata(schema.metadata))
    kept = imported(with_table(sink.getvalue().to_pybytes()))
    with zipfile.ZipFile(io.BytesIO(run_store().packed(kept.id))) as opened:
        bundle = io.BytesIO(opened.read("panels/1.zip"))
    with zipfile.ZipFile(bundle) as opened:
        data = opened.read("tables/bad.arrow")
    assert b"pandas" not in data
    assert np.asarray(table["a"]).tobytes() in data
    assert panel(kept).result.tables["bad"].equals(table)


@pytest.mark.parametrize(
    ("mode", "colour"), [("RGB", (1, 2, 3)), ("RGBA", (1, 2, 3, 4)), ("L", 5), ("1", 1), ("P", 0)]
)
def test_a_picture_keeps_its_pixels_and_nothing_else(imported, mode, colour):
    texts = PngImagePlugin.PngInfo()
    texts.add_text("comment", "hidden words")
    original = png(mode, (7, 5), colour, pnginfo=texts, icc_profile=b"a profile")
    assert b"hidden words" in original
    trailing = original + b"more behind the end"
    kept = imported(write(run(pictures={"a.png": trailing, "a.svg": b"<svg>as it is</svg>"})))
    pictures = panel(kept).pictures
    assert pictures["a.svg"] == b"<svg>as it is</svg>"
    assert not any(part in pictures["a.png"] for part in (b"hidden", b"iCCP", b"behind the end"))
    with Image.open(io.BytesIO(original)) as old, Image.open(io.BytesIO(pictures["a.png"])) as new:
        assert new.convert("RGBA").tobytes() == old.convert("RGBA").tobytes()
        assert new.info == {}


HEAD = png()[: png().index(b"IDAT") - 4]


@pytest.mark.parametrize(
    "picture",
    [
        HEAD, png()[:-30], HEAD + b"rest", HEAD + os.urandom(100),
        png().replace(b"IDAT", b"IDAX"),
        png(size=(97, 89))[:-60],
        HEAD + (3).to_bytes(4, "big") + b"IDATabc" + zlib.crc32(b"IDATabc").to_bytes(4, "big"),
    ],
)  # fmt: skip
def test_a_picture_that_cannot_be_decoded_is_left_out_and_named(imported, picture):
    assert read(write(run(pictures={"a.png": picture}))).pictures  # its head is that of a PNG
    kept = imported(write(run(pictures={"a.png": picture, "b.png": png()})))
    held = panel(kept)
    assert held.pictures.keys() == {"b.png"}
    assert held.result.tables == run().result.tables
    assert held.result.facts[LEFT_OUT].keys() == {"a.png"}
    assert 0 < len(held.result.facts[LEFT_OUT]["a.png"]) <= 200


def test_a_bundle_cannot_say_itself_what_was_left_out(imported):
    kept = imported(write(run(result=Result(tables={}, facts={LEFT_OUT: {"z.png": "x"}}))))
    assert LEFT_OUT not in panel(kept).result.facts


def test_twelve_giant_pictures_in_a_small_bundle_are_refused_before_any_is_decoded(
    imported, monkeypatch
):
    """9 kB that took 33 s and 2 GB."""
    head = png(size=(8_000, 1))
    giant = head[:20] + (8_000).to_bytes(4, "big") + head[24:]
    data = write(run(pictures={f"p{number}.png": giant for number in range(12)}))
    assert len(data) < 9_000
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("decoded"))
    with pytest.raises(ValueError, match=r"need pictures of at most 64,000,000 px in all"):
        imported(data)
    assert run_store().all() == []


_READS_WITH_50_MB = """
import sys
from dashboard.features.runs import task
from dashboard import limits
from dashboard.records.request import UPLOAD, Request

class Context:
    def report(self, fraction, note="", facts=None):
        pass

task._EXTRA_MEMORY = 50
try:
    task.perform(Request.make("bundle", data=UPLOAD + sys.argv[1]), Context())
except ValueError as error:
    print(error)
with limits.extra_memory(300):
    bytearray(100 * 2**20)
bytearray(400 * 2**20)  # the limit ended with the import
"""


@pytest.mark.slow
def test_too_much_memory_is_one_sentence(home):
    """In a process of its own: one that has freed much may hand that out again under any limit."""
    request = store_upload(write(run(pictures={"a.png": png(size=(5_000, 5_000))})))
    command = [sys.executable, "-c", _READS_WITH_50_MB, request.data.removeprefix(UPLOAD)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the file needs more than 50 MB to be read\n"
