"""Luong's model against its equations, one step after the other with torch's cells."""

import pytest
import torch
from torch import nn

from attention_plugins.attention import needs_of
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.luong import CROSS, LUONG
from attention_plugins.registry import load
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID

SCORINGS = load(allow=[]).scorings
GRU = {"embed": 6, "hidden": 10, "layers": 1, "dropout": 0.0, "cell": "gru"}
LSTM = {**GRU, "layers": 2, "cell": "lstm"}
UNFED = {**LSTM, "input_feeding": False}


def _model(scoring="additive", values=GRU):
    torch.manual_seed(5)
    factory = SCORINGS[scoring].factory()
    return LUONG.create(factory, ModelSizes(source=19, target=13), values).double().eval()


def _cells(recurrent):
    """torch's cells with the weights of each layer."""
    kind = {nn.GRU: nn.GRUCell, nn.LSTM: nn.LSTMCell}[type(recurrent)]
    cells = []
    for layer in recurrent.all_weights:
        cell = kind(layer[0].shape[1], recurrent.hidden_size).double()
        for own, weight in zip(cell.parameters(), layer, strict=True):
            own.data.copy_(weight)
        cells.append(cell)
    return cells


def _move(cells, below, states):
    """One step of all layers; a GRU's state is ``h``, an LSTM's ``(h, c)``."""
    new = []
    for cell, state in zip(cells, states, strict=True):
        new.append(cell(below, state))
        below = new[-1] if isinstance(cell, nn.GRUCell) else new[-1][0]
    return below, new


def _reference(model, source, target):
    """Log-probabilities of one unpadded pair; no code of the model's forward."""
    zeros = torch.zeros(1, 10).double()
    encoder, decoder = _cells(model.encoder), _cells(model.decoder)
    states = [zeros if isinstance(cell, nn.GRUCell) else (zeros, zeros) for cell in encoder]
    memory = []
    for token in source:
        top, states = _move(encoder, model.source_embedding(token)[None], states)
        memory.append(top)
    memory = torch.stack(memory, dim=1)  # (1, n, h)
    seen, previous, scores, rows = zeros, torch.tensor([BOS_ID]), [], []
    for number, token in enumerate(target):
        word = model.target_embedding(previous)
        read = torch.cat([word, seen], dim=-1) if model.feeding else word
        top, states = _move(decoder, read, states)
        past = torch.cat(rows, dim=-2) if rows else None
        needs = needs_of(model.scoring, 1, memory, number, past)
        logits = model.scoring(
            model.scoring.project_queries(top[:, None]),
            model.scoring.project_keys(memory),
            **needs,
        )
        rows.append(model.scoring.normalise(logits))
        context = model.scoring.pool(rows[-1], memory, **needs)[:, 0]
        seen = torch.tanh(torch.cat([context, top], dim=-1) @ model.combine.weight.T)
        said = seen @ model.output.weight.T + model.output.bias
        scores.append(said.log_softmax(dim=-1)[0, token])
        previous = token[None]
    return torch.stack(scores)


@pytest.mark.parametrize("values", [GRU, LSTM, UNFED])
@pytest.mark.parametrize("scoring", ["scaled_dot", "additive", "rope", "alibi", "coverage"])
def test_it_is_its_equations(scoring, values, batch):
    model = _model(scoring, values)
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference(model, batch.source[row, :n], batch.target[row, :m])
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


def test_what_a_step_saw_reaches_the_next_one_by_input_feeding_alone(batch):
    for values, fed in ((GRU, True), (UNFED, False)):
        model = _model(values=values)
        state = model.start(batch.source, batch.source_lengths, Tap())
        other = {**state, "seen": torch.randn(3, 10).double()}
        first = batch.target[:, :1]
        one, two = (model.write(first, given, Tap())[1]["hidden"] for given in (state, other))
        assert torch.equal(one, two) != fed


def test_weights_cover_the_words_and_never_the_padding(batch):
    _, sites = force(_model(), batch.source, batch.source_lengths, batch.target)
    weights = sites[CROSS]
    assert weights.shape == (3, 5, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5, dtype=torch.float64))
    assert weights[1, :, 3:].abs().max() == 0
