"""Times of the regression task: what is done for the first time does not count."""

import time
from types import SimpleNamespace

import pytest

from dashboard.features.regression import task
from dashboard.features.regression.task import StepClock, again
from dashboard.records.request import Request


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


@pytest.mark.parametrize("timed", [True, False])
def test_what_a_worker_does_once_at_its_first_prediction_does_not_count(monkeypatch, timed):
    passed, predict = [0.0], task.predict

    def predicted(*given, **options):
        passed[0] += 0.0 if passed[0] else 60.0
        return predict(*given, **options)

    monkeypatch.setattr(task, "predict", predicted)
    clock = SimpleNamespace(perf_counter=lambda: passed[0] + time.perf_counter())
    monkeypatch.setattr(task, "time", clock)
    context = SimpleNamespace(report=lambda *said: None, stopped=lambda: False, timed=timed)
    facts = task.perform(Request(task="regression", scoring="=-|q - k|^p"), context).facts
    assert facts["work_seconds"] < 60 < facts["seconds"]
