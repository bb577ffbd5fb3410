from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from attention_plugins import ModelSizes, Parameter, fitting, registry, scoring
from attention_plugins.datasets.regression import PROBLEMS
from attention_plugins.fitting import (
    NotFiniteError,
    _descent,
    adam_steps,
    fit,
    learned_values,
    sgd_steps,
)
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON

ROOT = Path(__file__).parents[2]
SINE = next(problem for problem in PROBLEMS if problem.name == "sine")
GAUSSIAN = registry.installed().scoring("gaussian")


def sine(seed=0, points=50):
    return SINE.load({"points": points, "noise": 0.5, "queries": 7}, seed)


def model(spec=GAUSSIAN, **parameters):
    torch.manual_seed(0)
    return NADARAYA_WATSON.create(spec.factory(parameters), ModelSizes(1, 1)).double()


def summed_error_and_slope(w, x, y):
    """Leave-one-out squared error of softmax(-((x - x_i) w)^2 / 2) and its derivative in w."""
    total = slope = 0.0
    for i in range(len(x)):
        squares = np.delete((x - x[i]) ** 2, i)
        values = np.delete(y, i)
        weights = np.exp(-0.5 * squares * w**2)
        weights /= weights.sum()
        prediction = weights @ values
        moved = weights @ (values * -w * squares) - prediction * (weights @ (-w * squares))
        total += (prediction - y[i]) ** 2
        slope += 2 * (prediction - y[i]) * moved
    return total, slope


def test_the_summed_loss_steps_as_the_textbook_does():
    data = sine()
    x, y = data.x[:, 0].numpy(), data.y.numpy()
    net = model(width=2.0)
    done = fit(net, data, GAUSSIAN.parameters, epochs=5, loss="sum")
    w = float(torch.tensor(0.5))  # the weight was made in float32
    for step in done.history:
        loss, slope = summed_error_and_slope(w, x, y)
        assert step.loss == pytest.approx(loss, rel=1e-9)
        assert step.learned["width"] == pytest.approx(1 / abs(w), rel=1e-9)
        w -= 0.5 * slope
    assert len(done.history) == 6
    assert done.history[1].learned["width"] < 0.5  # one such step jumps over the optimum


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_default_learns_the_width_that_a_grid_finds(seed):
    data = sine(seed)
    x, y = data.x[:, 0].numpy(), data.y.numpy()
    grid = np.geomspace(0.02, 2.0, 400)
    losses = [summed_error_and_slope(1 / width, x, y)[0] / len(x) for width in grid]
    best = int(np.argmin(losses))
    done = fit(model(), data, GAUSSIAN.parameters)
    last = done.history[-1]
    assert last.learned["width"] == pytest.approx(grid[best], rel=0.02)
    assert last.loss <= losses[best] * 1.0001
    assert done.history[0].learned["width"] == 1.0
    assert done.history[0].loss > 1.1 * last.loss
    assert done.note == "Learned 1 weight in 200 steps, leaving out each point in turn."


def test_the_unit_of_y_does_not_change_what_is_learned():
    data = sine()
    large = data._replace(y=data.y * 1e6 + 1e7)
    one = fit(model(), data, GAUSSIAN.parameters, epochs=29).history[-1]
    other = fit(model(), large, GAUSSIAN.parameters, epochs=29).history[-1]
    assert other.learned["width"] == pytest.approx(one.learned["width"], rel=1e-6)
    assert other.loss == pytest.approx(one.loss * 1e12, rel=1e-6)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("name", ["additive", "bilinear"])
def test_weight_matrices_are_learned_too(name, optimiser):
    spec = registry.installed().scoring(name)
    done = fit(model(spec), sine(), spec.parameters, epochs=53, optimiser=optimiser)
    assert done.history[-1].loss < 0.99 * done.history[0].loss
    assert done.history[-1].learned == {}


@pytest.mark.parametrize("name", ["uniform", "dot", "scaled_dot"])
def test_a_scoring_without_weights_has_nothing_to_learn(name):
    spec = registry.installed().scoring(name)
    done = fit(model(spec), sine(), spec.parameters)
    assert done == ([], "Nothing to learn: this scoring has no weights.")


def test_a_parameter_of_a_plain_function_is_followed():
    slope = Parameter(name="slope", title="Slope", default=2.0, low=0.0, high=9.0, learnable=True)

    @scoring("tent", formula="-s|q-k|", parameters=(slope,))
    def tent(queries, keys, slope):
        return -slope * (queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)

    net = model(tent, slope=3.0)
    assert learned_values(net, tent.parameters) == {"slope": 3.0}
    last = fit(net, sine(), tent.parameters, epochs=31).history[-1]
    assert last.learned == learned_values(net, tent.parameters) != {"slope": 3.0}


