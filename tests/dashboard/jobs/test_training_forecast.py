"""When trainings start and end: the queue is served in its order, as fast as what is alike."""

from dataclasses import replace

import pytest

from dashboard.jobs.training_status import expected, forecast
from dashboard.records.request import Request
from dashboard.records.training import Ahead, Epoch, Training


def training(id, state="queued", *, scoring="additive", epochs=7, live=None, done=0, **options):
    request = Request.make(
        "training", model="bahdanau", scoring=scoring, data="pairs",
        options={"recipe.epochs": epochs, "pairs": 401, **options},
    )  # fmt: skip
    past = tuple(
        Epoch(epoch=n + 1, loss=1.0, seconds=3.0, tokens_per_second=1.0, bleu=None, probe="",
              evaluation_seconds=2.0)
        for n in range(done)
    )  # fmt: skip
    return Training(
        id=id, request=request, created=0.0, state=state, note="", live=live or {}, epochs=past
    )


LIVE = {"epochs": 7, "seconds_left": 50.0, "seconds_whole": 70.0}


def ahead(trainings, jobs, workers=1):
    return {one.id: one.ahead for one in forecast(trainings, jobs, workers)}


def test_what_waits_starts_when_those_before_it_are_done():
    known = [
        training("c", scoring="scaled_dot"), training("b", seed=1),
        training("a", "running", live=LIVE),
    ]  # fmt: skip
    known[1] = replace(known[1], request=replace(known[2].request, seed=1))
    assert ahead(known, {"a": None, "c": 1, "b": 0}) == {
        "a": Ahead(starts_in=0.0, left=50.0),
        "b": Ahead(before=0, starts_in=50.0, left=120.0),
        "c": Ahead(before=1, starts_in=120.0, left=190.0),
    }
    two = ahead(known, {"a": None, "c": 1, "b": 0}, workers=2)
    assert (two["b"].starts_in, two["c"].starts_in) == (0.0, 50.0)


def test_what_is_done_already_takes_no_time_again():
    """Of a training that was paused and is in the queue again."""
    known = [training("b", done=5), training("a", "running", live=LIVE)]
    assert ahead(known, {"a": None, "b": 0})["b"] == Ahead(before=0, starts_in=50.0, left=60.0)


def test_nothing_is_said_where_a_length_is_not_known():
    known = [training("b", pairs=13), training("a", "running", live={})]
    found = ahead(known, {"a": None, "b": 0})
    assert found == {
        "a": Ahead(starts_in=0.0),
        "b": Ahead(before=0, starts_in=None, left=None),
    }


def test_one_that_another_server_runs_takes_no_trainer_here():
    found = ahead([training("b"), training("a", "running")], {"b": 0})
    assert found == {"a": Ahead(), "b": Ahead(before=0, starts_in=0.0)}


@pytest.mark.parametrize(
    ("fields", "done", "seconds"),
    [
        ({}, 0, 7 * 5.0), ({"epochs": 4}, 0, 4 * 5.0), ({}, 3, 4 * 5.0),
        ({"scoring": "scaled_dot"}, 0, 7 * 5.0), ({"probe": "Go."}, 0, 7 * 5.0),
        ({"pairs": 13}, 0, None), ({}, 7, None),
    ],
)  # fmt: skip
def test_a_training_takes_as_long_as_one_that_is_alike(fields, done, seconds):
    known = [training("a", "done", done=7)]
    assert expected(training("b", **fields).request, known, done) == seconds


def test_another_device_is_another_speed():
    known = [training("a", "done", done=7)]
    assert expected(replace(known[0].request, device="cuda:0"), known) is None


def test_the_same_scoring_counts_more_than_another():
    slow = training("b", "running", scoring="scaled_dot", live=LIVE | {"seconds_whole": 700.0})
    known = [slow, training("a", "done", done=7)]
    assert expected(training("c").request, known) == 35.0
    assert expected(training("c", scoring="cosine").request, known) == 700.0
