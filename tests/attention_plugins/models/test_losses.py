import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from attention_plugins.models import losses
from attention_plugins.models.losses import (
    projected_cross_entropy,
    target_log_probabilities,
    valid_positions,
)


def _case(tokens):
    torch.manual_seed(3)
    shapes = (tokens, 7), (17, 7), (17,)
    leaves = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    return leaves, torch.randint(17, (tokens,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tokens", [1, 64, 131])  # below, at and above the size of a chunk
def test_loss_and_gradients_equal_torch(tokens, smoothing, monkeypatch):
    monkeypatch.setattr(losses, "_CHUNK", 64 * 17)
    leaves, target = _case(tokens)
    ours = projected_cross_entropy(*leaves, target, smoothing)
    theirs = cross_entropy(linear(*leaves), target, label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    # Times 3: the chain rule must pass through.
    for mine, reference in zip(
        torch.autograd.grad(3 * ours, leaves), torch.autograd.grad(3 * theirs, leaves), strict=True
    ):
        torch.testing.assert_close(mine, reference, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_large_logits_stay_finite(shift):
    leaves, target = _case(67)
    leaves[2] = (leaves[2].detach() + shift).requires_grad_()
    ours = projected_cross_entropy(*leaves, target)
    torch.testing.assert_close(ours, cross_entropy(linear(*leaves), target), rtol=1e-9, atol=1e-9)
    assert all(found.isfinite().all() for found in torch.autograd.grad(ours, leaves))


def test_without_gradients_the_loss_is_the_same():
    leaves, target = _case(67)
    with_gradients = projected_cross_entropy(*leaves, target, 0.1)
    with torch.no_grad():
        without = projected_cross_entropy(*leaves, target, 0.1)
    torch.testing.assert_close(with_gradients, without, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("most", [5, 4 * 17, 1 << 17])  # fewer logits than words; parts; at once
def test_log_probabilities_in_parts_are_those_of_each_word(most, monkeypatch):
    monkeypatch.setattr(losses, "_CHUNK", most)
    (features, *weights), target = _case(15)
    output = torch.nn.Linear(7, 17).double()
    output.load_state_dict(dict(zip(("weight", "bias"), weights, strict=True)))
    found = target_log_probabilities(features.view(3, 5, 7), output, target.view(3, 5))
    expected = linear(features, *weights).log_softmax(-1)[torch.arange(15), target]
    torch.testing.assert_close(found, expected.view(3, 5))


def test_valid_positions_are_the_first_ones():
    assert valid_positions(torch.tensor([2, 0, 3]), 3).tolist() == [
        [True, True, False],
        [False, False, False],
        [True, True, True],
    ]
