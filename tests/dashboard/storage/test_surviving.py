"""What is said to be kept is there: with other writers, after a kill, on a full or dead disk."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import saving
from support.disks import NEEDS_PROC, Disk, small_disk
from support.runs import page

from dashboard.storage.files import StorageError
from dashboard.storage.runs import Runs

PATIENCE = 120  # seconds


@pytest.fixture
def places(places, tmp_path):
    """Files in a folder: what lies in memory is not shared by processes."""
    return {**places, "blobs": str(tmp_path / "files")}


def started(places, name, count):
    given = json.dumps({key: str(value) for key, value in places.items()})
    command = [sys.executable, "-m", saving.__name__, given, str(count), name]
    environment = os.environ | {"PYTHONPATH": str(Path(saving.__file__).parents[1])}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("saves", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_of_two_processes_that_save_at_once_none_loses_a_run(places, opened_runs, saves):
    writers = [started(places, name, saves) for name in ("ada", "bob")]
    said = [writer.communicate(timeout=PATIENCE)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [len(ids) for ids in said] == [saves, saves]
    store = opened_runs()
    found, damaged = store.scan()
    assert damaged == []
    assert {run.id for run in found} == {*said[0], *said[1]}
    assert {run.name for run in found} == {
        f"{n} {i}" for n in ("ada", "bob") for i in range(saves)
    }
    for run in found[:: saves // 10]:
        assert store.open(run.id).name == run.name


def test_what_is_said_to_be_kept_survives_a_kill(places, opened_runs):
    chosen = random.Random(7)
    said = []
    for round in range(5):
        writer = started(places, f"round {round}", count=100_000)
        assert writer.stdout is not None
        said += [writer.stdout.readline().strip() for _ in range(chosen.randint(3, 11))]
        time.sleep(chosen.uniform(0, 0.02))
        os.kill(writer.pid, signal.SIGKILL)
        said += writer.communicate(timeout=PATIENCE)[0].split()
    store = opened_runs()
    found, damaged = store.scan()
    assert damaged == []
    assert len(said) >= 15
    assert {*said} <= {run.id for run in found}
    assert len(found) <= len(said) + 5  # the last of each round may be kept without being said
    for id in said:
        assert store.open(id).panels
    assert store.open(store.keep(page()).id) == page()


@NEEDS_PROC
def test_power_may_be_lost_at_any_moment(tmp_path, monkeypatch):
    root = tmp_path / "home"
    root.mkdir()
    disk = Disk(root, monkeypatch)
    store = Runs(root)
    said = [store.keep(page(str(n), seed=n)).id for n in range(3)]
    after = disk.cut()
    monkeypatch.undo()
    store.close()
    assert len(disk.steps) > 20
    for step in disk.steps:
        found, damaged = (survivor := Runs(step)).scan()
        assert damaged == [], step
        assert all(survivor.open(run.id).name == run.name for run in found)
        survivor.close()
    survivor = Runs(after)
    assert {run.id for run in survivor.all()} == {*said}
    for id, name in zip(said, "012", strict=True):
        assert survivor.open(id).name == name
        assert survivor.picture(survivor.find(id)) == page(name).picture
    survivor.close()


def test_a_full_disk_keeps_nothing_by_half(runs, monkeypatch):
    kept = runs.keep(page())

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match=r"No space left on device; free some space"):
            runs.keep(page("another", seed=3))
    assert runs.scan() == ([kept], [])
    assert {name for name, _ in runs._contents.names()} == {kept.digest, kept.picture}
    assert runs.open(runs.keep(page("another", seed=3)).id).name == "another"


def test_a_disk_that_really_runs_full_loses_nothing(tmp_path):
    with small_disk(tmp_path / "small", kilobytes=2048) as root:
        store = Runs(root)
        (root / "something else").write_bytes(bytes(128 * 1024))
        said = []

        def keep_many():
            for number in range(2_000):
                said.append(store.keep(page(f"{number}", seed=number)).id)  # noqa: PERF401

        with pytest.raises(StorageError, match=r"free some space|disk I/O error"):
            keep_many()
        store.close()
        again = Runs(root)
        found, damaged = again.scan()
        assert damaged == []
        assert {run.id for run in found} == {*said}
        assert len(said) > 20
        (root / "something else").unlink()
        again.delete(said[0])
        assert again.open(again.keep(page()).id) == page()
        again.close()
