"""What every translation model promises, whatever it is made of."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from attention_plugins.checking import check_model
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import greedy
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.scorings.additive import ADDITIVE


def _with_defaults(spec, **values):
    """The record of a small model, or of one that is built otherwise."""
    parameters = (replace(p, default=values.get(p.name, p.default)) for p in spec.parameters)
    return replace(spec, parameters=tuple(parameters))


KINDS = {
    "bahdanau": _with_defaults(BAHDANAU, embed=6, hidden=10),
    "deep": _with_defaults(BAHDANAU, embed=6, hidden=10, deep_readout=True, bidirectional=True),
    "transformer": _with_defaults(TRANSFORMER, hidden=12, heads=3, ffn=10),
    "pre-norm": _with_defaults(
        TRANSFORMER, hidden=12, heads=3, ffn=10, pre_norm=True, tied=True
    ),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_it_keeps_every_rule_of_the_kit(kind):
    assert [finding for finding in check_model(KINDS[kind]) if not finding.passed] == []


def _model(kind, **values):
    torch.manual_seed(5)
    model = KINDS[kind].create(ADDITIVE.factory(), ModelSizes(19, 13), values)
    return model.double().eval()


@every_kind
def test_dropout_draws_in_training(kind, batch):
    model = _model(kind, dropout=0.5)
    model.train()
    assert model.loss(batch) != model.loss(batch)


@every_kind
def test_two_users_may_share_one_model(kind, batch):
    model = _model(kind)

    def decode(row):
        n = batch.source_lengths[row]
        return greedy(model, batch.source[row : row + 1, :n], n[None], limit=11)[0]

    alone = [decode(row) for row in (0, 1, 2)] * 8
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(decode, [0, 1, 2] * 8))
    assert together == alone
