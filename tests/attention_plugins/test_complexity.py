"""Layers that are compared, against torch's own and against counting by hand."""

from __future__ import annotations

import math
import time

import pytest
import torch
from torch import nn

from attention_plugins import complexity, registry
from attention_plugins.contract import Sizes

N, D = 11, 3


def layer(name, kernel=3):
    if name == "cnn":
        return complexity.Convolution(D, kernel).double()
    if name == "rnn":
        return complexity.Recurrence(D).double()
    scoring = registry.load(allow=[]).scoring("scaled_dot").create(Sizes(D, D, D))
    return complexity.SelfAttention(scoring)


def sequence(n=N, **more):
    return torch.randn(1, n, D, dtype=torch.float64, **more)


def test_attention_is_torchs_own():
    x = sequence()
    expected = nn.functional.scaled_dot_product_attention(x, x, x)
    torch.testing.assert_close(layer("attention")(x), expected)


def test_the_convolution_sees_kernel_neighbours_and_no_more():
    made, x = layer("cnn", 5), sequence(requires_grad=True)
    (gradient,) = torch.autograd.grad(made(x)[0, 4].sum(), x)
    assert gradient[0].abs().sum(-1).nonzero().flatten().tolist() == [2, 3, 4, 5, 6]


def test_hopping_n_times_gives_the_recurrence():
    made = layer("rnn")
    with torch.no_grad():
        made.inner.bias_ih_l0.zero_()
        made.inner.bias_hh_l0.zero_()
    x, weights = sequence(), made.inner
    state = torch.zeros(1, N, D, dtype=torch.float64)
    # One step from given states: what `hop` does to its own input, here with the input apart.
    for _ in range(N):
        before = torch.cat([torch.zeros_like(state[:, :1]), state[:, :-1]], dim=1)
        state = torch.tanh(x @ weights.weight_ih_l0.mT + before @ weights.weight_hh_l0.mT)
    torch.testing.assert_close(state, made(x))
    step = torch.tanh(x[:, 6] @ weights.weight_ih_l0.mT + x[:, 5] @ weights.weight_hh_l0.mT)
    torch.testing.assert_close(made.hop(x)[:, 6], step)


@pytest.mark.parametrize("name", ["cnn", "rnn", "attention"])
def test_every_layer_keeps_the_shape(name):
    assert layer(name)(sequence()).shape == (1, N, D)


@pytest.mark.parametrize(("kernel", "n"), [(3, 11), (5, 11), (7, 23), (9, 2)])
def test_a_convolution_hops_half_its_kernel_at_a_time(kernel, n):
    assert complexity.hops(layer("cnn", kernel), n, D) == math.ceil((n - 1) / (kernel // 2))


@pytest.mark.parametrize("n", [2, 7, 19])
def test_a_recurrence_hops_from_neighbour_to_neighbour_and_attention_at_once(n):
    assert complexity.hops(layer("rnn"), n, D) == n - 1
    assert complexity.hops(layer("attention"), n, D) == 1


def test_what_never_reaches_has_no_number_of_hops():
    class Apart(nn.Module):
        def hop(self, x):
            return torch.tanh(x)

    assert complexity.hops(Apart(), 5, D) is None


def test_a_recurrence_needs_product_after_product():
    for n in (5, 13):
        x = sequence(n, requires_grad=True)
        assert complexity.dependent_products(layer("rnn")(x)) == n
        assert complexity.dependent_products(layer("cnn")(x)) == 1
        assert complexity.dependent_products(layer("attention")(x)) == 2


def test_products_side_by_side_are_no_chain():
    a, b = (torch.randn(3, 3, requires_grad=True) for _ in range(2))
    assert complexity.dependent_products(a @ b + b @ a) == 1
    assert complexity.dependent_products((a @ b) @ (b @ a)) == 2
    assert complexity.dependent_products(a + b) == 0


def test_a_long_chain_is_no_deep_recursion():
    x = sequence(1500, requires_grad=True)
    assert complexity.dependent_products(layer("rnn")(x)) == 1500


def test_the_power_law_of_exact_powers_is_found():
    sizes = [3, 7, 31, 101]
    found = complexity.fit_power(sizes, [0.25 * size**1.7 for size in sizes])
    assert found.exponent == pytest.approx(1.7)
    assert found.factor == pytest.approx(0.25)


def test_the_power_law_is_the_one_of_least_squares():
    sizes, values = [2.0, 5.0, 11.0, 17.0], [1.0, 9.0, 8.0, 40.0]
    x = torch.tensor(sizes, dtype=torch.float64).log()
    design = torch.stack([x, torch.ones_like(x)], dim=1)
    target = torch.tensor(values, dtype=torch.float64).log()
    slope, shift = torch.linalg.lstsq(design, target[:, None]).solution.flatten().tolist()
    found = complexity.fit_power(sizes, values)
    assert found.exponent == pytest.approx(slope)
    assert math.log(found.factor) == pytest.approx(shift)


@pytest.mark.parametrize(("sizes", "values"), [([2], [1]), ([1, 2], [0, 1]), ([0, 2], [1, 1])])
def test_no_power_law_without_two_points_above_nothing(sizes, values):
    with pytest.raises(ValueError, match="two or more sizes and values above 0"):
        complexity.fit_power(sizes, values)


def test_multiplications_are_those_of_the_layers_matrices():
    n, d, kernel = 7, 3, 5
    assert complexity.multiply_adds("cnn", n, d, kernel) == n * d * kernel * d
    assert complexity.multiply_adds("rnn", n, d, kernel) == n * (d * d + d * d)
    assert complexity.multiply_adds("attention", n, d, kernel) == n * n * d + n * n * d


def test_the_stopwatch_times_one_pass():
    calls = []

    def slow(x):
        calls.append(torch.is_grad_enabled())
        time.sleep(0.004)

    watch = complexity.Stopwatch(slow, sequence())
    assert len(calls) == 2  # warm
    assert watch.seconds() >= 0.004
    assert len(calls) == 3  # long enough to be timed once
    assert not any(calls)


def test_the_stopwatch_repeats_what_is_too_short_for_a_clock():
    calls = []
    watch = complexity.Stopwatch(calls.append, sequence())
    before = len(calls)
    watch.seconds()
    assert len(calls) - before > 10
