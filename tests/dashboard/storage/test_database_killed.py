"""PostgreSQL is killed while runs are kept: what was said to be kept is there afterwards."""

import random
import threading
import time

import pytest
from support.postgres import server
from support.runs import page

from dashboard.storage.files import StorageError
from dashboard.storage.runs import Runs

ROUNDS, WRITERS = 3, 2
PATIENCE = 60.0  # seconds


@pytest.fixture
def postgresql():
    """A server of this test alone, which it may kill."""
    with server() as running:
        yield running


class Writer(threading.Thread):
    """Keeps runs until it is told to stop; remembers what was said to be kept and what was not."""

    def __init__(self, store, name):
        super().__init__(name=name, daemon=True)
        self.store, self.said, self.refused = store, [], []
        self.stop = False

    def run(self):
        number = 0
        while not self.stop:
            number += 1
            try:
                self.said.append(
                    self.store.keep(page(f"{self.name} {number}"), owner=self.name).id
                )
            except StorageError as error:
                self.refused.append(str(error))
                time.sleep(0.02)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_a_killed_database_loses_nothing_and_is_used_again_once_it_is_back(postgresql, tmp_path):
    chosen = random.Random(7)
    store = Runs(tmp_path, database=postgresql.new())
    writers = [Writer(store, f"writer {n}") for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(ROUNDS):
            counts = [len(writer.said) + chosen.randint(5, 20) for writer in writers]
            until(lambda counts=counts: all(
                len(w.said) >= n for w, n in zip(writers, counts, strict=True)
            ))  # fmt: skip
            postgresql.kill()
            refusals = [len(writer.refused) for writer in writers]
            until(lambda refusals=refusals: all(
                len(w.refused) > n for w, n in zip(writers, refusals, strict=True)
            ))  # fmt: skip
            with pytest.raises(StorageError, match=r"cannot be reached now .*; try again soon"):
                store.all()
            postgresql.start()
    finally:
        for writer in writers:
            writer.stop = True
            writer.join(PATIENCE)
    kept = store.keep(page("afterwards"))
    found, damaged = store.scan()
    assert damaged == []
    said = {id for writer in writers for id in writer.said}
    assert len(said) >= ROUNDS * WRITERS * 5
    assert said | {kept.id} <= {run.id for run in found}
    assert len(found) <= len(said) + 1 + ROUNDS * WRITERS  # a commit that could not be confirmed
    assert all(store.open(run.id).name == run.name for run in found)
    refused = [each for writer in writers for each in writer.refused]
    assert all("password" not in each and "INSERT" not in each for each in refused)
    store.close()