def test_a_loss_that_is_lost_ends_learning_and_the_best_weights_stay():
    @scoring(
        "brittle",
        formula=r"\sqrt{4-s}",
        parameters=(Parameter(name="s", title="S", default=1.0, low=0, high=9, learnable=True),),
    )
    def brittle(queries, keys, s):
        near = -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(-1)
        return near * s * torch.sqrt((3.0 - s).sign())  # NaN as soon as s passes 3

    net = model(brittle)
    done = fit(net, sine(), brittle.parameters, lr=60.0)
    best = min(done.history, key=lambda step: step.loss)
    assert learned_values(net, brittle.parameters) == best.learned
    stop = len(done.history)
    assert 0 < stop < 200
    assert done.note.startswith(f"Learning stopped at step {stop}, where the loss was no longer")
    assert f"step {best.number}, loss {best.loss:.4g}" in done.note
    assert done.note.endswith("and a learning rate below 60 may go further.")
    chosen = fit(model(brittle, s=2.9), sine(), brittle.parameters)  # with the usual rate
    assert chosen.note.endswith("and a learning rate below 5 may go further.")


def test_scores_that_are_never_finite_are_refused():
    @scoring(
        "broken",
        formula="0/0",
        parameters=(Parameter(name="s", title="S", default=1.0, low=0, high=9, learnable=True),),
    )
    def broken(queries, keys, s):
        return queries @ keys.mT * s * math.nan

    with pytest.raises(NotFiniteError, match="not finite before learning starts"):
        fit(model(broken), sine(), broken.parameters)


def test_whoever_watches_sees_every_step_and_may_stop():
    seen = []

    def watch(step):
        seen.append(step.number)
        if step.number == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(model(), sine(), GAUSSIAN.parameters, watch)
    assert seen == [0, 1, 2, 3]


def test_a_constant_y_is_no_division_by_zero():
    data = sine()
    done = fit(model(), data._replace(y=torch.full_like(data.y, 7.0)), epochs=3)
    assert [step.loss for step in done.history] == pytest.approx([0.0] * 4)


def test_points_left_out_are_counted_in_the_note():
    done = fit(model(), sine(points=2503), GAUSSIAN.parameters, epochs=1)
    assert "leaving out 1,675 of 2,503 points, evenly picked, in turn" in done.note


def test_a_step_of_many_points_leaves_out_a_part_of_those_that_all_leave_out(monkeypatch):
    """So that it costs no more; no point is forgotten, and none comes twice."""
    monkeypatch.setattr(fitting, "_EACH_STEP", 3 * 31)
    monkeypatch.setattr(fitting, "_FEWEST", 11)
    steps, whole = [], fitting.leave_one_out

    def watched(model, x, y, rows):
        steps.append(rows.tolist())
        return whole(model, x, y, rows)

    monkeypatch.setattr(fitting, "leave_one_out", watched)
    done = fit(model(), sine(points=31), GAUSSIAN.parameters, epochs=7)
    assert [len(rows) for rows in steps] == [3, 3, 3, 2] * 2
    assert sorted(row for step in steps[:4] for row in step) == fitting.left_out(31).tolist()
    assert steps[4:] == steps[:4]
    assert "leaving out 11 of 31 points, evenly picked, 3 a step, in turn" in done.note


# torch's own optimisers are what the steps are compared with


def quadratic(weights):
    """Steeper in some directions than in others, and the second weight has no gradient."""
    return (torch.arange(1.0, 4.0) * (weights[0] - 1).square()).sum() + weights[2].pow(4).sum()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (sgd_steps, lambda weights: torch.optim.SGD(weights, lr=1.0)),
        (
            lambda weights: sgd_steps(weights, 0.9),
            lambda weights: torch.optim.SGD(weights, lr=1.0, momentum=0.9, nesterov=True),
        ),
        (adam_steps, lambda weights: torch.optim.Adam(weights, lr=1.0)),
    ],
    ids=["sgd", "momentum", "adam"],
)
def test_steps_are_those_of_the_optimisers_of_torch(ours, theirs):
    starts = [torch.zeros(3), torch.ones(2), torch.full((2, 2), 2.0)]
    mine, other = ([nn.Parameter(s.clone()) for s in starts] for _ in range(2))
    move, optimiser = ours(mine), theirs(other)
    for rate in (0.01, 0.03, 0.02, 0.001):
        for weight in [*mine, *other]:
            weight.grad = None
        quadratic(mine).backward()
        quadratic(other).backward()
        move(rate)
        optimiser.param_groups[0]["lr"] = rate
        optimiser.step()
        for moved, expected in zip(mine, other, strict=True):
            assert torch.equal(moved, expected)
    assert not torch.equal(mine[0], starts[0])
    assert torch.equal(mine[1], starts[1])


@pytest.mark.slow
def test_learning_leaves_the_compiler_of_torch_alone():
    code = (
        "import sys\n"
        "from tests.attention_plugins.test_fitting import GAUSSIAN, fit, model, sine\n"
        "for optimiser in ('sgd', 'adam'):\n"
        "    assert len(fit(model(), sine(), epochs=2, optimiser=optimiser).history) == 3\n"
        "print('torch._dynamo' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_the_rate_falls_along_a_cosine_to_nothing():
    weight = nn.Parameter(torch.ones(()))
    update = _descent([weight], "mean", "adam", 0.1, epochs=4)
    rates = []
    for _ in range(4):
        before = weight.item()
        update(weight * 1e-3)  # a constant gradient, along which Adam moves by the rate itself
        rates.append(before - weight.item())
    expected = [0.1 * (1 + math.cos(math.pi * done / 4)) / 2 for done in range(4)]
    assert rates == pytest.approx(expected, rel=1e-3)
