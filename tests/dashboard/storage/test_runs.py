from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.storage import files
from dashboard.storage.bundle import Bundle, write
from dashboard.storage.errors import StorageError
from dashboard.storage.runs import Runs


def run(title="one", rows=3) -> Bundle:
    return Bundle(
        request=Request.make("regression", seed=7),
        result=Result(tables={"curve": pa.table({"x0": [0.5] * rows})}, facts={"notes": []}),
        title=title,
    )


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def test_what_is_kept_is_found_again_by_another_process(runs, tmp_path):
    before = time.time()
    kept = runs.keep(run(), "regression")
    assert len(kept.id) == 32
    other = Runs(tmp_path)
    assert other.find(kept.id) == kept
    assert other.open(kept.id) == run()
    assert other.packed(kept.id) == write(run())
    assert (kept.title, kept.task, kept.origin) == ("one", "regression", "kept")
    assert before <= kept.when <= time.time()


def test_a_bundle_that_is_added_gets_an_id_of_its_own(runs):
    kept = runs.keep(run())
    facts = {"title": "one", "task": "regression", "origin": "imported"}
    added = runs.add(write(run()), source="from-a-friend.zip", **facts)
    assert added.id != kept.id
    assert (added.origin, added.source) == ("imported", "from-a-friend.zip")
    assert runs.open(added.id) == runs.open(kept.id)


def test_the_newest_is_first(runs):
    ids = [runs.keep(run(str(n))).id for n in range(3)]
    assert [kept.id for kept in runs.all()] == ids[::-1]


def test_equal_runs_share_a_file_until_both_are_deleted(runs, tmp_path):
    first, second = runs.keep(run()), runs.keep(run())
    files = list((tmp_path / "runs" / "blobs").iterdir())
    assert len(files) == 1
    runs.delete(first.id)
    assert runs.open(second.id) == run()
    runs.delete(second.id)
    assert not files[0].exists()
    assert runs.all() == []
    runs.delete(second.id)


@pytest.mark.parametrize(
    "id", ["", "x", "../../etc/passwd", "0" * 31, "0" * 33, "0" * 32, "A" * 32, "0" * 32 + "\n"]
)
def test_an_id_that_is_none_is_named(runs, id):
    with pytest.raises(KeyError, match="no run"):
        runs.find(id)
    with pytest.raises(KeyError):
        runs.open(id)
    runs.delete(id)


def test_a_file_that_was_changed_on_the_disk_is_not_shown(runs, tmp_path):
    kept = runs.keep(run())
    (file,) = (tmp_path / "runs" / "blobs").iterdir()
    file.write_bytes(write(run("forged")))
    with pytest.raises(StorageError, match="changed"):
        runs.open(kept.id)
    file.unlink()
    with pytest.raises(StorageError, match="missing"):
        runs.packed(kept.id)


def test_records_that_cannot_be_read_are_skipped_and_named(runs, tmp_path):
    kept = runs.keep(run())
    for name, text in (
        ("0" * 32, "{"),
        ("1" * 32, json.dumps({"id": "1" * 32})),
        ("2" * 32, "[]"),
    ):
        (tmp_path / "runs" / f"{name}.json").write_text(text)
    assert [one.id for one in runs.all()] == [kept.id]
    assert runs.scan()[1] == [f"{digit * 32}.json" for digit in "012"]


@pytest.mark.parametrize(
    "change",
    [
        {"when": "yesterday"}, {"when": None}, {"when": True}, {"when": -1.0}, {"when": 1e300},
        {"title": 5}, {"title": "\ud800"}, {"task": None}, {"origin": "elsewhere"},
        {"source": ["x"]}, {"digest": "../../x"}, {"id": "3" * 32}, {"more": ""},
    ],
)  # fmt: skip
def test_a_record_with_a_wrong_type_costs_only_itself(runs, tmp_path, change):
    kept, bad = runs.keep(run()), runs.keep(run("bad"))
    path = tmp_path / "runs" / f"{bad.id}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert [one.id for one in runs.all()] == [kept.id]
    assert runs.scan()[1] == [path.name]
    with pytest.raises(StorageError, match="damaged"):
        runs.open(bad.id)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names files through /proc")
def test_everything_is_on_the_disk_before_the_record_names_it(runs, tmp_path, monkeypatch):
    done = []
    sync, move = os.fsync, os.replace

    def fsync(descriptor):
        done.append(("sync", Path(os.readlink(f"/proc/self/fd/{descriptor}"))))
        sync(descriptor)

    def replace(source, target):
        done.append(("move", Path(source), Path(target)))
        move(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    kept = runs.keep(run())
    folder = tmp_path / "runs"
    blob, record = folder / "blobs" / kept.digest, folder / f"{kept.id}.json"
    moves = {step[2]: (number, step[1]) for number, step in enumerate(done) if step[0] == "move"}
    for target in (blob, record):
        number, unfinished = moves[target]
        assert ("sync", unfinished) in done[:number]
        assert ("sync", target.parent) in done[number:]
    assert ("sync", blob.parent) in done[moves[blob][0] : moves[record][0]]
    assert {("sync", tmp_path), ("sync", folder)} <= set(done[: moves[blob][0]])


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_run_whose_file_was_damaged_can_be_kept_again(runs, tmp_path, damage):
    first = runs.keep(run())
    (file,) = (tmp_path / "runs" / "blobs").iterdir()
    whole = file.read_bytes()
    file.write_bytes(bytes(len(whole)) if damage is None else damage)
    with pytest.raises(StorageError, match="changed"):
        runs.open(first.id)
    second = runs.keep(run())
    assert runs.open(first.id) == runs.open(second.id) == run()


def test_beyond_its_room_nothing_is_kept_and_nothing_lost(tmp_path):
    small = Runs(tmp_path, total=len(write(run())) + 10)
    kept = small.keep(run())
    with pytest.raises(StorageError, match="delete some"):
        small.keep(run("another"))
    assert [one.id for one in small.all()] == [kept.id]
    assert small.open(kept.id) == run()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="ATTENTION_WORKBENCH_HOME"):
        Runs(tmp_path).keep(run())
    assert Runs(tmp_path).all() == []


def test_two_processes_do_not_add_and_delete_at_once(runs, tmp_path, monkeypatch):
    kept = runs.keep(run())
    monkeypatch.setattr("dashboard.storage.runs._SECONDS_TO_LOCK", 0.1)
    with files.locked(tmp_path / "runs" / ".lock", 0) as held:
        assert held
        for write_run in (lambda: runs.keep(run("b")), lambda: runs.delete(kept.id)):
            with pytest.raises(StorageError, match="another process"):
                write_run()
    runs.delete(kept.id)
    assert runs.all() == []
