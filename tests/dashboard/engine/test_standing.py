import pytest

from dashboard.engine.protocol import Event
from dashboard.engine.standing import paused, standing
from dashboard.runs.training_folder import History
from dashboard.runs.trainings import Epoch

QUEUED = Event(number=1, stage="queued")
STARTED = Event(number=2, stage="started")
LIVE = Event(number=3, stage="progress", fraction=0.5, note="Epoch 1 of 2.", facts={"step": 7})
NEWER = Event(number=4, stage="progress", fraction=0.6, note="Epoch 2 of 2.", facts={"step": 1})
EPOCH = Epoch(epoch=1, loss=2.0, seconds=3.0, tokens_per_second=5.0, bleu=None, probe="")


@pytest.mark.parametrize(
    ("noted", "events", "stopping", "elsewhere", "expected"),
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
         ("paused", "The server stopped in the meantime; resume to go on.", {})),
        ("paused", [], False, True, ("paused", "as noted", {})),
        ("done", [QUEUED, STARTED, LIVE], False, False, ("done", "as noted", {})),
        ("failed", [], False, False, ("failed", "as noted", {})),
        ("cancelled", [QUEUED, STARTED, LIVE], True, True, ("cancelled", "as noted", {})),
    ],
)  # fmt: skip
def test_how_a_training_stands(noted, events, stopping, elsewhere, expected):
    history = History(state=noted, note="as noted")
    found = standing(history, events, stopping=stopping, elsewhere=lambda: elsewhere)
    assert found == expected


@pytest.mark.parametrize(("epochs", "said"), [(0, "0 epochs"), (1, "1 epoch"), (2, "2 epochs")])
def test_a_pause_says_after_how_many_epochs(epochs, said):
    note = paused(History(epochs=(EPOCH,) * epochs))
    assert note == f"Paused after {said}; resume to go on."
