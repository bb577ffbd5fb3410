"""What a waiting job is told of the time that it will wait."""

import pytest

from dashboard.jobs.backend import Wait
from dashboard.jobs.fair_queue import FairQueue
from dashboard.jobs.forecast import forecast
from dashboard.jobs.job import Computation
from dashboard.records.request import Request

SECONDS = {"short": 3.0, "middle": 7.0, "slow": 20.0}  # by scoring; others are unknown


def estimate(computation):
    return SECONDS.get(computation.request.scoring)


@pytest.fixture
def asked():
    """``asked(queue, "a", "short")``: a computation that waits."""

    def add(queue, client, scoring):
        made = Computation(Request.make("regression", scoring=scoring, seed=len(queue)))
        made.join(7.0, client)
        queue.add(made)
        return made

    return add


def test_what_is_next_waits_for_the_first_worker_that_is_free(asked):
    queue = FairQueue(2)
    for scoring in ("slow", "middle"):
        asked(queue, scoring, scoring)
        queue.take().started = 100.0
    mine = asked(queue, "me", "short")
    assert forecast(queue, mine, estimate, 104.0) == Wait(before=0, seconds=3.0)


def test_those_before_it_are_counted_in_the_order_of_turns(asked):
    queue = FairQueue(1)
    asked(queue, "a", "middle")
    queue.take().started = 100.0
    for _ in range(3):
        asked(queue, "a", "middle")
    asked(queue, "b", "short")
    mine = asked(queue, "me", "short")
    found = forecast(queue, mine, estimate, 101.0)
    assert found == Wait(before=2, seconds=6.0 + 3.0 + 7.0)


@pytest.mark.parametrize("running", ["unknown", "short"])
def test_no_seconds_are_said_where_the_length_of_something_is_unknown(asked, running):
    queue = FairQueue(1)
    asked(queue, "a", running)
    queue.take().started = 100.0
    mine = asked(queue, "me", "short")
    assert forecast(queue, mine, estimate, 105.0) == Wait(before=0)  # the short one is overdue


def test_what_comes_later_does_not_matter(asked):
    queue = FairQueue(1)
    asked(queue, "a", "short")
    queue.take().started = 100.0
    mine = asked(queue, "me", "short")
    asked(queue, "b", "unknown")
    assert forecast(queue, mine, estimate, 100.0) == Wait(before=0, seconds=3.0)


def test_the_queue_stays_as_it_is(asked):
    queue = FairQueue(1)
    first, mine = asked(queue, "a", "short"), asked(queue, "me", "short")
    forecast(queue, mine, estimate, 0.0)
    assert (queue.running, [*queue]) == ((), [first, mine])
    assert queue.take() is first
