import json
import time

import pyarrow as pa
import pytest
from support.disks import NEEDS_PROC, Disk
from support.hostile import KINDS, UNIX, at_once, lay

from dashboard.records.request import Request
from dashboard.records.training import Epoch
from dashboard.storage.files import StorageError
from dashboard.storage.training_folder import TrainingFolder

REQUEST = Request.make("training", model="bahdanau", scoring="dot", options={"pairs": 7})


def epoch(number, loss=2.0):
    return Epoch(
        epoch=number, loss=loss, seconds=3.0, tokens_per_second=5.0, bleu=11.0, probe="là"
    )


@pytest.fixture
def folder(tmp_path):
    return TrainingFolder.create(REQUEST, tmp_path)


def test_what_was_asked_for_is_found_again(folder, tmp_path):
    request, created, owner = TrainingFolder(folder.id, tmp_path).order()
    assert (request, owner) == (REQUEST, "")
    assert abs(created - time.time()) < 60


def test_the_newest_of_more_than_nine_epochs_has_the_model(folder):
    for number in (9, 10):
        with folder.new_epoch(number) as place:
            (place / "card.json").write_text("")
    assert folder.model().name == "00010"
    for number in (9, 8):  # of a server that was killed before it removed them
        (folder.path / f"epochs/{number:05}").mkdir(exist_ok=True)
        (folder.path / f"epochs/{number:05}/card.json").write_text("")
    assert folder.model().name == "00010"


def test_the_owner_is_written_down_and_older_folders_have_none(tmp_path):
    folder = TrainingFolder.create(REQUEST, tmp_path, owner="ada")
    assert folder.order().owner == "ada"
    file = folder.path / "request.json"
    facts = json.loads(file.read_text())
    del facts["owner"]
    file.write_text(json.dumps(facts))
    assert folder.order().owner == ""


def test_an_epoch_appears_whole_and_only_the_newest_has_a_model(folder):
    maps = pa.table({"kind": ["cross"]})
    for number in (1, 2):
        with folder.new_epoch(number) as place:
            for name in ("model.safetensors", "card.json"):
                (place / name).write_text(f"{number}")
            folder.write_probe(place, maps)
            assert folder.model() != place
    assert folder.model().name == "00002"
    assert [path.name for path in (folder.path / "epochs/00001").iterdir()] == ["probe.arrow"]
    assert folder.probe(1) == folder.probe(2) == maps
    with pytest.raises(RuntimeError):
        _break_off(folder, 3)
    assert folder.model().name == "00002"
    assert sorted(path.name for path in folder.path.glob("epochs/*")) == ["00001", "00002"]


def _break_off(folder, number):
    with folder.new_epoch(number) as place:
        (place / "card.json").write_text("half")
        raise RuntimeError


def test_an_epoch_that_is_done_again_takes_the_place_of_the_first(folder):
    for text in ("old", "new"):
        with folder.new_epoch(1) as place:
            (place / "card.json").write_text(text)
    assert (folder.model() / "card.json").read_text() == "new"


@NEEDS_PROC
def test_power_may_be_lost_at_any_moment(tmp_path, monkeypatch):
    (root := tmp_path / "home").mkdir()
    disk, maps = Disk(root, monkeypatch), pa.table({"kind": ["cross"] * 7})
    folder = TrainingFolder.create(REQUEST, root)
    created, said = len(disk.steps), {}
    for number in (1, 2, 3):
        with folder.new_epoch(number) as place:
            for name in ("model.safetensors", "card.json"):
                (place / name).write_text(f"{name} {number}")
            folder.write_probe(place, maps)
        folder.note_epoch(epoch(number))
        said[disk.cut()] = number
        folder.write_snapshot(b"snapshot" * number)
    disk.cut()
    monkeypatch.undo()
    for step in disk.steps[created:]:
        found = TrainingFolder(folder.id, step)
        assert found.order().request == REQUEST
        named = [one.epoch for one in found.history().epochs]
        assert said.get(step, 0) in (0, *named)
        assert all(found.probe(number) == maps for number in named)
        if named:
            model = found.model()
            assert int(model.name) >= named[-1]
            for name in ("model.safetensors", "card.json"):
                assert (model / name).read_text() == f"{name} {int(model.name)}"
        if snapshot := found.snapshot():
            assert snapshot.read_bytes() in [b"snapshot" * number for number in (1, 2, 3)]
    assert [one.epoch for one in found.history().epochs] == [1, 2, 3]
    assert found.snapshot().read_bytes() == b"snapshot" * 3


def test_a_snapshot_takes_the_place_of_the_last(folder):
    assert folder.snapshot() is None
    folder.write_snapshot(b"first")
    folder.write_snapshot(b"second")
    assert folder.snapshot().read_bytes() == b"second"
    folder.forget_snapshot()
    assert folder.snapshot() is None
    folder.forget_snapshot()


@pytest.mark.parametrize("id", ["", "../" * 8, "g" * 32, "0" * 31, "0" * 32 + "\n"])
def test_an_id_leads_nowhere_else(id, tmp_path):
    with pytest.raises(KeyError):
        TrainingFolder(id, tmp_path)


def test_what_is_not_there_says_so(tmp_path):
    folder = TrainingFolder("0" * 32, tmp_path)
    with pytest.raises(KeyError, match="no training"):
        folder.order()
    with pytest.raises(KeyError, match="no probe"):
        folder.probe(1)
    with pytest.raises(StorageError, match=r"cannot write .*; free some space there, or set "):
        folder.note_state("paused")
    assert folder.history().epochs == ()
    assert not folder.busy()


@pytest.mark.slow
@UNIX
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_a_training_is_not_waited_for(folder, kind):
    folder.note_epoch(epoch(1))
    (folder.path / "epochs" / "00001").mkdir()
    for name in ("request.json", "history.jsonl", "epochs/00001/probe.arrow"):
        lay(folder.path / name, kind)
    with pytest.raises(KeyError, match="no training"):
        at_once(folder.order)
    with pytest.raises(KeyError, match="no probe"):
        at_once(folder.probe, 1)
    assert at_once(folder.history).epochs == ()
    lay(folder.path / "snapshot.safetensors", kind)
    assert kind == "gigabytes" or folder.snapshot() is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"request": {}, "created": "x"}', "\xff", ""])
def test_a_request_that_is_none_is_no_training(folder, text):
    (folder.path / "request.json").write_text(text, "latin-1")
    with pytest.raises(KeyError, match="no training"):
        folder.order()


@pytest.mark.parametrize("created", ["NaN", "1e300", "-1", '"now"', "null", "[1]"])
def test_a_time_that_no_calendar_has_is_no_training(folder, created):
    path = folder.path / "request.json"
    request = json.loads(path.read_text())["request"]
    path.write_text(f'{{"request": {json.dumps(request)}, "created": {created}}}')
    with pytest.raises(KeyError, match="no training"):
        folder.order()
