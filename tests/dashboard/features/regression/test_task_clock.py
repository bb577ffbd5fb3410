"""Times of the regression task: what is done for the first time does not count."""

import pytest

from dashboard.features.regression.task import StepClock, again


class Clock:
    """Seconds that pass as they are told."""

    def __init__(self, *durations):
        self.now, self.durations = 0.0, [*durations]

    def __call__(self):
        return self.now

    def work(self):
        self.now += self.durations.pop(0)


def test_the_first_update_is_taken_to_be_as_long_as_the_others():
    clock = Clock(0.0, 60.0, 2.0, 2.0, 2.0)
    steps = StepClock(clock)
    for _ in range(5):
        clock.work()
        steps()
    assert steps.seconds() == pytest.approx(4 * 2.0)


def test_without_learning_no_time_is_counted():
    assert StepClock().seconds() == 0.0


def test_a_short_action_is_done_again_and_its_shortest_time_counts():
    clock = Clock(0.002, 0.001, 0.003, 0.002, 0.002)
    assert again(clock.work, 0.2, clock) == pytest.approx(0.001)
    assert clock.durations == []


def test_a_longer_action_is_done_once_more_and_a_long_one_not_at_all():
    clock = Clock(0.05, 0.05)
    assert again(clock.work, 0.2, clock) == pytest.approx(0.05)
    assert again(clock.work, 3.0, clock) == 3.0
    assert clock.durations == [0.05]
