import json
import math
from dataclasses import asdict

import pyarrow as pa
import pytest
from support.disks import NEEDS_PROC, Disk
from support.hostile import KINDS, UNIX, at_once, lay

from dashboard.records.request import Request
from dashboard.records.training import Epoch
from dashboard.storage.errors import StorageError
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
    assert created > 1e9


def test_the_owner_is_written_down_and_older_folders_have_none(tmp_path):
    folder = TrainingFolder.create(REQUEST, tmp_path, owner="ada")
    assert folder.order().owner == "ada"
    file = folder.path / "request.json"
    facts = json.loads(file.read_text())
    del facts["owner"]
    file.write_text(json.dumps(facts))
    assert folder.order().owner == ""


def test_one_server_holds_a_training_in_its_queue(folder, tmp_path):
    held = folder.hold()
    other = TrainingFolder(folder.id, tmp_path)
    assert other.hold() is None
    held.release()
    assert other.hold() is not None


def test_the_last_of_each_kind_counts(folder):
    assert folder.history().state == "queued"
    folder.note_facts({"title": "one", "parameters": 3})
    folder.note_epoch(epoch(2))
    folder.note_epoch(epoch(1))
    folder.note_state("failed", "it broke", {"culprit": "dot"})
    found = folder.history()
    assert (found.state, found.note) == ("failed", "it broke")
    assert found.facts == {"title": "one", "parameters": 3, "culprit": "dot"}
    folder.note_state("queued")
    folder.note_epoch(epoch(2, loss=1.5))
    folder.note_checkpoint("mine")
    found = folder.history()
    assert [(e.epoch, e.loss) for e in found.epochs] == [(1, 2.0), (2, 1.5)]
    assert (found.state, found.note, found.checkpoint) == ("queued", "", "mine")
    assert found.facts == {"title": "one", "parameters": 3}


def test_a_line_that_was_cut_short_costs_itself_alone(folder):
    folder.note_epoch(epoch(1))
    with (folder.path / "history.jsonl").open("ab") as file:
        file.write(b'{"epoch": {"epoch": 2, "lo')
    folder.note_epoch(epoch(3))
    with (folder.path / "history.jsonl").open("ab") as file:
        file.write(b'["no object"]\n{"epoch": {"epoch": 4}}\n\xff\xfe\n')
    assert folder.history().epochs == (epoch(1), epoch(3))


def test_the_stamp_changes_with_the_history(folder):
    stamps = [folder.changed()]
    for state in ("paused", "queued"):
        folder.note_state(state)
        stamps.append(folder.changed())
    assert len(set(stamps)) == 3


@pytest.mark.parametrize(
    "line", ['{"began": "now"}', '{"facts": [1]}', '{"state": 3}', '{"note": {}, "state": "done"}']
)
def test_a_line_of_another_type_is_left_out(folder, line):
    folder.note_state("paused")
    with (folder.path / "history.jsonl").open("a") as file:
        file.write(line + "\n")
    found = folder.history()
    assert (found.state, found.note, found.facts) == ("paused", "", {})


def test_an_epoch_appears_whole_and_only_the_newest_has_a_model(folder):
    maps = pa.table({"kind": ["cross"]})
    for number in (1, 2):
        with folder.new_epoch(number) as place:
            for name in ("model.safetensors", "card.json"):
                (place / name).write_text(f"{number}")
            folder.write_probe(place, maps)
            assert folder.model() != place
    assert folder.model().name == "00002"
    assert not (folder.path / "epochs/00001/card.json").exists()
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


def test_a_lock_is_held_by_one_and_free_again(folder):
    with folder.locked() as first, folder.locked() as second:
        assert (first, second) == (True, False)
        assert folder.busy()
    assert not folder.busy()


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


@pytest.mark.parametrize(
    "line",
    [
        {"epoch": {**asdict(epoch(2)), "loss": "low"}},
        {"epoch": {**asdict(epoch(2)), "epoch": "2"}},
        {"epoch": {**asdict(epoch(2)), "parts": {"near": {"score": "high"}}}},
        {"epoch": {**asdict(epoch(2)), "bleu": "11"}},
        {"epoch": 2},
        {"state": "dreaming", "note": "x", "facts": {}},
        {"state": ["done"]},
        {"state": "done", "note": 7},
    ],
)
def test_a_line_of_other_types_costs_itself_alone(folder, line):
    folder.note_epoch(epoch(1))
    with (folder.path / "history.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    found = folder.history()
    assert found.epochs == (epoch(1),)
    assert (found.state, found.note) == ("queued", "")


def test_an_epoch_that_diverged_is_kept(folder):
    folder.note_epoch(epoch(1, loss=math.nan))
    folder.note_epoch(epoch(2, loss=math.inf))
    first, second = folder.history().epochs
    assert math.isnan(first.loss)
    assert second.loss == math.inf


def test_a_history_nested_too_deep_costs_that_line_alone(folder):
    (folder.path / "history.jsonl").write_text("[" * 100_000 + "\n")
    folder.note_epoch(epoch(1))
    assert folder.history().epochs == (epoch(1),)
