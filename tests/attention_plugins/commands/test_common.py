"""Commands on a machine that others use too: how many threads compute, and how they wait."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from attention_plugins.commands import common, main


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Says how busy a machine of eight cores is; nobody asked for a number of threads.

    Afterwards ``load.chosen`` are the numbers of threads that were set.
    """
    for name in common._THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(common, "_most_threads", lambda: 6)
    monkeypatch.setattr(common, "_LOAD", tmp_path / "loadavg")

    def say(average, now=None):
        monkeypatch.setattr(os, "getloadavg", lambda: (average, 0.0, 0.0), raising=False)
        if now is not None:
            common._LOAD.write_text(f"{average} 0.00 0.00 {now + 1}/321 4567\n")

    say.chosen = []
    monkeypatch.setattr(torch, "set_num_threads", say.chosen.append)
    return say


@pytest.mark.parametrize(
    ("average", "now", "threads"),
    [
        (0.1, 0, 6),  # never more than torch itself takes
        (3.2, 4, 5),
        (12.0, 12, 1),
        (12.0, 1, 6),  # what made the load has ended
        (0.4, 7, 6),  # a moment is no load
        (3.9, None, 4),  # a system that says nothing of the present
    ],
)
def test_each_free_core_gets_a_thread(load, average, now, threads):
    load(average, now)
    common.choose_threads(None)
    assert load.chosen == [threads]


def test_a_training_does_not_count_as_the_load_of_others(load):
    load(6.0)
    common.choose_threads(None, computing=4)
    assert load.chosen == [6]


def test_without_a_load_every_core_counts_as_free(load, monkeypatch):
    monkeypatch.delattr(os, "getloadavg", raising=False)
    common.choose_threads(None)
    assert load.chosen == [6]


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_threads_that_somebody_asked_for_are_not_chosen_by_the_load(load, monkeypatch, name):
    load(12.0, 12)
    common.choose_threads(5)
    monkeypatch.setenv(name, "5")
    common.choose_threads(None)
    assert load.chosen == [5]


@pytest.fixture
def order(tmp_path):
    """A training of two epochs on next to nothing."""
    path = tmp_path / "two.tsv"
    path.write_text("I see .\tJe vois .\nI run .\tJe cours .", "utf-8")
    return [
        "train", "--corpus", str(path), "--output", str(tmp_path / "made"), "--epochs", "2",
        "--set", "embed=5", "--set", "hidden=7", "--set", "layers=1", "--device", "cpu",
    ]  # fmt: skip


def test_a_training_follows_the_load_epoch_by_epoch(load, order, monkeypatch):
    loads = iter([0.0, 15.0, 5.0])  # at the start, after the first epoch, after the second
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0), raising=False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: load.chosen[-1])
    assert main(order) == 0
    assert load.chosen == [6, 1, 4]


@pytest.mark.slow
def test_a_command_computes_on_free_cores_and_its_waiting_threads_sleep(order):
    """Said by torch's own runtime of OpenMP as it is loaded, where that is GNU's."""
    unset = {*common._THREADS, "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
    known = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-m", "attention_plugins", *order],
        env=known | {"OMP_DISPLAY_ENV": "verbose"},
        capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    (threads,) = [line.split()[-2] for line in done.stderr.splitlines() if " on cpu with " in line]
    assert 1 <= int(threads) <= os.cpu_count()
    if "GOMP_SPINCOUNT" in done.stderr:
        assert "GOMP_SPINCOUNT = '0'" in done.stderr


@pytest.mark.parametrize(
    ("program", "before", "after"),
    [("-m", None, "passive"), ("-m", "active", "active"), ("notebook.py", None, None)],
)
def test_only_a_command_chooses_how_threads_wait_and_before_torch_is_there(program, before, after):
    code = (
        f"import os, sys; sys.argv = [{program!r}]; sys.modules['torch'] = None\n"
        "try: from attention_plugins import Scoring\n"
        "except ImportError: print(os.environ.get('OMP_WAIT_POLICY'))"
    )
    known = {n: v for n, v in os.environ.items() if n != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=known | ({"OMP_WAIT_POLICY": before} if before else {}),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == str(after)
