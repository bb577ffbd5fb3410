"""The disk runs full under a training: it says so, and goes on once there is room."""

import errno
import math
import os
import shutil
import time

import pytest
from support.disks import small_disk

from attention_plugins.checkpoints import read
from dashboard.jobs import training_files
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.jobs.training_files import copy_checkpoint
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs
from dashboard.storage.files import StorageError

PATIENCE = 120  # seconds
ROOM = 64 * 1024  # bytes that are left: more than one epoch needs, and less than all
EPOCHS = 300
NOUNS = ("cat", "dog", "horse", "bird", "fish", "cow")


@pytest.fixture
def home(tmp_path):
    with small_disk(tmp_path / "home", kilobytes=4096) as folder:
        yield folder


@pytest.fixture
def trainings(home):
    """The trainings of a server whose data folder is the small disk."""
    environment = {"ATTENTION_WORKBENCH_HOME": str(home)}
    service = Trainings(home, make_backend=lambda: LocalPool(PoolOptions(
        workers=1, time_limit=math.inf, grace=60.0, cache=0, environment=environment
    )))  # fmt: skip
    yield service
    service.close()


def order(home):
    lines = [f"I see {a} {n} .\tJe vois {b} {n} ." for a, b in (("a", "un"), ("my", "mon"))
             for n in NOUNS]  # fmt: skip
    corpus = Blobs(home).put("\n".join(lines).encode())
    options = {
        "recipe.epochs": EPOCHS, "recipe.batch_size": 4, "recipe.min_frequency": 1, "pairs": 0,
        "held_out": 3, "probe": "I see my dog .", "model.embed": 6, "model.hidden": 10,
        "model.layers": 1,
    }  # fmt: skip
    return Request.make(
        "training", model="bahdanau", scoring="dot", data=f"upload:{corpus}",
        options=options, seed=0, device="cpu",
    )  # fmt: skip


def until(service, id, holds):
    end = time.monotonic() + PATIENCE
    while not holds(training := service.get(id)):
        assert time.monotonic() < end, training
        time.sleep(0.01)
    return training


def fill(home):
    """Leave little room."""
    with (home / "filler").open("wb") as file:
        file.write(bytes(max(0, shutil.disk_usage(home).free - ROOM)))


@pytest.mark.slow
def test_a_training_fails_with_what_to_do_and_goes_on_once_there_is_room(home, trainings):
    id = trainings.start(order(home))
    until(trainings, id, lambda training: len(training.epochs) >= 2)
    fill(home)
    failed = until(trainings, id, lambda training: training.state == "failed")
    assert "free some space there" in failed.note
    assert 2 <= len(failed.epochs) < EPOCHS
    assert [epoch.epoch for epoch in failed.epochs] == [*range(1, len(failed.epochs) + 1)]
    (home / "filler").unlink()
    assert trainings.export(id, "cut-short") == "cut_short"
    read(home / "checkpoints" / "cut_short")
    trainings.resume(id)
    more = until(trainings, id, lambda training: len(training.epochs) > len(failed.epochs))
    assert [epoch.epoch for epoch in more.epochs] == [*range(1, len(more.epochs) + 1)]
    trainings.cancel(id)


def test_an_export_without_room_leaves_nothing(tmp_path, monkeypatch):
    (model := tmp_path / "model").mkdir()
    for name in ("card.json", "model.safetensors"):
        (model / name).write_bytes(name.encode())

    def full(source, target):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(training_files.shutil, "copyfile", full)
        with pytest.raises(StorageError, match="No space left on device; free some space there"):
            copy_checkpoint(model, tmp_path, tmp_path / "kept" / "mine")
    assert {path.name for path in tmp_path.rglob("*")} == {
        "model", "card.json", "model.safetensors", "kept",
    }  # fmt: skip
    copy_checkpoint(model, tmp_path, tmp_path / "kept" / "mine")
    assert (tmp_path / "kept" / "mine" / "card.json").read_bytes() == b"card.json"
