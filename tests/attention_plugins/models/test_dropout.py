"""Where models drop while they learn, by the share of zeros at each place.

Weights are chosen so that a place hands on what it reads: ``tanh(0)`` is 0, so a number that was
dropped is still 0 behind it. The share of zeros then tells the rate of every place on the way.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attention_plugins.contract import ModelSizes, Sizes
from attention_plugins.models.parts import placed
from attention_plugins.models.transformer import Gated
from attention_plugins.models.transformer_layers import AddNorm, EncoderLayer, FeedForward
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Recorder, Site, Tap

BUILT_IN = load(allow=[])
RATE, SIZE, ROWS, HEADS = 0.3, 6, 1500, 40
TRANSFORMERS = ("transformer", "pre_norm", "grouped_query", "shared_layers", "prefix_lm")
CROSS = Site("cross", 0)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def zeros(tensor):
    return (tensor == 0).double().mean().item()


def about(share, count):
    """To within five standard deviations of so many draws."""
    return pytest.approx(share, abs=5 * (share * (1 - share) / count) ** 0.5 + 1e-9)


def create(name, scoring="scaled_dot", **values):
    factory = BUILT_IN.scorings[scoring].factory()
    return BUILT_IN.models[name].create(factory, ModelSizes(11, 13), {"dropout": RATE, **values})


@torch.no_grad()
def hand_on(gru):
    """Let every layer of a recurrent net give tanh of what it reads, whatever its state was."""
    for name, parameter in gru.named_parameters():
        parameter.zero_()
        if "weight_ih" in name:  # reset, update and new gate
            parameter[2 * SIZE :, :SIZE] = torch.eye(SIZE)
        if "bias_ih" in name:
            parameter[SIZE : 2 * SIZE] = -99.0  # the update gate keeps nothing


def read(model, training, layers):
    """States ``(rows, layers, size)`` of both sides after one word."""
    model.train(training)
    source = torch.full((ROWS, 1), 5)
    state = model.start(source, torch.ones(ROWS, dtype=torch.long), Tap())
    encoded = state["hidden"]
    _, state = model.step(state, torch.full((ROWS,), 5), Tap())
    assert encoded.shape == state["hidden"].shape == (ROWS, layers, SIZE)
    return encoded, state["hidden"]


@pytest.mark.parametrize("name", ["bahdanau", "luong"])
@pytest.mark.parametrize("layers", [2, 3])
@torch.no_grad()
def test_a_recurrent_model_drops_words_and_what_goes_from_layer_to_layer(name, layers):
    model = create(name, embed=SIZE, hidden=SIZE, layers=layers)
    for embedding in (part for part in model.modules() if isinstance(part, nn.Embedding)):
        embedding.weight.fill_(0.7)
    for part in model.modules():
        if isinstance(part, nn.GRU | nn.GRUCell):
            hand_on(part)
    for side in read(model, True, layers):
        for layer in range(layers):
            kept = (1 - RATE) ** (layer + 1)
            assert zeros(side[:, layer]) == about(1 - kept, ROWS * SIZE)
    assert all(zeros(side) == 0 for side in read(model, False, layers))


@torch.no_grad()
def test_the_words_of_a_whole_target_are_dropped_too():
    """Luong's model reads those of all steps at once, apart from what a step reads."""
    model, seen = create("luong", embed=SIZE, hidden=SIZE), []
    model.target_embedding.weight.fill_(0.7)
    model.decoder.register_forward_pre_hook(lambda gru, given: seen.append(given[0][..., :SIZE]))
    words, ones = torch.full((ROWS, 3), 5), torch.ones(ROWS, dtype=torch.long)
    for training, share in ((True, RATE), (False, 0.0)):
        seen.clear()
        model.train(training)
        model.forced_log_probabilities(words[:, :1], ones, words, Tap())
        found = torch.cat(seen)
        assert found.numel() == ROWS * 3 * SIZE
        assert zeros(found) == about(share, found.numel())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("bahdanau", {"embed": SIZE, "hidden": SIZE, "deep_readout": True}),
        ("luong", {"embed": SIZE, "hidden": SIZE}),
        ("conv_seq2seq", {"embed": SIZE, "hidden": SIZE}),
    ],
)
@torch.no_grad()
def test_what_the_output_layer_reads_is_dropped(name, values):
    model, seen = create(name, **values), []
    model.output.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    source, ones = torch.full((ROWS, 1), 5), torch.ones(ROWS, dtype=torch.long)
    for training in (True, False):
        model.train(training)
        model.step(model.start(source, ones, Tap()), torch.full((ROWS,), 5), Tap())
    assert zeros(seen[0]) == about(RATE, ROWS * SIZE)
    assert zeros(seen[1]) == 0


