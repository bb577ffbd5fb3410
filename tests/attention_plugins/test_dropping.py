"""Pooled masks against what dropout is: shares, scale, independence, equal gradients."""

from __future__ import annotations

import pytest
import torch

from attention_plugins import Scoring, Sizes, attention
from attention_plugins.attention import Inputs
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.contract import ModelSizes
from attention_plugins.models.protocols import Batch
from attention_plugins.randomness import dropout, pooled_draws
from attention_plugins.registry import load

BUILT_IN = load(allow=[])
MODELS = ("transformer", "pre_norm", "prefix_lm", "conv_seq2seq", "bahdanau", "luong")


def masks(rate, *shapes, seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    with pooled_draws():
        return [dropout(torch.ones(shape, dtype=dtype), rate) for shape in shapes]


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("count", [997, 400_009])
def test_the_share_and_the_scale_are_those_of_the_rate(rate, count):
    """To within five standard deviations of as many numbers; the mean stays what it was."""
    places = masks(rate, *[(count,)] * (1 + 400_009 // count))
    found = torch.cat(places)
    dropped = (found == 0).double().mean().item()
    assert dropped == pytest.approx(rate, abs=5 * (rate * (1 - rate) / len(found)) ** 0.5)
    kept = found[found != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=1e-4, atol=0)


def test_places_drop_independently_of_each_other():
    """In pairs, near and far, within a mask and between masks; no place repeats another's."""
    places = [place.flatten() != 0 for place in masks(0.5, *[(100, 500)] * 12)]
    for one in range(12):
        for other in range(one):
            both = (places[one] & places[other]).double().mean().item()
            assert both == pytest.approx(0.25, abs=5 * (0.25 * 0.75 / 50_000) ** 0.5)
    for away in (1, 2, 3, 4, 5, 8, 64):
        both = (places[0][away:] & places[0][:-away]).double().mean().item()
        assert both == pytest.approx(0.25, abs=6 * (0.25 * 0.75 / 50_000) ** 0.5)


def test_rates_and_precisions_have_masks_of_their_own():
    torch.manual_seed(0)
    with pooled_draws():
        ones = torch.ones(20_000)
        first, second, third = dropout(ones, 0.1), dropout(ones, 0.5), dropout(ones.double(), 0.5)
    assert (first == 0).double().mean().item() == pytest.approx(0.1, abs=0.015)
    assert (second == 0).double().mean().item() == pytest.approx(0.5, abs=0.02)
    assert third.dtype == torch.float64
    assert not torch.equal(second == 0, third == 0)


def test_a_seed_gives_the_same_masks_and_another_seed_others():
    shapes = (70_001,), (3, 5, 7), (200_003,)
    for one, same, other in zip(
        masks(0.3, *shapes), masks(0.3, *shapes), masks(0.3, *shapes, seed=1), strict=True
    ):
        assert torch.equal(one, same)
        assert not torch.equal(one, other)


def test_what_is_dropped_learns_nothing():
    torch.manual_seed(0)
    inputs = torch.randn(31, 17, requires_grad=True)
    with pooled_draws():
        output = dropout(inputs, 0.4)
    output.sum().backward()
    assert torch.equal(inputs.grad == 0, output == 0)
    torch.testing.assert_close(inputs.grad * inputs, output)


def test_nothing_is_dropped_outside_training_and_all_at_a_rate_of_1():
    inputs = torch.randn(5, 7)
    with pooled_draws():
        assert dropout(inputs, 0.5, False) is inputs
        assert dropout(inputs, 0.0) is inputs
        assert not dropout(inputs, 1.0).any()


def test_without_a_pool_masks_are_torchs():
    torch.manual_seed(0)
    ours = dropout(torch.ones(97), 0.3)
    torch.manual_seed(0)
    assert torch.equal(ours, torch.nn.functional.dropout(torch.ones(97), 0.3))


def test_blocks_drop_the_same_again_in_the_backward_pass():
    """A mask that differed would send gradients to values that were not read."""
    torch.manual_seed(0)

    class Even(Scoring):
        def forward(self, queries, keys):
            return queries @ keys.mT * 0

    queries, keys = torch.randn(1, 7, 5), torch.randn(1, 11, 5)
    values = torch.eye(11)[None].clone().requires_grad_()
    with pooled_draws():
        output = attend_in_blocks(Inputs(Even(), queries, keys, values, dropout=0.5), block=3)
    assert (output == 0).any()
    output.sum().backward()
    torch.testing.assert_close(values.grad[0, :, 0], output.detach()[0].sum(0))


def test_attention_takes_its_masks_from_the_pool(monkeypatch):
    seen = []
    monkeypatch.setattr(attention, "drop", lambda weights, rate: seen.append(rate) or weights)
    scoring = BUILT_IN.scorings["dot"].create(Sizes(5, 5, 5))
    parts = torch.randn(2, 7, 5), torch.randn(2, 11, 5), torch.randn(2, 11, 5)
    attention.attend(scoring, *parts, dropout=0.25)
    assert seen == [0.25]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_draws_anew_for_each_loss_and_equal_seeds_give_equal_losses(name, monkeypatch):
    """And leaves torch's dropout to no place but those within torch's own layers."""
    torch.manual_seed(3)
    factory = BUILT_IN.scorings["scaled_dot"].factory()
    model = BUILT_IN.models[name].create(factory, ModelSizes(19, 13), {"dropout": 0.5}).train()
    source, lengths = torch.randint(4, 13, (3, 7)), torch.tensor([7, 3, 5])
    batch = Batch(source, lengths, source[:, :5], torch.tensor([5, 3, 5]))

    def forbidden(*given):
        raise AssertionError("dropped by torch")

    monkeypatch.setattr("attention_plugins.randomness.torch_dropout", forbidden)

    def loss(seed):
        torch.manual_seed(seed)
        return model.loss(batch).item(), model.loss(batch).item()

    first, second = loss(0)
    assert first != second
    assert loss(0) == (first, second)
    assert loss(1)[0] != first
