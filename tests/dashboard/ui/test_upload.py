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

KEPT = "training", "checkpoint", "link", "request"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_UPLOAD_DAYS", "1")
    return tmp_path


def test_what_a_training_a_model_or_a_run_names_stays(home):
    digests = {name: Blobs().put(name.encode()) for name in (*KEPT, "unnamed", "recent")}
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
    upload.expire()
    assert {one.digest for one in Uploads("ada").list()} == {
        digest for name, digest in digests.items() if name != "unnamed"
    }
    for name in KEPT:
        assert Blobs().path(digests[name]).read_bytes() == name.encode()


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
