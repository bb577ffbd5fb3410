"""The stops of the slider of epochs, and where its axis ends."""

from types import SimpleNamespace

import pytest

from dashboard.features.training.view import last_epoch, reached, stops
from dashboard.records.training import EPOCHS


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
