"""What is on disk of trainings: read once for each change, and what the disk refused."""

import pytest

from dashboard.jobs.training_files import TrainingFiles, folder_names
from dashboard.records.request import Request
from dashboard.storage.training_folder import TrainingFolder

REQUEST = Request.make("training", model="bahdanau", scoring="dot", options={"pairs": 7})


@pytest.fixture
def folder(tmp_path):
    return TrainingFolder.create(REQUEST, tmp_path, owner="ada")


@pytest.fixture
def files():
    return TrainingFiles()


def test_a_file_is_read_once_for_each_change(folder, files):
    order, history = files.order(folder), files.history(folder)
    assert (order.request, order.owner, history.state) == (REQUEST, "ada", "queued")
    assert files.order(folder) is order
    assert files.history(folder) is history
    folder.note_state("paused")
    assert files.history(folder).state == "paused"


def test_an_outcome_that_the_disk_refuses_is_known_until_the_training_goes_on(folder, files):
    files.record(folder, "failed", "it broke")
    assert files.outcome(folder.id) is None
    assert files.history(folder).note == "it broke"
    (folder.path / "history.jsonl").unlink()
    (folder.path / "history.jsonl").mkdir()
    files.record(folder, "failed", "the disk is full", {"culprit": "dot"})
    outcome = files.outcome(folder.id)
    assert (outcome.state, outcome.note) == ("failed", "the disk is full")
    assert outcome.facts == {"culprit": "dot"}
    files.forget_outcome(folder.id)
    assert files.outcome(folder.id) is None


def test_nothing_is_known_of_a_training_that_was_deleted(folder, files):
    files.order(folder)
    files.delete(folder)
    assert not folder.path.exists()
    with pytest.raises(KeyError, match="no training"):
        files.order(folder)


def test_without_a_folder_there_are_no_trainings(folder, tmp_path):
    assert folder_names(tmp_path) == [folder.id]
    assert folder_names(tmp_path / "nowhere") == []
