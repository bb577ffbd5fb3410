"""Uploads: which files of weights are taken in, and what goes when nobody has used it for long."""

from __future__ import annotations

import io
import os
import pickle
import time
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save
from support.runs import page, panel

from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs
from dashboard.storage.uploads import Room, Upload, Uploads
from dashboard.ui import upload
from dashboard.ui.owner import run_store
from dashboard.visitors import Visitor

MB = 2**20
KEPT = "training", "checkpoint", "link", "request"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_UPLOAD_DAYS", "1")
    return tmp_path


def test_what_a_training_a_model_or_a_run_names_stays(home):
    digests = {name: Blobs().put(name.encode()) for name in (*KEPT, "unnamed", "today", "recent")}
    for digest in digests.values():
        Uploads("ada").add(Upload(digest, "a.tsv", "table", 3), Room(owner=9, address=9, total=9))
    for folder, name in (("trainings", "training"), ("checkpoints", "checkpoint")):
        (home / folder / "one").mkdir(parents=True)
        (home / folder / "one" / "card.json").write_text(f'{{"corpus": "upload:{digests[name]}"}}')
    asked = Request.make("regression", data=f"upload:{digests['request']}")
    run_store().keep(page(
        link=f"/?a=gaussian&data=upload%3A{digests['link']}",
        panels=(replace(panel(), request=asked),),
    ))  # fmt: skip
    old = time.time() - 2 * 86_400
    for name in (*KEPT, "unnamed"):
        os.utime(home / "blobs" / digests[name], (old, old))
    os.utime(home / "blobs" / digests["today"], (old + 130_000, old + 130_000))
    upload.expire()
    assert {one.digest for one in Uploads("ada").list()} == {
        digest for name, digest in digests.items() if name != "unnamed"
    }
    for name in KEPT:
        assert Blobs().path(digests[name]).read_bytes() == name.encode()


def test_for_ever_is_what_no_number_of_days_says(home, monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOAD_DAYS", "0")
    digest, _ = Blobs().put(b"old"), Blobs().put(b"recent")
    os.utime(home / "blobs" / digest, (1.0, 1.0))
    upload.expire()
    assert Blobs().path(digest).read_bytes() == b"old"


@pytest.fixture
def ada(home, monkeypatch):
    """The visitor of this session."""
    visitor = Visitor(owner="ada", role="author", address="school")
    monkeypatch.setattr(upload.owner, "visitor", lambda: visitor)
    return visitor


def test_what_is_taken_in_is_the_visitors_by_its_name_and_place(ada):
    content = b"x,y\n1,2\n"
    data = upload._stored("mine.csv", content, upload.TABLE)
    (found,) = Uploads("ada").list(upload.TABLE.key)
    assert data == f"upload:{found.digest}"
    assert Blobs().path(found.digest).read_bytes() == content
    assert (found.name, found.size, found.address) == ("mine.csv", 8, "school")
    assert time.time() - 60 < found.when <= time.time()
    assert (upload.rows(data), upload.rows("sine"), upload.rows(f"upload:{'0' * 64}")) == (2, 0, 0)


@pytest.mark.parametrize(("limit", "value", "said"), [
    ("DATA_ROWS", 3, "need a file of at most 3 lines"),
    ("UPLOAD_MEGABYTES", 1, "need a file of at most 1 MB"),
    ("UPLOADS_MEGABYTES", 1, "need uploads of at most 1 MB in all"),
    ("UPLOADS_ADDRESS_MEGABYTES", 1, "need uploads of at most 1 MB from your network"),
    ("UPLOADS_TOTAL_MEGABYTES", 1, "files on this server may have 1 MB together"),
])  # fmt: skip
def test_what_is_beyond_a_limit_leaves_nothing(ada, home, monkeypatch, limit, value, said):
    monkeypatch.setenv(f"ATTENTION_{limit}", f"{value}")
    content = b"1,2\n" * 3 + b" " * (MB - 12)
    large = content if limit == "DATA_ROWS" else content + b" "
    with pytest.raises(ValueError, match=said):
        upload._stored("large.csv", large, upload.TABLE)
    assert Uploads("ada").list() == []
    assert [*(home / "blobs").glob("*")] == []
    kind = upload.WEIGHTS if limit == "DATA_ROWS" else upload.TABLE  # which has no lines
    assert upload._stored("small.csv", content, kind)


def test_a_file_goes_with_the_last_who_has_it(ada, monkeypatch):
    data = upload._stored("mine.csv", b"x,y\n1,2\n", upload.TABLE)
    (found,) = Uploads("ada").list()
    Uploads("eve").add(found, Room(owner=9, address=9, total=9))
    upload._remove(found)
    assert Blobs().path(found.digest).is_file()
    assert (Uploads("ada").list(), len(Uploads("eve").list())) == ([], 1)
    monkeypatch.setattr(upload.owner, "visitor", lambda: replace(ada, owner="eve"))
    upload._remove(found)
    with pytest.raises(ValueError, match="is not kept here"):
        Blobs().path(data.removeprefix("upload:"))


def test_who_may_make_nothing_uploads_nothing(ada, monkeypatch):
    monkeypatch.setattr(upload.owner, "visitor", lambda: replace(ada, classroom=True))
    with pytest.raises(ValueError, match="Uploading is switched off"):
        upload._stored("mine.csv", b"x,y\n1,2\n", upload.TABLE)
    assert Uploads("ada").list() == []


def numpy_file(save, **given):
    file = io.BytesIO()
    save(file, **given)
    return file.getvalue()


def test_files_of_weights_are_told_from_pickles():
    weights = np.eye(2, dtype=np.float32)
    upload.WEIGHTS.check(save({"weights": weights}))
    upload.WEIGHTS.check(numpy_file(np.save, arr=weights))
    upload.WEIGHTS.check(numpy_file(np.savez, weights=weights))
    for other in (pickle.dumps({"weights": 1}), b"x,y\n1,2\n", b""):
        with pytest.raises(ValueError, match=r"safetensors, \.npy or \.npz file; pickles are not"):
            upload.WEIGHTS.check(other)
