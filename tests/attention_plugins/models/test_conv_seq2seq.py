"""The convolutional model against its equations, word by word in plain loops."""

import pytest
import torch

from attention_plugins.attention import needs_of
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.conv_seq2seq import CONV_SEQ2SEQ, GatedConvolution
from attention_plugins.models.parts import sinusoidal_positions
from attention_plugins.registry import load
from attention_plugins.tap import Site, Tap
from attention_plugins.text import BOS_ID

SCORINGS = load(allow=[]).scorings
EMBED, HIDDEN, LAYERS = 6, 10, 2
HALF = 0.5**0.5


def _model(scoring="scaled_dot", kernel=3):
    torch.manual_seed(5)
    values = {"embed": EMBED, "hidden": HIDDEN, "layers": LAYERS, "kernel": kernel, "dropout": 0.3}
    factory = SCORINGS[scoring].factory()  # in evaluation nothing is dropped
    return CONV_SEQ2SEQ.create(factory, ModelSizes(source=19, target=13), values).double().eval()


def _embedded(embedding, token, place):
    position = sinusoidal_positions(torch.tensor(place), EMBED, torch.float64)
    return embedding(token) * EMBED**0.5 + position


def _gated(convolution, neighbours):
    """One output of one convolution: a matrix for each neighbour, then the gate."""
    weight, bias = convolution.convolution.weight, convolution.convolution.bias
    both = bias + sum(weight[..., i] @ x for i, x in enumerate(neighbours))
    return both[:HIDDEN] * torch.sigmoid(both[HIDDEN:])


def _encoded(model, source, kernel):
    """Outputs and values of one sentence, each a list of vectors."""
    words = [_embedded(model.source_embedding, token, i) for i, token in enumerate(source)]
    rows, nothing = [model.encoder_in(word) for word in words], torch.zeros(HIDDEN).double()
    left = (kernel - 1) // 2
    for layer in model.encoder:
        padded = [nothing] * left + rows + [nothing] * (kernel - 1 - left)
        rows = [(row + _gated(layer, padded[i : i + kernel])) * HALF for i, row in enumerate(rows)]
    outputs = torch.stack([model.encoder_out(row) for row in rows])
    return outputs, (outputs + torch.stack(words)) * HALF


def _reference(model, source, target, kernel):
    """Log-probabilities of one unpadded pair; no code of the model's forward."""
    keys, values = _encoded(model, source, kernel)
    nothing = torch.zeros(HIDDEN).double()
    read = [[nothing] * (kernel - 1) for _ in model.decoder]
    past, scores, previous = [[] for _ in model.decoder], [], torch.tensor(BOS_ID)
    for number, token in enumerate(target):
        word = _embedded(model.target_embedding, previous, number)
        row = model.decoder_in(word)
        for layer, inputs, rows in zip(model.decoder, read, past, strict=True):
            inputs.append(row)
            hidden = _gated(layer.convolution, inputs[-kernel:])
            query = (layer.to_query(hidden) + word)[None] * HALF
            scoring, memory = layer.scoring, torch.cat(rows) if rows else None
            needs = needs_of(scoring, 1, keys, number, memory)
            logits = scoring(scoring.project_queries(query), scoring.project_keys(keys), **needs)
            rows.append(scoring.normalise(logits))
            context = scoring.pool(rows[-1], values, **needs)[0]
            row = ((hidden + layer.from_context(context)) * HALF + row) * HALF
        scores.append(model.output(model.decoder_out(row)).log_softmax(dim=-1)[token])
        previous = token
    return torch.stack(scores)


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("scoring", ["scaled_dot", "additive", "rope", "coverage"])
def test_it_is_its_equations(scoring, kernel, batch):
    model = _model(scoring, kernel)
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference(model, batch.source[row, :n], batch.target[row, :m], kernel)
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


def test_a_state_holds_the_last_inputs_of_every_layer_and_no_more(batch):
    model = _model(kernel=4)
    state = model.start(batch.source, batch.source_lengths, Tap())
    for _ in range(5):
        _, state = model.step(state, torch.full((3,), BOS_ID), Tap())
    assert state["inputs 0"].shape == state["inputs 1"].shape == (3, 3, HIDDEN)
    assert state["place"].tolist() == [5, 5, 5]


def test_every_decoder_layer_attends(batch):
    _, sites = force(_model(), batch.source, batch.source_lengths, batch.target)
    assert sites.keys() == {Site("cross", layer) for layer in range(LAYERS)}
    for weights in sites.values():
        assert weights.shape == (3, 5, 7)
        assert weights[1, :, 3:].abs().max() == 0


def test_layers_start_with_the_variance_of_their_inputs():
    torch.manual_seed(0)
    layer, inputs = GatedConvolution(256, 3, 0.0), torch.randn(8, 102, 256)
    assert float(layer(inputs).detach().std()) == pytest.approx(1.0, abs=0.25)