@torch.no_grad()
def test_convolutions_drop_what_they_read():
    model, seen = create("conv_seq2seq", embed=SIZE, hidden=SIZE, kernel=1), []
    convolutions = [part for part in model.modules() if isinstance(part, nn.Conv1d)]
    for part in convolutions:
        part.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    source, ones = torch.full((ROWS, 1), 5), torch.ones(ROWS, dtype=torch.long)
    for training, share in ((True, RATE), (False, 0.0)):
        seen.clear()
        model.train(training)
        model.step(model.start(source, ones, Tap()), torch.full((ROWS,), 5), Tap())
        assert len(seen) == len(convolutions) == 4
        for inputs in seen:
            assert zeros(inputs) == about(share, inputs.numel())


@pytest.mark.parametrize("gated", [False, True])
@torch.no_grad()
def test_the_feed_forward_network_drops_between_its_layers(gated):
    network = Gated(SIZE, SIZE, RATE, "bilinear") if gated else FeedForward(SIZE, SIZE, RATE)
    if gated:  # everything passes
        network.gate.weight.zero_()
        network.gate.bias.fill_(1.0)
    for layer in (network.rise, network.fall):
        layer.weight.copy_(torch.eye(SIZE))
        layer.bias.zero_()
    inputs = torch.full((ROWS, SIZE), 2.0)
    found = network.train()(inputs)
    assert zeros(found) == about(RATE, found.numel())
    torch.testing.assert_close(found[found != 0].unique(), torch.tensor([2 / (1 - RATE)]))
    assert torch.equal(network.eval()(inputs), inputs)


@pytest.mark.parametrize("pre_norm", [False, True])
@torch.no_grad()
def test_a_residual_drops_what_its_sublayer_says_and_never_its_input(pre_norm):
    residual = AddNorm(SIZE, RATE, pre_norm)
    residual.norm = nn.Identity()
    inputs = torch.full((ROWS, SIZE), 10.0)
    said = residual.train()(inputs, torch.ones_like) - 10
    assert zeros(said) == about(RATE, said.numel())
    assert said[said != 0].unique().tolist() == pytest.approx([1 / (1 - RATE)], abs=1e-5)
    assert torch.equal(residual.eval()(inputs, torch.ones_like), inputs + 1)


@torch.no_grad()
def test_the_sum_of_words_and_positions_is_dropped():
    embedding = nn.Embedding(5, SIZE)
    found = placed(embedding, torch.zeros(ROWS, 1, dtype=torch.long), torch.ones(1), RATE)
    assert zeros(found) == about(RATE, found.numel())
    kept = placed(embedding, torch.zeros(1, 1, dtype=torch.long), torch.ones(1), 0.0)
    torch.testing.assert_close(found[found != 0], (kept / (1 - RATE)).expand_as(found)[found != 0])


