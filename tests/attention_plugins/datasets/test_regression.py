from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import registry
from attention_plugins.contract import settle
from attention_plugins.datasets.regression import PROBLEMS
from attention_plugins.regression import check_data

NAMED = {problem.name: problem for problem in PROBLEMS}


def load(name, seed=0, **values):
    return NAMED[name].load(settle(NAMED[name].parameters, values), seed)


def test_they_come_with_the_workbench():
    offered = registry.installed().datasets
    assert [spec for spec in offered.values() if spec.task == "regression"] == list(PROBLEMS)


@pytest.mark.parametrize("name", NAMED)
def test_equal_seeds_give_equal_data_in_float64(name):
    one, again, other = load(name), load(name), load(name, seed=1)
    check_data(one, name)
    for part, same in zip(one, again, strict=True):
        assert part is same is None or (torch.equal(part, same) and part.dtype == torch.float64)
    assert name == "five_points" or not torch.equal(one.y, other.y)
    assert one.x.min() >= 0
    assert one.x.max() <= 5


@pytest.mark.parametrize("name", [n for n in NAMED if n not in ("five_points", "plane")])
def test_without_noise_the_points_lie_on_the_truth(name):
    textbook = torch.arange(0, 5, 0.1, dtype=torch.float64)
    torch.testing.assert_close(load(name).queries[:, 0], textbook)
    (said,) = (one.help for one in NAMED[name].parameters if one.name == "queries")
    assert f"the last of {len(textbook)} is {textbook[-1]:g}" in said
    data = load(name, points=2, noise=0.0, queries=500)
    assert (data.x.diff(dim=0) >= 0).all()
    assert data.queries[[0, 1, 499], 0].tolist() == pytest.approx([0.0, 0.01, 4.99])
    nearest = (data.queries - data.x.T).abs().argmin(dim=0)
    torch.testing.assert_close(data.truth[nearest], data.y, atol=0.1, rtol=0)


def test_sine_is_the_textbooks_function():
    data = load("sine")
    assert (len(data.x), len(data.queries)) == (50, 50)
    assert data.queries[:3, 0].tolist() == pytest.approx([0.0, 0.1, 0.2])
    for x, y in zip(data.queries[:, 0].tolist(), data.truth.tolist(), strict=True):
        assert y == pytest.approx(2 * math.sin(x) + x**0.8)


@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_noise_has_the_spread_asked_for(noise):
    noisy, clean = load("sine", points=500, noise=noise), load("sine", points=500, noise=0.0)
    assert torch.equal(noisy.x, clean.x)
    assert (noisy.y - clean.y).std().item() == pytest.approx(noise, rel=0.1)


def test_growing_noise_grows_and_outliers_are_a_tenth():
    left, right = (
        load("growing_noise", points=500).y - load("growing_noise", points=500, noise=0.0).y
    ).chunk(2)
    assert right.std() > 2 * left.std()
    thrown = load("outliers", points=500).y - load("sine", points=500).y
    assert 0.05 < (thrown.abs() > 1e-9).double().mean() < 0.15


def test_an_outliers_noise_is_eight_times_the_others():
    usual, thrown = load("sine", points=500), load("outliers", points=500)
    assert torch.equal(usual.x, thrown.x)
    clean = load("sine", points=500, noise=0.0).y
    times = ((thrown.y - clean) / (usual.y - clean)).round(decimals=6)
    assert sorted(set(times.tolist())) == [1.0, 8.0]


def test_step_jumps_in_the_middle():
    truth = load("step", queries=500).truth
    assert truth.diff().nonzero().tolist() == [[249]]
    assert (truth[0], truth[-1]) == (-1, 1)


def test_doppler_turns_ever_more_slowly():
    truth = load("doppler", queries=500).truth[25:]  # before, it turns faster than the queries
    crossings = truth.sign().diff().nonzero()[:, 0]
    gaps = crossings.diff().tolist()
    assert len(gaps) > 5
    assert gaps == sorted(gaps)
    assert gaps[-1] > 5 * gaps[0]


def test_plane_is_flat_on_a_square_grid():
    data = load("plane", queries=7)
    assert data.queries.shape == (49, 2)
    fitted = torch.linalg.lstsq(data.queries, data.truth[:, None])
    assert fitted.solution[:, 0].tolist() == pytest.approx([1.0, -0.5])


def test_five_points_ask_at_themselves():
    data = load("five_points")
    assert data.x[:, 0].tolist() == [1.3261, 1.7632, 2.2849, 3.7667, 4.0057]
    assert data.y.tolist() == [3.3744, 3.9904, 3.9660, 1.5305, 1.4809]
    assert torch.equal(data.queries, data.x)
    assert data.truth is None
