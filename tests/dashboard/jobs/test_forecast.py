"""What a waiting job is told of the time that it will wait."""

import pytest

from dashboard.jobs.backend import Wait
from dashboard.jobs.fair_queue import FairQueue, Forecasts, forecast
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
    assert forecast(queue, estimate, 104.0).get(mine) == Wait(before=0, seconds=3.0)


def test_those_before_it_are_counted_in_the_order_of_turns(asked):
    queue = FairQueue(1)
    asked(queue, "a", "middle")
    queue.take().started = 100.0
    for _ in range(3):
        asked(queue, "a", "middle")
    asked(queue, "b", "short")
    mine = asked(queue, "me", "short")
    found = forecast(queue, estimate, 101.0).get(mine)
    assert found == Wait(before=2, seconds=6.0 + 3.0 + 7.0)


@pytest.mark.parametrize("running", ["unknown", "short"])
def test_no_seconds_are_said_where_the_length_of_something_is_unknown(asked, running):
    queue = FairQueue(1)
    asked(queue, "a", running)
    queue.take().started = 100.0
    mine = asked(queue, "me", "short")
    assert forecast(queue, estimate, 105.0).get(mine) == Wait(before=0)  # the short one is overdue


def test_after_one_of_unknown_length_nothing_is_known(asked):
    queue = FairQueue(1)
    first, mine = asked(queue, "a", "unknown"), asked(queue, "me", "short")
    last = asked(queue, "me", "short")
    found = forecast(queue, estimate, 105.0)
    assert [found[one].seconds for one in (first, mine, last)] == [0.0, None, None]
    queue.take().started = 100.0
    assert forecast(queue, lambda _: 5.0, 105.0)[mine].seconds == 0.0, "it is not overdue yet"


def test_what_comes_later_does_not_matter(asked):
    queue = FairQueue(1)
    asked(queue, "a", "short")
    queue.take().started = 100.0
    mine = asked(queue, "me", "short")
    asked(queue, "b", "unknown")
    assert forecast(queue, estimate, 100.0).get(mine) == Wait(before=0, seconds=3.0)


def test_the_queue_stays_as_it_is(asked):
    queue = FairQueue(1)
    first, mine = asked(queue, "a", "short"), asked(queue, "me", "short")
    assert forecast(queue, estimate, 0.0).keys() == {first, mine}
    assert (queue.running, [*queue]) == ((), [first, mine])
    assert queue.take() is first


def test_where_many_wait_a_forecast_is_kept_for_a_moment(asked):
    asked_for = []

    def counting(computation):
        asked_for.append(computation)
        return 3.0

    queue, forecasts = FairQueue(1), Forecasts(counting)
    waiting = [asked(queue, "a", "short") for _ in range(9)]
    assert forecasts.of(queue, waiting[2], 100.0) == Wait(before=2, seconds=6.0)
    looks = len(asked_for)
    assert forecasts.of(queue, waiting[8], 100.9) == Wait(before=8, seconds=24.0)
    late = asked(queue, "b", "short")
    assert forecasts.of(queue, late, 100.9) is None
    assert len(asked_for) == looks == 9
    assert forecasts.of(queue, late, 161.0) == Wait(before=1, seconds=3.0)


def test_where_few_wait_each_look_is_right(asked):
    queue, forecasts = FairQueue(1), Forecasts(lambda _: 3.0)
    first, mine = asked(queue, "a", "short"), asked(queue, "a", "short")
    assert forecasts.of(queue, mine, 100.0) == Wait(before=1, seconds=3.0)
    queue.end(first)
    assert forecasts.of(queue, mine, 100.0) == Wait(before=0, seconds=0.0)
