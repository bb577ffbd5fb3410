"""The Transformer against torch's own, and the promises that every decoder must keep."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from attention_plugins.contract import ContractError, ModelSizes
from attention_plugins.decoding import beam, force
from attention_plugins.models.parts import sinusoidal_positions
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site, Tap
from attention_plugins.text import BOS_ID

SIZES = ModelSizes(source=19, target=13)
POST = {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10, "dropout": 0.0}
PRE = {**POST, "pre_norm": True, "tied": True}
SCORINGS = load(allow=[]).scorings


def _model(scoring="scaled_dot", values=POST):
    torch.manual_seed(5)
    return TRANSFORMER.create(SCORINGS[scoring].factory(), SIZES, values).double().eval()


def _copy_attention(theirs, mine):
    theirs.in_proj_weight.data.copy_(mine.projections.weight)
    theirs.in_proj_bias.data.copy_(mine.projections.bias)
    theirs.out_proj.load_state_dict(mine.output.state_dict())


def _copy_layer(theirs, mine, norms):
    _copy_attention(theirs.self_attn, mine.attention)
    if hasattr(theirs, "multihead_attn"):
        _copy_attention(theirs.multihead_attn, mine.cross)
    theirs.linear1.load_state_dict(mine.feed_forward.rise.state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward.fall.state_dict())
    for number, residual in enumerate(mine.residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def _torchs(model, values):
    """``torch.nn.Transformer`` with the same weights in both stacks."""
    pre_norm = values.get("pre_norm", False)
    theirs = nn.Transformer(
        values["hidden"], values["heads"], values["layers"], values["layers"], values["ffn"],
        dropout=0.0, batch_first=True, norm_first=pre_norm,
    ).double()  # fmt: skip
    for stack, own in (("encoder", model.encoder), ("decoder", model.decoder)):
        part = getattr(theirs, stack)
        for layer, mine in zip(part.layers, own, strict=True):
            _copy_layer(layer, mine, len(mine.residuals))
        if pre_norm:
            part.norm.load_state_dict(getattr(model, f"{stack}_norm").state_dict())
        else:
            part.norm = None  # torch adds one after the last layer; the paper does not
    return theirs


def _torchs_logits(theirs, model, batch):
    """Embeddings, positions and masks written out; the stacks are torch's."""

    def embed(embedding, tokens):
        places = sinusoidal_positions(torch.arange(tokens.shape[1]), 12, torch.float64)
        return embedding(tokens) * math.sqrt(12) + places

    begin = torch.full_like(batch.target[:, :1], BOS_ID)
    read = torch.cat([begin, batch.target[:, :-1]], dim=1)
    words = read.shape[1]
    padding = torch.arange(batch.source.shape[1]) >= batch.source_lengths[:, None]
    features = theirs(
        embed(model.source_embedding, batch.source),
        embed(model.target_embedding, read),
        tgt_mask=torch.ones(words, words, dtype=torch.bool).triu(1),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    return model.output(features)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("values", [POST, PRE])
def test_equals_torchs_transformer_in_outputs_and_gradients(values, training, batch):
    model = _model(values=values)
    theirs = _torchs(model, values).train(training)
    model.train(training)  # dropout is 0
    counted = torch.arange(5) < batch.target_lengths[:, None]
    logits = _torchs_logits(theirs, model, batch)
    features = model.forced(batch.source, batch.source_lengths, batch.target, Tap())
    torch.testing.assert_close(
        model.output(features)[counted], logits[counted], rtol=1e-8, atol=1e-9
    )
    expected = cross_entropy(logits[counted], batch.target[counted])
    found = model.loss(batch)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    shared = [model.source_embedding.weight, model.target_embedding.weight]
    pairs = [
        (model.decoder[0].cross.projections.weight,
         theirs.decoder.layers[0].multihead_attn.in_proj_weight),
        (model.decoder[1].attention.projections.weight,
         theirs.decoder.layers[1].self_attn.in_proj_weight),
        (model.encoder[0].attention.projections.bias,
         theirs.encoder.layers[0].self_attn.in_proj_bias),
        (model.encoder[1].feed_forward.rise.weight, theirs.encoder.layers[1].linear1.weight),
        (model.encoder[0].residuals[1].norm.weight, theirs.encoder.layers[0].norm2.weight),
    ]  # fmt: skip
    mine = torch.autograd.grad(found, [*shared, *(own for own, _ in pairs)])
    others = torch.autograd.grad(expected, [*shared, *(other for _, other in pairs)])
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("values", [POST, PRE])
def test_the_encoder_is_torchs_and_the_decoder_asks_what_it_says(values, batch):
    """What the decoder's layers keep are projections of what torch's encoder gives."""
    model = _model(values=values)
    theirs = _torchs(model, values).encoder
    places = sinusoidal_positions(torch.arange(7), 12, torch.float64)
    padding = torch.arange(7) >= batch.source_lengths[:, None]
    words = model.source_embedding(batch.source) * math.sqrt(12) + places
    memory = theirs(words, src_key_padding_mask=padding)
    state = model.start(batch.source, batch.source_lengths, Tap())
    for number, layer in enumerate(model.decoder):
        weight, bias = layer.cross.projections.weight, layer.cross.projections.bias
        for what, part in (("keys", slice(12, 24)), ("values", slice(24, 36))):
            expected = (memory @ weight[part].T + bias[part]).view(3, 7, 3, 4).transpose(1, 2)
            found = state[f"cross {number} {what}"]
            torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("values", [POST, PRE])
@pytest.mark.parametrize("scoring", SCORINGS)
def test_decoding_word_by_word_equals_all_words_at_once(scoring, values, batch):
    """Positions move on, and cached keys are those that a full pass would make."""
    model = _model(scoring, values)
    given = batch.source, batch.source_lengths, batch.target
    found, sites = force(model, *given, by_steps=True)
    features = model.forced(batch.source, batch.source_lengths, batch.target, Tap())
    at_once = model.output(features).log_softmax(dim=-1)
    expected = at_once.gather(2, batch.target[..., None])[..., 0]
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)
    shapes = {"encoder": (3, 3, 7, 7), "decoder": (3, 3, 5, 5), "cross": (3, 3, 5, 7)}
    assert {site: tuple(weights.shape) for site, weights in sites.items()} == {
        Site(kind, layer): shape for kind, shape in shapes.items() for layer in (0, 1)
    }


