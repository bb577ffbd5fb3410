"""When a crew that serves may start one more worker."""

import math

import pytest

from dashboard.jobs.crew import Starts


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def starts(clock):
    return Starts(3.0, clock)


def test_the_others_wait_until_the_first_has_taken_no_job_for_a_while(starts, clock):
    assert starts.seconds_until_next() == math.inf
    starts.note_job(counts=True)
    assert starts.seconds_until_next() == 3.0
    clock.now += 2.0
    starts.note_job(counts=True)
    assert starts.seconds_until_next() == 3.0
    clock.now += 5.0
    assert starts.seconds_until_next() == -2.0


def test_they_wait_no_longer_than_four_times_as_long(starts, clock):
    for _ in range(6):
        starts.note_job(counts=True)
        clock.now += 2.0
    assert starts.seconds_until_next() == 0.0


def test_a_worker_that_goes_does_not_count(starts):
    starts.note_job(counts=False)
    assert starts.seconds_until_next() == math.inf
    starts.note_job(counts=True)
    starts.begin()
    assert starts.seconds_until_next() == math.inf


def test_three_failures_in_a_row_are_too_many_until_somebody_asks(starts):
    for _ in range(2):
        starts.note_failure()
    starts.note_job(counts=False)
    for _ in range(2):
        starts.note_failure()
    assert not starts.given_up
    starts.try_again()
    starts.note_failure()
    assert starts.given_up  # two were not forgotten
    starts.try_again()
    assert not starts.given_up
