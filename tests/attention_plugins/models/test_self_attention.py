"""The self-attention layer, against the textbook's lines written out with torch."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_plugins import ModelSizes, Recorder, Site, Tap, registry
from attention_plugins.models.self_attention import SELF_ATTENTION

BUILT_IN = registry.load(allow=[])
SITE = Site("encoder", 0)


def make(scoring="dot", size=7, hidden=5):
    torch.manual_seed(3)
    factory = BUILT_IN.scoring(scoring).factory()
    return SELF_ATTENTION.create(factory, ModelSizes(size, hidden)).double()


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def run(layer, sequence, lengths):
    recorder = Recorder()
    output = layer(sequence, torch.tensor(lengths), Tap(recorder))
    return output, recorder.weights()[SITE]


def test_it_is_in_the_registry_for_its_own_task():
    assert BUILT_IN.model("self_attention") is SELF_ATTENTION
    assert SELF_ATTENTION.task == "encoding"


def test_dot_scores_are_not_scaled():
    """The worked example: 3 sentences of 10 words of 100 numbers, lengths 7, 10, 4."""
    layer, sequence, lengths = make(size=100, hidden=8), draw(3, 10, 100), [7, 10, 4]
    output, weights = run(layer, sequence, lengths)
    queries, keys, values = (
        sequence @ part.weight.T for part in (layer.queries, layer.keys, layer.values)
    )
    allowed = torch.arange(10)[None, None] < torch.tensor(lengths)[:, None, None]
    expected = scaled_dot_product_attention(queries, keys, values, allowed, scale=1.0)
    torch.testing.assert_close(output, expected)
    assert output.shape == (3, 10, 8)
    assert (weights[0, :, 7:] == 0).all()
    assert (weights[2, :, 4:] == 0).all()
    assert (weights[1] > 0).all()


def test_the_projections_have_no_biases():
    assert all(name.endswith("weight") for name, _ in make().named_parameters())


def test_a_tensor_may_be_wider_than_its_longest_sequence():
    layer, sequence = make(), draw(2, 11, 7)
    output, _ = run(layer, sequence, [3, 5])
    assert output.shape == (2, 11, 5)
    narrow, _ = run(layer, sequence[:, :5], [3, 5])
    torch.testing.assert_close(output[:, :5], narrow)


def test_padding_changes_nothing():
    layer, sequence = make(), draw(2, 11, 7)
    other = sequence.clone()
    other[0, 3:], other[1, 5:] = 1e6, -1e6
    before, _ = run(layer, sequence, [3, 5])
    after, _ = run(layer, other, [3, 5])
    assert torch.equal(before[0, :3], after[0, :3])
    assert torch.equal(before[1, :5], after[1, :5])


def test_an_empty_sequence_gives_zeros_and_no_gradient_is_lost():
    layer, sequence = make(), draw(2, 3, 7)
    output, weights = run(layer, sequence, [0, 2])
    assert (output[0] == 0).all()
    assert (weights[0] == 0).all()
    output.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in layer.parameters())


@pytest.mark.parametrize("scoring", BUILT_IN.scorings)
def test_any_scoring_fits(scoring):
    layer = make(scoring)
    output, weights = run(layer, draw(2, 3, 7), [3, 2])
    assert output.shape == (2, 3, 5)
    if layer.scoring.sums_to_one:
        looks = weights.any(-1)
        torch.testing.assert_close(weights.sum(-1), looks.double())
        # A query without a positive component meets nothing: its kernel is 0 with every key.
        assert looks.all() or scoring == "cosformer"
    assert (weights.sum(-1) <= 1 + 1e-12).all()