def test_a_later_word_changes_nothing_before_it(batch):
    model = _model()
    changed = batch.target.clone()
    changed[:, 2] = (changed[:, 2] - 3) % 9 + 4
    before, after = (
        model.forced(batch.source, batch.source_lengths, target, Tap())
        for target in (batch.target, changed)
    )
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_no_weight_falls_on_padding_or_on_the_future(batch):
    model = _model()
    _, sites = force(model, batch.source, batch.source_lengths, batch.target)
    for site, weights in sites.items():
        sums = weights.sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        if site.kind == "decoder":
            assert weights.triu(1).abs().max() == 0
        else:
            assert weights[1, :, :, 3:].abs().max() == 0
            assert weights[2, :, :, 0].eq(1).all()


def test_a_beam_that_reorders_hypotheses_takes_their_caches_along(batch):
    model = _model()
    for row, hypotheses in enumerate(
        beam(model, batch.source, batch.source_lengths, width=3, limit=7)
    ):
        for hypothesis in hypotheses:
            target = torch.tensor([hypothesis.ids])
            one = slice(row, row + 1)
            scores, _ = force(model, batch.source[one], batch.source_lengths[one], target)
            assert scores.sum().item() == pytest.approx(hypothesis.log_probability, abs=1e-9)


def test_a_head_can_be_switched_off_and_a_word_can_be_pinned(batch):
    model = _model()
    source, lengths, target = batch.source, batch.source_lengths, batch.target
    usual, _ = force(model, source, lengths, target)
    off = [Intervention(site=Site("cross", 1), action="off", head=2)]
    changed, sites = force(model, source, lengths, target, interventions=off)
    assert sites[Site("cross", 1)][:, 2].abs().max() == 0
    assert sites[Site("cross", 1)][:, 1].abs().max() > 0
    assert not torch.allclose(usual, changed)
    pin = [Intervention(site=Site("decoder", 0), action="pin", key=2)]
    _, sites = force(model, source, lengths, target, interventions=pin)
    pinned = sites[Site("decoder", 0)]
    assert pinned[:, :, 2:, 2].eq(1).all()
    assert pinned.triu(1).abs().max() == 0  # rows before the word exists stay as they are


def test_heads_must_divide_the_hidden_size():
    with pytest.raises(ContractError, match="need heads that divide the hidden size 12, got 5"):
        _model(values={**POST, "heads": 5})
