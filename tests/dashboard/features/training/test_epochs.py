"""The stops of the slider of epochs, and where its axis ends."""

from types import SimpleNamespace

import pytest

from dashboard.features.training.view import (
    last_epoch,
    outlook,
    planned,
    progress,
    reached,
    stops,
    waiting,
)
from dashboard.records.training import EPOCHS, Ahead


def training(state, done, asked=0, live=None):
    return SimpleNamespace(
        state=state, epochs=(None,) * done, live=live or {},
        request=SimpleNamespace(options=((EPOCHS, asked),)),
    )  # fmt: skip


@pytest.mark.parametrize("last", [1, 2, 7, 199, 200, 201, 399, 1_003])
def test_the_slider_stops_at_the_last_epoch_and_at_even_steps_before(last):
    *even, end = stops(last)
    assert end == last
    assert even == list(range(even[0], last, even[0])) if even else last == 1
    assert len(even) <= 200


def test_every_epoch_is_a_stop_where_there_are_few():
    assert stops(0) == []
    assert stops(5) == [1, 2, 3, 4, 5]
    assert stops(401) == [*range(3, 401, 3), 401]


def test_the_axis_ends_where_trainings_will_or_did():
    running, ended = training("running", 3, asked=9), training("cancelled", 5, asked=40)
    assert last_epoch({"a": running, "b": ended}) == 9
    assert last_epoch({"b": ended}) == 5
    assert last_epoch({"a": training("running", 3, asked=9, live={"epochs": 11})}) == 11
    assert reached({"a": running, "b": ended}) == 5


def test_a_training_has_as_many_epochs_as_it_runs_for_was_asked_for_or_took():
    assert planned(training("running", 2, 7, {"epochs": 9})) == 9
    assert planned(training("queued", 2, 7)) == 7
    assert planned(training("paused", 5)) == 5


def test_an_axis_ends_where_a_training_ended_or_where_one_is_to_end():
    ended = {state: training(state, 3, 40) for state in ("done", "failed", "cancelled")}
    assert last_epoch(ended) == 3
    assert last_epoch({**ended, "a": training("running", 1, 11)}) == 11
    assert last_epoch({"a": training("done", 0)}) == 1
    assert reached({"a": training("done", 3), "b": training("done", 5)}) == 5
    assert reached({}) == 0


def waits(state="queued", note="", live=None, **ahead):
    return SimpleNamespace(state=state, note=note, live=live or {}, ahead=Ahead(**ahead))


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        ({}, "It waits."), ({"before": 0}, "Next in the queue."),
        ({"before": 0, "starts_in": 300.0}, "Next in the queue. Starts in about 5 minutes."),
        ({"before": 1}, "1 training before it in the queue."),
        ({"before": 2, "starts_in": 10.0},
         "2 trainings before it in the queue. Starts in about 10 s."),
        ({"before": 2, "starts_in": 0.0}, "2 trainings before it in the queue."),
    ],
)  # fmt: skip
def test_a_training_that_waits_says_its_place_and_when_it_starts(ahead, said):
    assert waiting(waits(note="It waits.", **ahead)) == said


def test_how_far_a_training_is_is_told_with_the_time_where_that_is_known():
    live = {"epoch": 2, "epochs": 7, "step": 1301, "steps": 5000}
    assert progress(waits(live=live)) == "epoch 2 of 7 · step 1,301 of 5,000"
    assert progress(waits(live=live, left=120.0)).endswith(" of 5,000 · about 2 minutes left")


def test_when_all_will_be_done_is_told_of_several_that_are_all_known():
    some = [waits("running", left=10.0), waits("queued", left=300.0)]
    assert outlook(some) == "2 trainings run or wait; the last will be done in about 5 minutes."
    assert outlook([*some, waits("done", left=7200.0)]) == outlook(some)
    assert outlook(some[:1]) == outlook([]) == outlook([*some, waits("queued")]) == ""
