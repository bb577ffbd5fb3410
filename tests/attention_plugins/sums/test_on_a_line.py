"""Fast sums on a line against the same sums term by term."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.kernel_means import KERNELS, make, means

from attention_plugins import RadialScoring, Smooth, Window
from attention_plugins.sums import _on_a_line, line, pool_with_and_without, pool_without_weights
from attention_plugins.sums.levels import Boxes, _parents
from attention_plugins.sums.line import decaying_moments
from attention_plugins.sums.smooth import boxed, moments, sizes

RANDOM = np.random.default_rng(7)
UNIFORM = RANDOM.uniform(0, 5, 307)
CLUSTERS = np.concatenate([RANDOM.normal(place, 1e-3, 101) for place in (-7.0, 0.0, 0.5, 90.0)])
POINTS = {
    "uniform": (UNIFORM, RANDOM.uniform(-1, 6, 211)),
    "clusters": (CLUSTERS, np.linspace(-10, 100, 211)),
    "outliers": (np.append(UNIFORM, [1e6, -3e5]), np.array([2.0, 4e5, 1e6, 1.1e6, -1e7])),
    "duplicates": (np.repeat([0.0, 1.0, 1.0, 2.5, 7.0], 61), np.array([0.0, 1.0, 1.75, 4.75])),
    "grid": (np.arange(400) * 0.1, np.arange(100) * 0.3),
    "far queries": (UNIFORM, np.array([-40.0, -6.0, 12.0, 33.0, 800.0])),
    "far from the origin": (UNIFORM + 1e7, RANDOM.uniform(0, 5, 53) + 1e7),
    "two points": (np.array([1.0, 2.0]), np.array([0.0, 1.5, 9.0])),
}


def table(keys):
    noise = RANDOM.normal(size=len(keys)) * 1e3 + 5e4
    return np.column_stack([np.sin(keys), noise, np.zeros(len(keys))])


def summed(scoring, queries, keys, values, own=None):
    return pool_without_weights(
        scoring, torch.from_numpy(queries)[:, None], torch.from_numpy(keys)[:, None],
        torch.from_numpy(values), own=None if own is None else torch.from_numpy(own),
        entropy=True,
    )  # fmt: skip


def agree(found, expected, values):
    exact, neighbours, reached = expected
    spread = np.abs(values - np.median(values, axis=0)).mean(axis=0) + 1e-9
    assert np.abs((found.values.numpy() - exact) / spread).max() < 1e-7
    assert found.reached.tolist() == reached.tolist()
    got = np.exp(found.entropies.numpy()) * reached
    np.testing.assert_allclose(got, neighbours * reached, rtol=1e-6)


@pytest.mark.parametrize("width", [0.003, 0.3, 40.0])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("name", KERNELS)
def test_sums_on_a_line_are_those_written_out(name, points, width):
    keys, queries = POINTS[points]
    values = table(keys)
    found = summed(make(name, width), queries, keys, values)
    agree(found, means(name, width, queries, keys, values), values)


@pytest.mark.parametrize("width", [0.003, 0.3, 40.0])
@pytest.mark.parametrize("points", ["uniform", "clusters", "outliers", "duplicates", "two points"])
@pytest.mark.parametrize("name", KERNELS)
def test_each_point_is_left_out_of_its_own_sum(name, points, width, monkeypatch):
    monkeypatch.setattr(line, "_BLOCK_PAIRS", 1000)
    keys, _ = POINTS[points]
    values, own = table(keys), RANDOM.permutation(len(keys))[:97]
    found = summed(make(name, width), keys[own], keys, values, own)
    agree(found, means(name, width, keys[own], keys, values, own), values)


@pytest.mark.parametrize(("n", "huge"), [(1009, 1e9), (20_011, 1e12)])
@pytest.mark.parametrize("name", ["gaussian", "boxcar", "epanechnikov", "laplacian"])
def test_a_huge_value_elsewhere_costs_no_digit(name, n, huge):
    keys = np.sort(RANDOM.uniform(0, n / 20, n))
    values = np.sin(keys)[:, None]
    values[707] = huge  # of many values every second one is looked at to find the unit
    own = np.arange(0, 1009, 101)  # the outlier itself is one of them
    found = summed(make(name, 0.4), keys[own], keys, values, own).values.numpy()
    exact = means(name, 0.4, keys[own], keys, values, own)[0]
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-6)


def test_rows_term_by_term_are_few_pairs_at_a_time(monkeypatch):
    monkeypatch.setattr(line, "_BLOCK_PAIRS", 8)
    blocks = [block.tolist() for block in line._blocks(np.array([3, 0, 5, 1, 20, 2, 6, 1]))]
    assert blocks == [[0, 2], [3], [4], [5, 6], [7]]


def test_larger_boxes_hold_what_the_points_in_them_do():
    """Moments, and what an error of them is multiplied by: else an outlier would hide errors."""
    keys, queries = np.sort(CLUSTERS), np.sort(RANDOM.uniform(-9, 95, 53))
    values = np.stack([np.ones(len(keys)), np.cos(keys)])
    amounts = np.where(np.arange(len(keys)) == 200, 1e6, 1 + np.abs(keys))
    found, size = None, 0.25
    for _ in range(4):
        held, asked = boxed(keys, size), boxed(queries, size)
        whole = Boxes(
            size, asked.boxes, held.boxes, moments(held, values, 12), sizes(held, amounts)
        )
        for one, other in zip(found or whole, whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-9)
        found, size = _parents(whole), 2 * size


@pytest.mark.parametrize("name", KERNELS)
def test_the_order_of_the_points_means_nothing(name):
    keys, queries = POINTS["uniform"]
    values, order = table(keys), RANDOM.permutation(len(keys))
    one = summed(make(name, 0.3), queries, keys, values)
    other = summed(make(name, 0.3), queries, keys[order], values[order])
    np.testing.assert_allclose(other.values.numpy(), one.values.numpy(), rtol=1e-12)


def test_many_keys_in_few_boxes_take_the_sums_and_not_the_exact_rows(monkeypatch):
    exact = line.means_over_runs

    def none(scoring, problem, rows, first, last):
        assert len(rows) == 0
        return exact(scoring, problem, rows, first, last)

    for module in ("smooth", "line"):
        monkeypatch.setattr(f"attention_plugins.sums.{module}.means_over_runs", none)
    keys = np.sort(RANDOM.uniform(0, 5, 5003))
    queries, values = RANDOM.uniform(0.2, 4.8, 311), table(keys)
    rows = RANDOM.integers(500, 4500, 11)
    for name in KERNELS:
        found = summed(make(name, 0.2), queries, keys, values)
        agree(found, means(name, 0.2, queries, keys, values), values)
        tensors = (torch.from_numpy(each) for each in (keys[:, None], values, rows))
        with monkeypatch.context() as only:  # on a line
            only.setattr("attention_plugins.sums.means_in_blocks", None)
            with_own, _ = pool_with_and_without(make(name, 0.2), *tensors)
        expected = means(name, 0.2, keys[rows], keys, values)[0]
        np.testing.assert_allclose(with_own.numpy(), expected, rtol=1e-6, atol=1e-6)


class _Student(RadialScoring):
    """A smooth kernel of somebody else's."""

    def profile(self, distances):
        return -distances.log1p()

    def line_kernel(self):
        return Smooth(1.0)


