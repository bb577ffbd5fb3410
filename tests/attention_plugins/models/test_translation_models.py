"""What every translation model promises, whatever it is made of."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.nn.functional import pad

from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import greedy
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.protocols import Batch
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.registry import load
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID, PAD_ID

SCORINGS = load(allow=[]).scorings
KINDS = {
    "bahdanau": (BAHDANAU, {"embed": 6, "hidden": 10}),
    "deep": (
        BAHDANAU, {"embed": 6, "hidden": 10, "deep_readout": True, "bidirectional": True},
    ),
    "transformer": (TRANSFORMER, {"hidden": 12, "heads": 3, "ffn": 10}),
    "pre-norm": (
        TRANSFORMER, {"hidden": 12, "heads": 3, "ffn": 10, "pre_norm": True, "tied": True},
    ),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


def _model(kind, scoring="additive", dropout=0.0):
    spec, values = KINDS[kind]
    torch.manual_seed(5)
    factory = SCORINGS[scoring].factory()
    model = spec.create(factory, ModelSizes(19, 13), {**values, "dropout": dropout})
    return model.double().eval()


@every_kind
@pytest.mark.parametrize("scoring", SCORINGS)
def test_more_padding_changes_no_loss_and_no_gradient(kind, scoring, batch):
    model = _model(kind, scoring)
    wider = Batch(
        pad(batch.source, (0, 4), value=PAD_ID), batch.source_lengths,
        pad(batch.target, (0, 2), value=PAD_ID), batch.target_lengths,
    )  # fmt: skip
    narrow_loss, wide_loss = model.loss(batch), model.loss(wider)
    torch.testing.assert_close(narrow_loss, wide_loss, rtol=1e-11, atol=1e-12)
    parameters = list(model.parameters())
    for mine, other in zip(
        torch.autograd.grad(narrow_loss, parameters, allow_unused=True),
        torch.autograd.grad(wide_loss, parameters, allow_unused=True),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-7, atol=1e-11)


@every_kind
def test_every_parameter_learns(kind, batch):
    model = _model(kind)
    model.loss(batch).backward()
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert still == []


@every_kind
def test_dropout_draws_in_training_only(kind, batch):
    model = _model(kind, dropout=0.5)
    assert model.loss(batch) == model.loss(batch)
    model.train()
    assert model.loss(batch) != model.loss(batch)


@every_kind
def test_two_users_may_share_one_model(kind, batch):
    model = _model(kind)
    before = {name: set(vars(module)) for name, module in model.named_modules()}

    def decode(row):
        n = batch.source_lengths[row]
        return greedy(model, batch.source[row : row + 1, :n], n[None], limit=11)[0]

    alone = [decode(row) for row in (0, 1, 2)] * 8
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(decode, [0, 1, 2] * 8))
    assert together == alone
    assert {name: set(vars(module)) for name, module in model.named_modules()} == before


@every_kind
def test_a_state_is_tensors_with_the_batch_first_and_a_step_leaves_it_alone(kind, batch):
    model = _model(kind)
    state = model.start(batch.source, batch.source_lengths, Tap())
    before = {name: tensor.clone() for name, tensor in state.items()}
    _, after = model.step(state, torch.tensor([BOS_ID] * 3), Tap())
    for one in (state, after):
        assert {name: len(tensor) for name, tensor in one.items()} == dict.fromkeys(one, 3)
    assert state.keys() == before.keys()
    assert all(torch.equal(state[name], tensor) for name, tensor in before.items())
