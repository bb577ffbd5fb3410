"""The loss by step is thinned, and handed on in time."""

from types import SimpleNamespace

import pytest

from dashboard.features.training.task_figures import Losses


class Clock:
    """Seconds that pass as it is told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def steps(epochs, steps, loss=float):
    """As a trainer reports them."""
    return [
        SimpleNamespace(
            epoch=e + 1, epochs=epochs, step=n + 1, steps=steps, step_loss=loss(e * steps + n + 1)
        )
        for e in range(epochs)
        for n in range(steps)
    ]


def test_the_first_step_is_handed_on_at_once_and_the_others_once_a_second():
    kept, clock = [], Clock()
    losses = Losses(lambda points: kept.append([*points]), clock)
    for now in steps(1, 5):
        losses.add(now)
        clock.now += 0.4
    assert kept == [[(1, 1.0)], [(2, 2.0), (3, 3.0), (4, 4.0)]]
    losses.flush()
    losses.flush()
    assert kept[2:] == [[(5, 5.0)]]


def test_of_many_steps_each_point_is_the_mean_since_the_one_before():
    kept = []
    losses = Losses(kept.extend)
    for now in steps(7, 171):  # 1,197 steps, 3 for a point
        losses.add(now)
    losses.flush()
    assert [step for step, _ in kept] == [1, *range(3, 1198, 3)]
    assert kept[0] == (1, 1.0)
    assert kept[1] == (3, 2.5)
    assert kept[-1][1] == pytest.approx(1196)