class _Kinked(_Student):
    """One that is not smooth, whatever its author says."""

    def profile(self, distances):
        return -distances.sqrt()


class _Biweight(RadialScoring):
    """``(1 - u^2)^2`` in its window."""

    def profile(self, distances):
        rest = (1 - distances / 0.25).clamp_min(0.0)
        return 2 * rest.log()

    def line_kernel(self):
        return Window(0.5, (1.0, -2.0, 1.0))


@pytest.mark.parametrize(("kind", "fast"), [(_Student, True), (_Kinked, False), (_Biweight, True)])
def test_kernels_of_others_are_summed_where_they_are_what_they_say(kind, fast):
    keys, queries = POINTS["uniform"]
    values = table(keys)
    scoring = kind().double()
    tensors = [torch.from_numpy(each) for each in (queries[:, None], keys[:, None], values)]
    assert (_on_a_line(scoring, *tensors, None, entropy=False) is not None) is fast
    found = pool_without_weights(scoring, *tensors).values
    scores = scoring(*tensors[:2])
    exact = torch.nan_to_num(scores.softmax(-1)) @ tensors[2]
    torch.testing.assert_close(found, exact, rtol=1e-7, atol=1e-7)


def test_decaying_moments_are_sums_over_all_points_before():
    steps, values = RANDOM.uniform(0, 2, 29), RANDOM.normal(size=(29, 3))
    steps[11] = np.inf
    found = decaying_moments(steps, values, 2)
    for i in range(29):
        r = np.array([steps[j + 1 : i + 1].sum() for j in range(i + 1)])
        with np.errstate(invalid="ignore"):
            weights = [np.where(np.isinf(r), 0.0, r**k * np.exp(-r)) for k in range(3)]
        np.testing.assert_allclose(found[i], np.array(weights) @ values[: i + 1], atol=1e-12)
