from __future__ import annotations

import json
import time

import pyarrow as pa
import pytest

from dashboard.runs.bundle import Bundle, BundleError, write
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.store import Runs, StoreError


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


def test_a_bundle_that_is_taken_in_gets_an_id_of_its_own(runs):
    kept = runs.keep(run())
    taken = runs.take_in(write(run()), "from-a-friend.zip")
    assert taken.id != kept.id
    assert (taken.origin, taken.source) == ("imported", "from-a-friend.zip")
    assert runs.open(taken.id) == runs.open(kept.id)


def test_a_refused_bundle_leaves_nothing(runs, tmp_path):
    with pytest.raises(BundleError):
        runs.take_in(b"not a zip")
    assert runs.all() == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


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
    with pytest.raises(StoreError, match="changed"):
        runs.open(kept.id)
    file.unlink()
    with pytest.raises(StoreError, match="not here"):
        runs.packed(kept.id)


def test_records_that_cannot_be_read_are_passed_over(runs, tmp_path):
    kept = runs.keep(run())
    for name, text in (
        ("0" * 32, "{"),
        ("1" * 32, json.dumps({"id": "1" * 32})),
        ("2" * 32, "[]"),
    ):
        (tmp_path / "runs" / f"{name}.json").write_text(text)
    assert [one.id for one in runs.all()] == [kept.id]


def test_beyond_its_room_nothing_is_kept_and_nothing_lost(tmp_path):
    small = Runs(tmp_path, total=len(write(run())) + 10)
    kept = small.keep(run())
    with pytest.raises(StoreError, match="delete some"):
        small.keep(run("another"))
    assert [one.id for one in small.all()] == [kept.id]
    assert small.open(kept.id) == run()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="ATTENTION_WORKBENCH_HOME"):
        Runs(tmp_path).keep(run())
    assert Runs(tmp_path).all() == []
