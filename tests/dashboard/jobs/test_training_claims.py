"""No two servers have one training in their queues."""

import subprocess
import sys
from threading import Timer

import pytest

from dashboard.jobs import training_files
from dashboard.jobs.backend import Event
from dashboard.jobs.training_files import Claims
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request
from dashboard.storage.training_folder import TrainingFolder

REQUEST = Request.make("training", model="bahdanau", scoring="dot", options={"pairs": 7})


def test_a_training_is_one_servers_until_it_is_released(tmp_path):
    first, second = (TrainingFolder.create(REQUEST, tmp_path) for _ in range(2))
    here, there = Claims(), Claims()
    for folder in (first, second):
        here.take(folder)
        with pytest.raises(ValueError, match="another server has this training"):
            there.take(folder)
    here.release(first.id)
    here.release(first.id)  # nothing happens
    there.take(first)
    here.release_all()
    there.take(second)
    assert first.held()
    assert second.held()
    there.release_all()
    assert not first.held()


def test_a_server_that_only_looks_whether_one_has_it_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(training_files, "_PATIENCE", 60.0)
    folder = TrainingFolder.create(REQUEST, tmp_path)
    looking = folder.hold()
    soon = Timer(0.05, looking.release)
    soon.start()
    here = Claims()
    here.take(folder)
    soon.join()
    assert folder.held()
    here.release_all()


@pytest.mark.parametrize("refused", [False, True])
def test_how_a_training_ended_is_recorded_before_others_may_take_it(
    refused, tmp_path, monkeypatch
):
    here = Trainings(tmp_path, make_backend=lambda: pytest.fail("nothing to run"))
    folder = TrainingFolder.create(REQUEST, tmp_path)
    here._claims.take(folder)
    held = []

    def record(self, state, note, facts=None):
        held.append((state, self.held()))
        if refused:
            raise OSError("no such disk")

    monkeypatch.setattr(here._files, "record", record)
    try:
        here._end(folder.id, Event(number=1, stage="cancelled"), "pause")
    except OSError:
        assert refused
    assert held == [("paused", True)]
    assert not folder.held()


def test_a_living_server_takes_what_waited_at_a_dead_one_the_oldest_first(tmp_path, monkeypatch):
    here, there, taken = Trainings(tmp_path), Claims(), []
    folders = [TrainingFolder.create(REQUEST, tmp_path) for _ in range(3)]

    def submit(folder, address=""):
        here._claims.take(folder)
        here.jobs._jobs[folder.id] = ""
        taken.append(folder.id)

    monkeypatch.setattr(here, "_submit", submit)
    monkeypatch.setattr(here.jobs, "events", lambda id: [])
    for folder in folders:
        there.take(folder)
    for _ in range(3):
        here.adopt(patient=True)
    assert taken == []  # its server lives
    there.release(folders[0].id)
    there.release(folders[1].id)
    here.adopt(patient=True)
    assert taken == []  # its server may be about to take it
    here.adopt(patient=True)
    assert taken == [folders[0].id]
    here.adopt(patient=True)
    assert taken == [folders[0].id, folders[1].id]
    there.release_all()
    here.adopt(patient=True)
    here.close()
    here.adopt(patient=True)
    here.adopt()
    assert len(taken) == 2  # it has ended


_HOLDS = """
import sys, time
from pathlib import Path
from dashboard.jobs.training_files import Claims
from dashboard.storage.training_folder import TrainingFolder
claims = Claims()
claims.take(TrainingFolder(sys.argv[1], Path(sys.argv[2])))
print("holds", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_what_waited_at_a_server_that_was_killed_is_taken_once(tmp_path, monkeypatch):
    folder = TrainingFolder.create(REQUEST, tmp_path)
    servers = [Trainings(tmp_path) for _ in range(2)]
    queued = []
    for each in servers:
        submit = each.jobs

        def take(id, request, owner, address, jobs=submit):
            jobs._jobs[id] = ""
            queued.append(id)

        monkeypatch.setattr(submit, "submit", take)
        monkeypatch.setattr(submit, "events", lambda id: [])
    command = [sys.executable, "-c", _HOLDS, folder.id, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dying:
        assert dying.stdout.readline() == "holds\n"
        for each in servers * 3:
            each.adopt(patient=True)
        assert queued == []
        dying.kill()
    for each in servers * 3:
        each.adopt(patient=True)
    assert queued == [folder.id]
    assert folder.held()
    for each in servers:
        each._claims.release_all()
