from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import ContractError, Sizes, attend
from attention_plugins.scorings.kernels import GAUSSIAN


def kernel(queries, keys, width):
    """The density of a normal distribution, up to a factor that the softmax cancels."""
    normal = torch.distributions.Normal(keys.unsqueeze(-3), width)
    return normal.log_prob(queries.unsqueeze(-2)).sum(dim=-1)


@pytest.mark.parametrize("width", [0.02, 1.0, 3.0])
@pytest.mark.parametrize("size", [1, 3, 11])
def test_weights_are_normal_densities(width, size):
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(7, size, generator=generator, dtype=torch.float64)
    keys = torch.randn(13, size, generator=generator, dtype=torch.float64)
    _, weights = attend(GAUSSIAN.create(Sizes(size, size, 1), {"width": width}).double(),
                        queries, keys, keys)  # fmt: skip
    expected = kernel(queries, keys, width).softmax(dim=-1)
    torch.testing.assert_close(weights, expected, atol=1e-4 if width < 1 else 1e-6, rtol=0)


def test_one_step_of_descent_is_the_textbooks():
    """``w <- w - rate * dL/dw`` for ``-((q - k) w)^2 / 2``, the derivative taken by hand."""
    queries, keys = torch.tensor([[0.5]]).double(), torch.tensor([[0.0], [2.0]]).double()
    values, target, width, rate = torch.tensor([1.0, 4.0]).double(), 2.0, 0.8, 0.1
    scoring = GAUSSIAN.create(Sizes(1, 1, 1), {"width": width}).double()
    (weight,) = scoring.parameters()
    w = weight.item()
    assert w == pytest.approx(1 / width)

    near, far = math.exp(-((0.5 * w) ** 2) / 2), math.exp(-((1.5 * w) ** 2) / 2)
    share = near / (near + far)
    prediction = share * 1.0 + (1 - share) * 4.0
    share_slope = share * (1 - share) * w * (1.5**2 - 0.5**2)
    expected = w - rate * 2 * (prediction - target) * (1.0 - 4.0) * share_slope

    output, _ = attend(scoring, queries, keys, values[:, None])
    loss = (output.squeeze() - target).square()
    descent = torch.optim.SGD([weight], lr=rate)
    loss.backward()
    descent.step()
    assert weight.item() == pytest.approx(expected, rel=1e-12)


def test_the_width_follows_the_learned_weight_whatever_its_sign():
    scoring = GAUSSIAN.create(Sizes(1, 1, 1), {"width": 0.5})
    with torch.no_grad():
        scoring.inverse_width.fill_(-4.0)
    assert scoring.width.item() == 0.25


@pytest.mark.parametrize("width", [0.0, 0.01, 10.5, math.nan])
def test_the_width_has_bounds(width):
    with pytest.raises(ContractError, match=r"need 0.02 <= width <= 10|need width to be a number"):
        GAUSSIAN.create(Sizes(1, 1, 1), {"width": width})
