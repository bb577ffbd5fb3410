import json
import math
import os
from dataclasses import asdict

import pytest

from dashboard.records.training import Epoch
from dashboard.storage.files import StorageError
from dashboard.storage.training_history import TrainingHistory


def epoch(number, loss=2.0):
    return Epoch(
        epoch=number, loss=loss, seconds=3.0, tokens_per_second=5.0, bleu=11.0, probe="là"
    )


@pytest.fixture
def history(tmp_path):
    """Of one training; nothing of it is recorded."""
    return TrainingHistory(tmp_path)


def test_what_a_training_ended_with_counts_before_what_it_began_with(history):
    history.note_state("done", "", {"parameters": 5, "score": 2})
    history.note_facts({"title": "one", "parameters": 3})
    assert history.history().facts == {"title": "one", "parameters": 5, "score": 2}


def test_the_last_of_each_kind_counts(history):
    assert history.history().state == "queued"
    history.note_facts({"title": "one", "parameters": 3})
    history.note_epoch(epoch(2))
    history.note_epoch(epoch(1))
    history.note_state("failed", "it broke", {"culprit": "dot"})
    found = history.history()
    assert (found.state, found.note) == ("failed", "it broke")
    assert found.facts == {"title": "one", "parameters": 3, "culprit": "dot"}
    history.note_state("queued")
    history.note_epoch(epoch(2, loss=1.5))
    history.note_checkpoint("mine")
    found = history.history()
    assert [(e.epoch, e.loss) for e in found.epochs] == [(1, 2.0), (2, 1.5)]
    assert (found.state, found.note, found.checkpoint) == ("queued", "", "mine")
    assert found.facts == {"title": "one", "parameters": 3}


def test_a_line_that_was_cut_short_costs_itself_alone(history):
    history.note_epoch(epoch(1))
    with (history.path / "history.jsonl").open("ab") as file:
        file.write(b'{"epoch": {"epoch": 2, "lo')
    history.note_epoch(epoch(3))
    with (history.path / "history.jsonl").open("ab") as file:
        file.write(b'["no object"]\n{"epoch": {"epoch": 4}}\n\xff\xfe\n')
    assert history.history().epochs == (epoch(1), epoch(3))


def test_the_stamp_changes_with_the_history(history):
    stamps = [history.changed()]
    for state in ("paused", "queued"):
        history.note_state(state)
        stamps.append(history.changed())
    assert len(set(stamps)) == 3
    file = history.path / "history.jsonl"
    os.utime(file, ns=(0, stamps[-1][0]))
    assert history.changed() == stamps[-1]
    history.note_state("done")
    os.utime(file, ns=(0, stamps[-1][0]))  # two changes within one tick of the clock
    assert history.changed() != stamps[-1]


@pytest.mark.parametrize(
    "line", ['{"began": "now"}', '{"facts": [1]}', '{"state": 3}', '{"note": {}, "state": "done"}']
)
def test_a_line_of_another_type_is_left_out(history, line):
    history.note_state("paused")
    with (history.path / "history.jsonl").open("a") as file:
        file.write(line + "\n")
    found = history.history()
    assert (found.state, found.note, found.facts) == ("paused", "", {})


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
def test_a_line_of_other_types_costs_itself_alone(history, line):
    history.note_epoch(epoch(1))
    with (history.path / "history.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    found = history.history()
    assert found.epochs == (epoch(1),)
    assert (found.state, found.note) == ("queued", "")


def test_an_epoch_that_diverged_is_kept(history):
    history.note_epoch(epoch(1, loss=math.nan))
    history.note_epoch(epoch(2, loss=math.inf))
    first, second = history.history().epochs
    assert math.isnan(first.loss)
    assert second.loss == math.inf


def test_a_history_nested_too_deep_costs_that_line_alone(history):
    (history.path / "history.jsonl").write_text("[" * 100_000 + "\n")
    history.note_epoch(epoch(1))
    assert history.history().epochs == (epoch(1),)


def test_losses_come_back_by_step_whoever_noted_them_last(history):
    history.note_losses([(3, 4.0), (1, 5.0)])
    history.note_losses([(6, 3.0), (3, 4.5)])
    assert history.history().losses == ((1, 5.0), (3, 4.5), (6, 3.0))


def test_a_line_that_the_disk_took_half_of_is_said(history, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, line):
            return len(line) // 2

    history.note_state("paused")
    monkeypatch.setattr(type(history.path), "open", lambda *_, **__: Full())
    with pytest.raises(StorageError, match="the disk is full"):
        history.note_state("done")


@pytest.mark.parametrize("line", ['{"losses": [[9, NaN]]}', '{"losses": [[9]]}', '{"losses": 9}'])
def test_losses_that_are_damaged_are_left_out(history, line):
    history.note_losses([(1, 5.0)])
    with (history.path / "history.jsonl").open("a") as file:
        file.write(f"\n{line}\n")
    history.note_epoch(epoch(1))
    found = history.history()
    assert (found.losses, len(found.epochs)) == (((1, 5.0),), 1)
