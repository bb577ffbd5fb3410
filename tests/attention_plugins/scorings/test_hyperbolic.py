"""Hyperbolic distance: the formula, near and far, and trees."""

from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import Sizes, attend
from attention_plugins.scorings.hyperbolic import HYPERBOLIC, hyperbolic_distances


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def distance(one, other):
    """The inverse hyperbolic cosine of minus the Lorentzian product of two lifted points."""
    first, second = (math.sqrt(1 + sum(x * x for x in point)) for point in (one, other))
    return math.acosh(first * second - sum(map(float.__mul__, one, other)))


def test_weights_are_those_of_a_loop():
    scoring = HYPERBOLIC.create(Sizes(5, 5, 11), {"beta": 1.5}).double()
    with torch.no_grad():
        scoring.learned_beta.neg_()  # as descent may
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    _, weights = attend(scoring, queries, keys, keys, torch.tensor([13, 5]))
    for row, length in enumerate((13, 5)):
        for i, query in enumerate(queries[row].tolist()):
            parts = [math.exp(-1.5 * distance(query, key)) for key in keys[row, :length].tolist()]
            wanted = [part / sum(parts) for part in parts] + [0.0] * (13 - length)
            assert weights[row, i].tolist() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_it_is_a_distance_and_the_way_from_the_origin_is_the_radius(size):
    points = 3 * draw(12, size)
    found = hyperbolic_distances(points, points)
    torch.testing.assert_close(found, found.mT)
    assert float(found.diagonal().max()) < 1e-6
    assert (found[:, None] <= found[..., None] + found + 1e-9).all()  # no way round is shorter
    origin = hyperbolic_distances(points, torch.zeros(1, size).double())[:, 0]
    torch.testing.assert_close(origin, torch.asinh(points.norm(dim=-1)))


@pytest.mark.parametrize("away", [1e-6, 1e-3, 1.0])
def test_near_points_far_from_the_origin_keep_their_digits(away):
    """At 1,000 the cosine is 10^6, whose digits leave nothing of a distance of 10^-6."""
    radius = math.asinh(1000.0)
    query, key = (draw(1, 1) * 0 + math.sinh(radius + more) for more in (0.0, away))
    assert float(hyperbolic_distances(query, key)) == pytest.approx(away, rel=1e-4)
    origin, near = torch.zeros(1, 1).double(), torch.full((1, 1), away * 1e-6).double()
    assert float(hyperbolic_distances(origin, near)) == pytest.approx(away * 1e-6, rel=1e-9)


def binary_tree(depth):
    """The number of steps between each two nodes; node n has the children 2 n + 1 and 2 n + 2."""
    nodes = 2 ** (depth + 1) - 1
    steps = torch.zeros(nodes, nodes)
    for one in range(nodes):
        for other in range(nodes):
            a, b = one + 1, other + 1
            while a != b:
                a, b = (a // 2, b) if a > b else (a, b // 2)
                steps[one, other] += 1
    return steps


def stretch(distances, steps):
    """How far distances are from 0.7 a step, on average: the best of 8 random starts."""
    off, wanted = ~torch.eye(len(steps), dtype=torch.bool), 0.7 * steps.clamp_min(1)
    points = draw(8, len(steps), 2, seed=4).float().requires_grad_()
    optimiser = torch.optim.Adam([points], lr=0.3)
    for _ in range(300):
        optimiser.zero_grad()
        (distances(points, points) / wanted - 1)[:, off].square().mean(-1).sum().backward()
        optimiser.step()
    with torch.no_grad():
        return float((distances(points, points) / wanted - 1)[:, off].abs().mean(-1).min())


@pytest.mark.slow
def test_a_tree_fits_into_two_dimensions_better_than_on_a_plane():
    """Points of 31 nodes, learned by gradient descent so that distances are steps."""

    def euclidean(one, other):
        return (one.unsqueeze(-2) - other.unsqueeze(-3)).square().sum(-1).clamp_min(1e-12).sqrt()

    steps = binary_tree(4)
    assert stretch(hyperbolic_distances, steps) < 0.5 * stretch(euclidean, steps)
