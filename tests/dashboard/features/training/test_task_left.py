"""The time left follows from the steps done, without the first, and stands steady."""

from types import SimpleNamespace

import pytest

from dashboard.features.training.task_figures import TimeLeft


def run(epochs, steps, seconds_of, evaluation=0.0):
    """What is said after each step; a step takes ``seconds_of(its number)``."""
    now = [0.0]
    left = TimeLeft(lambda: now[0])
    found = []
    for epoch in range(epochs):
        for step in range(steps):
            now[0] += seconds_of(epoch * steps + step)
            at = SimpleNamespace(epoch=epoch + 1, epochs=epochs, step=step + 1, steps=steps)
            found.append(left.after(at))
        now[0] += evaluation
    return found


def test_the_first_step_is_warm_up_and_says_nothing():
    first, second, *_ = run(2, 5, lambda number: 60.0 if number == 0 else 2.0)
    assert first == {"seconds_left": None, "seconds_whole": None}
    assert second == {"seconds_left": pytest.approx(16), "seconds_whole": pytest.approx(20)}


def test_what_an_epoch_takes_at_its_end_counts_once_it_was_seen():
    found = run(3, 4, lambda _: 1.0, evaluation=6.0)
    assert found[3]["seconds_left"] == pytest.approx(8)  # of steps alone
    assert found[4]["seconds_left"] == pytest.approx(7 + 2 * 6)
    assert found[4]["seconds_whole"] == pytest.approx(12 + 3 * 6)


def test_it_does_not_jump_with_each_step():
    """A step takes 0.9 or 1.1 s: the end that is said stays where it was."""
    found = run(1, 100, lambda number: 0.9 if number % 2 else 1.1)
    ends = [sum((0.9 if n % 2 else 1.1) for n in range(i + 1)) + one["seconds_left"]
            for i, one in enumerate(found) if one["seconds_left"] is not None]  # fmt: skip
    assert len({round(end, 6) for end in ends[:60]}) <= 2


def test_it_follows_a_machine_that_becomes_slower():
    found = run(1, 100, lambda number: 1.0 if number < 20 else 3.0)
    assert found[79]["seconds_left"] == pytest.approx(20 * (19 + 180) / 79, rel=0.15)
    assert found[-1]["seconds_left"] <= 1.0