class _Rates(Tap):
    """Notes the rate with which each site's weights are dropped."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def attend(self, site, *given, dropout=0.0, **more):
        self.seen.setdefault(site, set()).add(dropout)
        return super().attend(site, *given, dropout=dropout, **more)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_every_attention_of_a_transformer_drops_in_training_alone(name):
    model = create(name, hidden=12, heads=2)
    kinds = {"encoder", "cross"} | ({"decoder"} if name != "prefix_lm" else set())
    source, lengths, target = torch.randint(4, 11, (3, 5)), torch.tensor([5, 2, 4]), None
    for training in (True, False):
        model.train(training)
        tap, target = _Rates(), torch.randint(4, 13, (3, 4))
        model.forced_log_probabilities(source, lengths, target, tap)
        assert {site.kind for site in tap.seen} == kinds
        assert set().union(*tap.seen.values()) == {RATE if training else 0.0}


@pytest.mark.parametrize("name", TRANSFORMERS)
@torch.no_grad()
def test_a_transformer_drops_what_both_sides_read(name, monkeypatch):
    """Words with their positions, before the first layer."""
    model, seen, first = create(name, hidden=12, heads=2, layers=2), [], (0, Site("encoder", 0))
    if name == "prefix_lm":  # one stack for both
        around = EncoderLayer.around

        def watched(layer, inputs, look):
            seen.append(inputs)
            return around(layer, inputs, look)

        monkeypatch.setattr(EncoderLayer, "around", watched)
    else:
        for stack in (model.encoder, model.decoder):
            next(iter(stack)).register_forward_pre_hook(
                lambda layer, given: seen.append(given[0]) if given[-1] in first else None
            )
    words, lengths = torch.randint(4, 11, (ROWS, 2)), torch.full((ROWS,), 2)
    for training, share in ((True, RATE), (False, 0.0)):
        seen.clear()
        model.train(training)
        model.forced_log_probabilities(words, lengths, words, Tap())
        for inputs in seen[:2]:  # of source and target; at the first place all sines are 0
            assert zeros(inputs[:, 1]) == about(share, inputs[:, 1].numel())
        assert seen[0] is not seen[1]


def weights_behind(ways, interventions=(), scoring="uniform"):
    """Ten keys, alike: the weights that met the values, which are the unit vectors."""
    made = BUILT_IN.scorings[scoring].create(Sizes(4, 4, 4))
    tap = Tap(Recorder() if ways == "recorded" else None, interventions)
    attend = tap.attend_with_weights if ways == "with weights" else tap.attend
    queries, keys = torch.ones(2, HEADS, 50, 4), torch.ones(2, HEADS, 10, 4)
    values = torch.eye(10).expand(2, HEADS, 10, 10)
    found = attend(CROSS, made, queries, keys, values, dropout=RATE)
    return found[0] if isinstance(found, tuple) else found


OFF = [Intervention(site=CROSS, action="off", head=1)]


@pytest.mark.parametrize("interventions", [[], OFF], ids=["as it is", "intervened"])
@pytest.mark.parametrize("ways", ["unwatched", "blocks", "recorded", "with weights"])
@torch.no_grad()
def test_weights_are_dropped_however_they_are_attended_with(ways, interventions, monkeypatch):
    if ways == "blocks":
        monkeypatch.setattr("attention_plugins.tap._MOST_SCORES", 1)
        monkeypatch.setattr("attention_plugins.blocks._BLOCK_ELEMENTS", 2 * HEADS * 10 * 7)
    found = weights_behind(ways, interventions)
    heads = [0, *range(2, HEADS)]
    met = found[:, heads]
    assert zeros(met) == about(RATE, met.numel())
    kept = met[met != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 0.1 / (1 - RATE)))
    assert zeros(found[:, 1]) == (1 if interventions else about(RATE, found[:, 1].numel()))


@pytest.mark.parametrize("interventions", [[], OFF], ids=["as it is", "intervened"])
@torch.no_grad()
def test_weights_of_a_scoring_that_remembers_are_dropped_too(interventions):
    found = weights_behind("unwatched", interventions, "coverage")
    met = found[:, [0, *range(2, HEADS)]]
    assert zeros(met) == about(RATE, met.numel())
