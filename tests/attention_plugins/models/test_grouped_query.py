"""Shared keys and values against torch's grouped-query attention, and the plain Transformer."""

import pytest
import torch
from torch.nn.functional import linear, scaled_dot_product_attention

from attention_plugins.contract import ContractError, ModelSizes
from attention_plugins.decoding import force
from attention_plugins.layers import MultiHead, split_heads
from attention_plugins.models.transformer import GROUPED_QUERY, TRANSFORMER
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap
from attention_plugins.text import BOS_ID

SCORINGS = load(allow=[]).scorings
SIZES = ModelSizes(source=19, target=13)
SMALL = {"hidden": 24, "heads": 6, "layers": 2, "ffn": 10, "dropout": 0.0}


def _model(spec, scoring="scaled_dot", **values):
    torch.manual_seed(5)
    model = spec.create(SCORINGS[scoring].factory(), SIZES, {**SMALL, **values})
    return model.double().eval()


def test_as_many_key_heads_as_heads_is_the_transformer(batch):
    plain, grouped = _model(TRANSFORMER), _model(GROUPED_QUERY, key_heads=6)
    plain.load_state_dict(grouped.state_dict())
    torch.testing.assert_close(grouped.loss(batch), plain.loss(batch), rtol=0, atol=0)


@pytest.mark.parametrize("key_heads", [1, 2, 3])
@pytest.mark.parametrize("scoring", ["scaled_dot", "additive", "t5_bias", "talking_heads"])
def test_it_is_a_transformer_whose_keys_and_values_are_repeated(key_heads, scoring, batch):
    grouped = _model(GROUPED_QUERY, scoring, key_heads=key_heads)
    plain = _model(TRANSFORMER, scoring)
    weights = grouped.state_dict()
    for name in [name for name in weights if "projections" in name]:
        queries, keys, values = weights[name].split([24, 4 * key_heads, 4 * key_heads])
        repeated = [
            part.unflatten(0, (key_heads, 4))
            .repeat_interleave(6 // key_heads, dim=0)
            .flatten(0, 1)
            for part in (keys, values)
        ]
        weights[name] = torch.cat([queries, *repeated])
    plain.load_state_dict(weights)
    torch.testing.assert_close(grouped.loss(batch), plain.loss(batch), rtol=1e-10, atol=1e-12)
    arguments = batch.source, batch.source_lengths, batch.target
    torch.testing.assert_close(force(grouped, *arguments)[0], force(plain, *arguments)[0])


@pytest.mark.parametrize("key_heads", [1, 2, 3, 6])
def test_attention_is_torchs(key_heads):
    torch.manual_seed(11)
    factory = SCORINGS["scaled_dot"].factory()
    mine = MultiHead(factory, 24, 6, key_heads=key_heads).double()
    queries, memory = torch.randn(2, 5, 24).double(), torch.randn(2, 7, 24).double()
    recorder = Recorder()
    found = mine(Tap(recorder), Site("cross", 0), queries, memory)
    size = 4 * key_heads
    (w_q, w_k, w_v), (b_q, b_k, b_v) = (
        part.split([24, size, size]) for part in mine.projections.parameters()
    )
    heads = scaled_dot_product_attention(
        split_heads(linear(queries, w_q, b_q), 6),
        split_heads(linear(memory, w_k, b_k), key_heads),
        split_heads(linear(memory, w_v, b_v), key_heads),
        enable_gqa=True,
    )
    expected = mine.output(heads.transpose(1, 2).flatten(-2))
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    assert recorder.weights()[Site("cross", 0)].shape == (2, 6, 5, 7)


@pytest.mark.parametrize("scoring", ["scaled_dot", "additive"])
def test_a_state_holds_the_key_heads_alone(scoring, batch):
    model = _model(GROUPED_QUERY, scoring, key_heads=2)
    state = model.start(batch.source, batch.source_lengths, Tap())
    _, state = model.step(state, torch.full((3,), BOS_ID), Tap())
    kept = [part for name, part in state.items() if name.split()[0] in ("decoder", "cross")]
    assert [part.shape[1] for part in kept] == [2] * 8


def test_key_heads_must_divide_the_heads():
    with pytest.raises(ContractError, match="need key heads that divide the 6 heads, got 4"):
        _model(GROUPED_QUERY, key_heads=4)
