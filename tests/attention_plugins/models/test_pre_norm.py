"""Gated networks by their formula, and the layers around them against torch's."""

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu, relu, silu

from attention_plugins.contract import ModelSizes
from attention_plugins.models.transformer import GATES, PRE_NORM, Gated
from attention_plugins.models.transformer_layers import keep
from attention_plugins.registry import load
from attention_plugins.tap import Site, Tap

SCORINGS = load(allow=[]).scorings
SIZE, INNER, HEADS = 12, 10, 3
PASSED = {
    "swiglu": silu, "geglu": gelu, "reglu": relu, "glu": torch.sigmoid, "bilinear": lambda x: x,
}  # fmt: skip


def _model(gate):
    torch.manual_seed(5)
    values = {"hidden": SIZE, "heads": HEADS, "ffn": INNER, "dropout": 0.0, "gate": gate}
    return PRE_NORM.create(SCORINGS["scaled_dot"].factory(), ModelSizes(19, 13), values).double()


def test_every_gate_is_tried():
    assert PASSED.keys() == GATES.keys()


@pytest.mark.parametrize("gate", GATES)
def test_a_gated_network_is_its_formula(gate):
    torch.manual_seed(3)
    network, x = Gated(SIZE, INNER, 0.0, gate).double(), torch.randn(2, 5, SIZE).double()
    known = network.state_dict()
    opened = PASSED[gate](x @ known["gate.weight"].T + known["gate.bias"])
    risen = x @ known["rise.weight"].T + known["rise.bias"]
    expected = (opened * risen) @ known["fall.weight"].T + known["fall.bias"]
    torch.testing.assert_close(network(x), expected, rtol=1e-12, atol=1e-12)


def _torchs(kind, mine, gate):
    """torch's layer with the same weights: its first matrix holds gate and input, side by side."""

    def pass_through(both):
        opened, risen = both.chunk(2, dim=-1)
        return PASSED[gate](opened) * risen

    theirs = kind(
        SIZE, HEADS, INNER, dropout=0.0, activation=pass_through, batch_first=True,
        norm_first=True,
    )  # fmt: skip
    theirs.linear1 = nn.Linear(SIZE, 2 * INNER)
    theirs = theirs.double()
    network = mine.feed_forward
    for part in ("weight", "bias"):
        both = torch.cat([getattr(network.gate, part), getattr(network.rise, part)])
        getattr(theirs.linear1, part).data.copy_(both)
    theirs.linear2.load_state_dict(network.fall.state_dict())
    pairs = [(theirs.self_attn, mine.attention)]
    if hasattr(mine, "cross"):
        pairs.append((theirs.multihead_attn, mine.cross))
    for their, own in pairs:
        their.in_proj_weight.data.copy_(own.projections.weight)
        their.in_proj_bias.data.copy_(own.projections.bias)
        their.out_proj.load_state_dict(own.output.state_dict())
    for number, residual in enumerate(mine.residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())
    return theirs


@pytest.mark.parametrize("gate", GATES)
def test_layers_are_torchs_with_the_norm_first(gate):
    model = _model(gate)
    for residual in (r for layer in (*model.encoder, *model.decoder) for r in layer.residuals):
        nn.init.normal_(residual.norm.weight)  # not ones: every norm must be at its place
    inputs, memory = torch.randn(2, 5, SIZE).double(), torch.randn(2, 7, SIZE).double()
    lengths = torch.tensor([7, 4])
    hidden = torch.arange(7) >= lengths[:, None]
    mask = ~hidden[:, None, None]
    encoder = _torchs(nn.TransformerEncoderLayer, model.encoder[0], gate)
    torch.testing.assert_close(
        model.encoder[0](memory, mask, Tap(), 0), encoder(memory, src_key_padding_mask=hidden)
    )
    decoder = _torchs(nn.TransformerDecoderLayer, model.decoder[0], gate)
    state = {"mask": mask}
    keep(state, Site("cross", 0), model.decoder[0].cross.remember(memory))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(
        model.decoder[0](inputs, state, causal, Tap(), 0),
        decoder(inputs, memory, tgt_mask=~causal, memory_key_padding_mask=hidden),
    )


def test_a_last_norm_bounds_what_the_output_reads(batch):
    model = _model("swiglu")
    features = model.forced(batch.source, batch.source_lengths, batch.target, Tap())
    torch.testing.assert_close(features.mean(dim=-1), torch.zeros(3, 5).double())
    assert isinstance(model.encoder_norm, nn.LayerNorm)
    assert "pre_norm" not in {parameter.name for parameter in PRE_NORM.parameters}
