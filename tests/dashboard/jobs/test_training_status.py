from types import SimpleNamespace

import pytest

from dashboard.jobs.backend import Event
from dashboard.jobs.training_status import (
    TrainingStatus,
    describe,
    paused_note,
    training_status,
)
from dashboard.records.request import Request
from dashboard.records.training import Epoch
from dashboard.storage.training_folder import Ordered
from dashboard.storage.training_history import History

QUEUED = Event(number=1, stage="queued")
STARTED = Event(number=2, stage="started")
LIVE = Event(number=3, stage="progress", fraction=0.5, note="Epoch 1 of 2.", facts={"step": 7})
NEWER = Event(number=4, stage="progress", fraction=0.6, note="Epoch 2 of 2.", facts={"step": 1})
EPOCH = Epoch(epoch=1, loss=2.0, seconds=3.0, tokens_per_second=5.0, bleu=None, probe="")


def locks(*, busy, held):
    return SimpleNamespace(busy=lambda: busy, held=lambda: held)


@pytest.mark.parametrize(
    ("recorded", "events", "stopping", "elsewhere", "expected"),
    [
        ("queued", [QUEUED], False, False, ("queued", "Waits until a trainer is free.", {})),
        ("queued", [QUEUED], True, False, ("pausing", "Starting.", {})),
        ("queued", [QUEUED, STARTED], False, False, ("running", "Starting.", {})),
        ("queued", [QUEUED, STARTED, LIVE, NEWER], False, False,
         ("running", "Epoch 2 of 2.", {"step": 1})),
        ("queued", [QUEUED, STARTED, LIVE], True, False,
         ("pausing", "Epoch 1 of 2.", {"step": 7})),
        ("queued", [], False, True, ("running", "Another server works on it.", {})),
        ("queued", [], False, False,
         ("queued", "Waits for a trainer of another server.", {})),
        ("running", [], False, False,
         ("paused", "The server stopped in the meantime; resume to go on.", {})),
        ("running", [QUEUED, STARTED], False, False, ("running", "Starting.", {})),
        ("paused", [], False, True, ("paused", "as recorded", {})),
        ("done", [QUEUED, STARTED, LIVE], False, False, ("done", "as recorded", {})),
        ("failed", [], False, False, ("failed", "as recorded", {})),
        ("cancelled", [QUEUED, STARTED, LIVE], True, True, ("cancelled", "as recorded", {})),
    ],
)  # fmt: skip
def test_the_status_follows_from_history_and_events(
    recorded, events, stopping, elsewhere, expected
):
    history = History(state=recorded, note="as recorded")
    found = training_status(
        history, events, locks(busy=elsewhere, held=elsewhere), stopping=stopping, requested=False
    )
    assert found == expected


def test_what_waits_for_its_next_worker_on_another_server_is_not_paused():
    found = training_status(
        History(state="running"), [], locks(busy=False, held=True), stopping=False,
        requested=False,
    )  # fmt: skip
    assert found == ("running", "Another server starts it again.", {})


@pytest.mark.parametrize("recorded", ["queued", "running"])
def test_what_another_server_was_asked_to_stop_is_pausing(recorded):
    found = training_status(
        History(state=recorded), [], locks(busy=True, held=True), stopping=False, requested=True
    )
    assert found == ("pausing", "Another server stops it.", {})


def test_what_a_training_found_out_counts_more_than_what_it_was_asked_for():
    order = Ordered(Request.make("training", model="m", scoring="a", data="pairs"), 5.0, "ada")
    begun, ended = {"corpus": "all pairs", "title": "Mine"}, {"title": "Mine, at last"}
    found = describe(
        "1", order, TrainingStatus("done", "why", {"step": 7}),
        History(facts=begun, checkpoint="mine"), History(facts=ended),
    )  # fmt: skip
    assert found.facts == {
        "title": "Mine, at last", "model": "m", "scoring": "a", "corpus": "all pairs",
    }  # fmt: skip
    assert (found.id, found.created, found.owner, found.checkpoint) == ("1", 5.0, "ada", "mine")
    assert (found.state, found.note, found.live) == ("done", "why", {"step": 7})


@pytest.mark.parametrize(("epochs", "words"), [(0, "0 epochs"), (1, "1 epoch"), (2, "2 epochs")])
def test_a_pause_names_the_number_of_epochs(epochs, words):
    note = paused_note(History(epochs=(EPOCH,) * epochs))
    assert note == f"Paused after {words}; resume to go on."
