import math

import numpy as np
import pytest

from attention_plugins.race import regressing
from attention_plugins.race.data import POINTS, problem_of
from attention_plugins.race.records import Budget, Contestant, Trial
from attention_plugins.race.regressing import regress

BUDGET = Budget(examples=30, epochs=10, batch_size=30, rates=(0.1,))


def regressed(scoring, seed=0, task="sine", **more):
    who = Contestant(model="nadaraya_watson", scoring=scoring)
    return regress(Trial(task=task, contestant=who, rate=0.1, seed=seed, **more), BUDGET)


def drawn(points, seed):
    data, truth = problem_of("sine", points, seed)
    return [part.numpy() for part in (data.x[:, 0], data.y, data.queries[:, 0], truth)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_mean_is_as_wrong_as_numpy_says(seed):
    found = regressed("uniform", seed)
    x, y, queries, truth = drawn(30, seed)
    squares = (y.mean() - truth) ** 2
    away = np.abs(queries[:, None] - x).min(axis=1)
    near = away <= np.sort(away)[(len(away) - 1) // 2]
    copied = (y[np.abs(queries[:, None] - x).argmin(axis=1)] - truth) ** 2
    assert found.quality == pytest.approx(squares.mean(), rel=1e-4)
    assert found.parts == {
        "near": pytest.approx(squares[near].mean(), rel=1e-4),
        "far": pytest.approx(squares[~near].mean(), rel=1e-4),
        "copied": pytest.approx(copied.mean(), rel=1e-4),
    }
    left_out = [(y[i] - np.delete(y, i).mean()) ** 2 for i in range(30)]
    assert found.validation == pytest.approx(np.mean(left_out), rel=1e-4)


def test_more_points_are_others_and_nothing_is_learned_anew():
    found = regressed("uniform", seed=2)
    assert [n for n, _ in found.curve] == list(POINTS)
    for n, error in found.curve:
        _, y, _, truth = drawn(int(n), 3)
        assert error == pytest.approx(((y.mean() - truth) ** 2).mean(), rel=1e-4)


def test_a_width_is_learned_and_the_first_seed_keeps_its_curve():
    found = regressed("gaussian")
    assert found.losses[-1] < found.losses[0]
    assert found.parameters == 1
    assert found.milliseconds > 0
    assert found.example
    _, _, _queries, truth = drawn(30, 0)
    assert found.example.truth == pytest.approx(truth, abs=1e-4)
    errors = (np.array(found.example.predicted) - truth) ** 2
    assert found.quality == pytest.approx(errors.mean(), rel=1e-3)
    assert regressed("gaussian", seed=1).example is None
    assert regressed("gaussian", task="plane").example is None


def test_choosing_a_rate_sees_nothing_of_what_is_reported():
    found = regressed("gaussian", seed=1_000_000, tuning=True)
    assert math.isfinite(found.validation)
    assert math.isnan(found.quality)
    assert not found.parts
    assert not found.curve


def test_a_rate_is_chosen_by_what_the_training_points_say_alone():
    found = regressed("uniform", seed=1_000_000, tuning=True)
    _, y, _, truth = drawn(30, 1_000_000)
    left_out = np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(30)])
    assert found.validation == pytest.approx(left_out, rel=1e-4)
    assert found.validation != pytest.approx(((y.mean() - truth) ** 2).mean(), rel=1e-2)


@pytest.mark.parametrize(
    ("times", "milliseconds"),
    [([0.0, 9.0, 9.5, 10.0], 500.0), ([0.0, 5.0, 8.0, 8.1, 8.3], 150.0), ([0.0, 1.0], None)],
)
def test_the_first_half_of_the_steps_is_not_timed(times, milliseconds):
    found = regressing._milliseconds(times)
    assert found == pytest.approx(milliseconds) if milliseconds else math.isnan(found)


def test_weights_begin_as_the_seed_says(monkeypatch):
    seeds, real = [], regressing.seeded
    monkeypatch.setattr(regressing, "seeded", lambda seed: seeds.append(seed) or real(seed))
    regressed("uniform", 3)
    assert seeds == [3]


def test_a_contestant_learns_at_the_trials_rate_and_some_of_its_losses_are_kept(monkeypatch):
    monkeypatch.setattr(regressing, "_LOSSES", 3)
    who = Contestant(model="nadaraya_watson", scoring="gaussian")
    slow, fast = (
        regress(Trial(task="sine", contestant=who, rate=rate, seed=0), BUDGET)
        for rate in (0.001, 0.3)
    )
    assert slow.losses[0] == fast.losses[0]
    assert slow.validation != fast.validation
    assert abs(slow.losses[-1] - slow.losses[0]) < abs(fast.losses[-1] - fast.losses[0])
    assert 3 <= len(slow.losses) < 6
