"""What is on disk of trainings: read once for each change, and what the disk refused."""

import pytest

from dashboard.jobs import training_files
from dashboard.jobs.training_files import (
    TrainingFiles,
    checkpoint_name,
    copy_checkpoint,
    export,
    folder_names,
)
from dashboard.records.request import Request
from dashboard.storage.files import StorageError
from dashboard.storage.training_folder import TrainingFolder
from dashboard.storage.training_history import History

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
    files.record(folder, "failed", "it broke", {"culprit": "cosine"})
    assert files.outcome(folder.id) is None
    recorded = files.history(folder)
    assert (recorded.note, recorded.facts) == ("it broke", {"culprit": "cosine"})
    (folder.path / "history.jsonl").unlink()
    (folder.path / "history.jsonl").mkdir()
    files.record(folder, "failed", "the disk is full", {"culprit": "dot"})
    outcome = files.outcome(folder.id)
    assert (outcome.state, outcome.note) == ("failed", "the disk is full")
    assert outcome.facts == {"culprit": "dot"}
    files.forget_outcome(folder.id)
    assert files.outcome(folder.id) is None


def test_what_can_be_written_again_counts_more_than_what_the_disk_refused(folder, files):
    (folder.path / "history.jsonl").mkdir()
    files.record(folder, "failed", "the disk is full")
    (folder.path / "history.jsonl").rmdir()
    files.record(folder, "cancelled", "Cancelled.")
    assert files.outcome(folder.id) is None
    assert files.history(folder).state == "cancelled"


@pytest.fixture
def model(folder):
    """Of the training's first epoch."""
    with folder.new_epoch(1) as place:
        for name in ("model.safetensors", "card.json", "probe.arrow"):
            (place / name).write_text(name)
    return folder


def test_a_model_is_exported_without_the_maps_of_its_probe(model, tmp_path):
    root = tmp_path / "checkpoints"
    assert export(model, " My-first model", root, ()) == "my_first_model"
    found = root / "my_first_model"
    assert sorted(path.name for path in found.iterdir()) == ["card.json", "model.safetensors"]
    assert model.history().checkpoint == "my_first_model"
    for name, taken in (("my first_model", ()), ("other", ("other",))):
        with pytest.raises(ValueError, match="already; choose another name"):
            export(model, name, root, taken)


def test_a_copy_is_on_the_disk_before_it_appears_and_so_is_its_place(model, tmp_path, monkeypatch):
    target, synced = tmp_path / "checkpoints" / "mine", []
    monkeypatch.setattr(
        training_files, "sync", lambda path: synced.append((path.name, target.exists()))
    )
    copy_checkpoint(model.model(), model.path, target)
    *files, (unfinished, appeared), place = synced
    assert sorted(files) == [("card.json", False), ("model.safetensors", False)]
    assert (unfinished[0], appeared, place) == (".", False, ("checkpoints", True))


@pytest.mark.parametrize(
    ("name", "tidy"), [("a" * 40, "a" * 40), (" A\tb - c\n", "a_b_c"), ("x_9", "x_9")]
)
def test_a_name_is_tidied(name, tidy, tmp_path):
    assert checkpoint_name(name, tmp_path, ()) == tidy


@pytest.mark.parametrize("name", ["a" * 41, "_a", "ä", "a.b", "a/b" * 30])
def test_a_name_that_cannot_be_one_is_shown_no_longer_than_eighty(name, tmp_path):
    with pytest.raises(ValueError, match="need a name of 1 to 40") as refusal:
        checkpoint_name(name, tmp_path, ())
    assert str(refusal.value).endswith(f"got {name[:80]!r}")


def test_an_export_that_fails_leaves_nothing(model, tmp_path, monkeypatch):
    before = sorted(model.path.iterdir())
    (tmp_path / "checkpoints" / "mine").mkdir(parents=True)
    (tmp_path / "checkpoints" / "mine" / "file").write_text("of another server")
    with pytest.raises(StorageError):
        copy_checkpoint(model.model(), model.path, tmp_path / "checkpoints" / "mine")
    assert sorted(model.path.iterdir()) == before
    assert (tmp_path / "checkpoints" / "mine" / "file").read_text() == "of another server"


def test_nothing_is_known_of_a_training_that_was_deleted(folder, files):
    files.order(folder)
    files.history(folder)
    files._unrecorded[folder.id] = History(state="failed")
    files.delete(folder)
    assert not folder.path.exists()
    assert files.outcome(folder.id) is None
    assert files.history(folder).state == "queued"
    with pytest.raises(KeyError, match="no training"):
        files.order(folder)


def test_without_a_folder_there_are_no_trainings(folder, tmp_path):
    assert folder_names(tmp_path) == [folder.id]
    assert folder_names(tmp_path / "nowhere") == []
