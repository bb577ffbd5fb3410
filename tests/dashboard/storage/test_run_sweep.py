"""What is removed of a store, on SQLite with a folder and on PostgreSQL with another store."""

from __future__ import annotations

import time

from support.runs import page

from dashboard.storage.runs import Limits


def files(store):
    return {name for name, _ in store._contents.names()}


def test_a_sweep_removes_expired_runs_and_old_files_without_a_record(
    opened_runs, runs, monkeypatch
):
    short = opened_runs(limits=Limits(days=1))
    gone, stays = short.keep(page("gone", seed=3)), runs.keep(page())
    orphan = runs._contents.put(b"the file of a run whose record was never written")
    runs.sweep()
    assert {orphan, gone.digest, stays.digest} <= files(runs)  # too young to be sure
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 90_000)
    runs.sweep()
    assert files(runs) == {stays.digest, stays.picture}
    assert runs.open(stays.id) == page()


def test_a_clock_that_leaps_ahead_removes_no_run(opened_runs, runs, monkeypatch):
    short = opened_runs(limits=Limits(days=1))
    kept = short.keep(page())
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now + 100 * 86_400)
        runs.sweep()
    assert runs.open(kept.id) == page()


def test_a_store_sweeps_by_itself_once_an_hour(runs, monkeypatch):
    sweeps = []
    monkeypatch.setattr(runs._sweep, "run", sweeps.append)
    for _ in range(3):
        runs.keep(page())
    assert len(sweeps) == 1
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3700)
    runs.keep(page())
    assert len(sweeps) == 2
