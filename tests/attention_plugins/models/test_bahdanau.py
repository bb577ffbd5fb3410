"""The Bahdanau model against a plain re-statement of its equations, one step after the other."""

import pytest
import torch

from attention_plugins.attention import needs_of
from attention_plugins.contract import ContractError, ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.bahdanau import BAHDANAU, CROSS
from attention_plugins.registry import load
from attention_plugins.text import BOS_ID

SIZES = ModelSizes(source=19, target=13)
PLAIN = {"embed": 6, "hidden": 10, "layers": 2, "dropout": 0.0}
DEEP = {**PLAIN, "deep_readout": True, "bidirectional": True}
SCORINGS = load(allow=[]).scorings


def _model(scoring="additive", values=PLAIN):
    torch.manual_seed(5)
    model = BAHDANAU.create(SCORINGS[scoring].factory(), SIZES, values)
    return model.double().eval()


def _reference_log_probabilities(model, source, target):
    """One unpadded pair, every step with torch's own cells; no code of the model's forward."""
    words = model.encoder.embedding(source)[None]
    states, last = model.encoder.first(words)
    hidden = [last.transpose(0, 1).flatten(1)]
    if model.encoder.rest is not None:
        states, last = model.encoder.rest(states)
        hidden += [*last.transpose(0, 1)[0][:, None]]
    previous, scores, rows = torch.tensor([BOS_ID]), [], []
    for number, token in enumerate(target):
        memory = torch.cat(rows, dim=-2) if rows else None
        needs = needs_of(model.scoring, 1, states, number, memory)
        logits = model.scoring(
            model.scoring.project_queries(hidden[-1][:, None]),
            model.scoring.project_keys(states),
            **needs,
        )
        rows.append(model.scoring.normalise(logits))
        context = model.scoring.pool(rows[-1], states, **needs)[0]
        word = model.embedding(previous) * (6**0.5 if model.deep else 1)
        below = torch.cat([word, context], dim=-1)
        for layer, cell in enumerate(model.cells):
            hidden[layer] = below = cell(below, hidden[layer])
        read = below
        if model.deep:
            read = torch.tanh(model.readout(torch.cat([below, context, word], dim=-1)))
        scores.append(torch.log_softmax(model.output(read), dim=-1)[0, token])
        previous = token[None]
    return torch.stack(scores)


@pytest.mark.parametrize("values", [PLAIN, DEEP, {**DEEP, "layers": 1}])
@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_scoring_gives_the_equations_result(scoring, values, batch):
    model = _model(scoring, values)
    given = batch.source, batch.source_lengths, batch.target
    found, _ = force(model, *given, by_steps=True)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference_log_probabilities(
            model, batch.source[row, :n], batch.target[row, :m]
        )
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("values", [PLAIN, DEEP])
def test_training_loss_is_the_mean_of_what_steps_say(values, batch):
    """And what steps say is what the equations say: both share code, the reference shares none."""
    model = _model(values=values)
    given = batch.source, batch.source_lengths, batch.target
    scores, _ = force(model, *given, by_steps=True)
    counted = torch.cat([scores[row, :m] for row, m in enumerate(batch.target_lengths)])
    expected = [
        _reference_log_probabilities(model, batch.source[row, :n], batch.target[row, :m])
        for row, (n, m) in enumerate(zip(batch.source_lengths, batch.target_lengths, strict=True))
    ]
    with torch.enable_grad():
        loss = model.loss(batch)
    torch.testing.assert_close(loss, -counted.mean(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(loss, -torch.cat(expected).mean(), rtol=1e-9, atol=1e-10)


def test_weights_cover_the_words_and_never_the_padding(batch):
    model = _model()
    _, sites = force(model, batch.source, batch.source_lengths, batch.target)
    weights = sites[CROSS]
    assert weights.shape == (3, 5, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5, dtype=torch.float64))
    assert weights[1, :, 3:].abs().max() == 0
    assert weights[2, :, 0].eq(1).all()


def test_an_odd_hidden_size_cannot_be_read_both_ways():
    with pytest.raises(ContractError, match="even hidden"):
        _model(values={**DEEP, "hidden": 11})
