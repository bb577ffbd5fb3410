"""The Bahdanau model against a plain re-statement of its equations, one step after the other."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from attention_plugins.contract import ContractError, ModelSizes
from attention_plugins.decoding import force, greedy
from attention_plugins.models.bahdanau import BAHDANAU, CROSS
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import load
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID, PAD_ID

SIZES = ModelSizes(source=19, target=13)
PLAIN = {"embed": 6, "hidden": 10, "layers": 2, "dropout": 0.0}
DEEP = {**PLAIN, "deep_readout": True, "bidirectional": True}
SCORINGS = load(allow=[]).scorings


def _model(scoring="additive", values=PLAIN):
    torch.manual_seed(5)
    model = BAHDANAU.create(SCORINGS[scoring].factory(), SIZES, values)
    return model.double().eval()


def _batch():
    """Three pairs with padding planted on both sides."""
    torch.manual_seed(7)
    source, target = torch.randint(4, 19, (3, 7)), torch.randint(4, 13, (3, 5))
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([2, 5, 3])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)


def _reference_log_probabilities(model, source, target):
    """One unpadded pair, every step with torch's own cells; no code of the model's forward."""
    words = model.encoder.embedding(source)[None]
    states, last = model.encoder.first(words)
    hidden = [last.transpose(0, 1).flatten(1)]
    if model.encoder.rest is not None:
        states, last = model.encoder.rest(states)
        hidden += [*last.transpose(0, 1)[0][:, None]]
    previous, scores = torch.tensor([BOS_ID]), []
    for token in target:
        logits = model.scoring(
            model.scoring.project_queries(hidden[-1][:, None]), model.scoring.project_keys(states)
        )
        context = torch.softmax(logits, dim=-1)[0] @ states[0]
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
def test_every_scoring_gives_the_equations_result(scoring, values):
    model, batch = _model(scoring, values), _batch()
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference_log_probabilities(
            model, batch.source[row, :n], batch.target[row, :m]
        )
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("values", [PLAIN, DEEP])
def test_training_loss_is_the_mean_of_what_steps_say(values):
    model, batch = _model(values=values), _batch()
    scores, _ = force(model, batch.source, batch.source_lengths, batch.target)
    counted = torch.cat([scores[row, :m] for row, m in enumerate(batch.target_lengths)])
    with torch.enable_grad():
        loss = model.loss(batch)
    torch.testing.assert_close(loss, -counted.mean(), rtol=1e-10, atol=1e-12)


def test_more_padding_changes_no_loss_and_no_gradient():
    model, batch = _model(values=DEEP), _batch()
    wider = Batch(
        nn.functional.pad(batch.source, (0, 4), value=PAD_ID), batch.source_lengths,
        nn.functional.pad(batch.target, (0, 2), value=PAD_ID), batch.target_lengths,
    )  # fmt: skip
    parameters = list(model.parameters())
    narrow_loss, wide_loss = model.loss(batch), model.loss(wider)
    torch.testing.assert_close(narrow_loss, wide_loss, rtol=1e-12, atol=1e-12)
    for mine, other in zip(
        torch.autograd.grad(narrow_loss, parameters),
        torch.autograd.grad(wide_loss, parameters),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-12)


def test_weights_cover_the_words_and_never_the_padding():
    model, batch = _model(), _batch()
    _, sites = force(model, batch.source, batch.source_lengths, batch.target)
    weights = sites[CROSS]
    assert weights.shape == (3, 5, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5, dtype=torch.float64))
    assert weights[1, :, 3:].abs().max() == 0
    assert weights[2, :, 0].eq(1).all()


def test_every_parameter_learns():
    model, batch = _model(values=DEEP), _batch()
    model.loss(batch).backward()
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert still == []


def test_dropout_draws_in_training_only():
    model, batch = _model(values={**PLAIN, "dropout": 0.5}), _batch()
    assert model.loss(batch) == model.loss(batch)
    model.train()
    assert model.loss(batch) != model.loss(batch)


def test_two_users_may_share_one_model():
    model, batch = _model(), _batch()
    before = {name: set(vars(module)) for name, module in model.named_modules()}

    def decode(row):
        n = batch.source_lengths[row]
        return greedy(model, batch.source[row : row + 1, :n], n[None], limit=11)[0]

    alone = [decode(row) for row in (0, 1, 2)] * 8
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(decode, [0, 1, 2] * 8))
    assert together == alone
    assert {name: set(vars(module)) for name, module in model.named_modules()} == before


def test_a_state_is_tensors_with_the_batch_first():
    model, batch = _model(), _batch()
    state = model.start(batch.source, batch.source_lengths, Tap())
    assert {name: len(tensor) for name, tensor in state.items()} == dict.fromkeys(state, 3)


def test_an_odd_hidden_size_cannot_be_read_both_ways():
    with pytest.raises(ContractError, match="even hidden"):
        _model(values={**DEEP, "hidden": 11})
