"""What every translation model promises, whatever it is made of and attends with."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_plugins.agreement import losses
from attention_plugins.attention import Scoring
from attention_plugins.checking import check_model
from attention_plugins.contract import ModelSizes, Sizes
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.conv_seq2seq import CONV_SEQ2SEQ
from attention_plugins.models.decoder import DECODER, PREFIX_LM
from attention_plugins.models.luong import LUONG
from attention_plugins.models.protocols import Batch, ForcedModel
from attention_plugins.models.transformer import (
    GROUPED_QUERY,
    PRE_NORM,
    SHARED_LAYERS,
    TRANSFORMER,
)
from attention_plugins.registry import load
from attention_plugins.scorings.additive import ADDITIVE
from attention_plugins.tap import Intervention, Tap
from attention_plugins.text import BOS_ID, EOS_ID

BUILT_IN = load(allow=[])
SMALL = {"hidden": 12, "heads": 4, "ffn": 10}


def _with_defaults(spec, **values):
    """The record of a small model, or of one that is built otherwise."""
    parameters = (replace(p, default=values.get(p.name, p.default)) for p in spec.parameters)
    return replace(spec, parameters=tuple(parameters))


KINDS = {
    "bahdanau": _with_defaults(BAHDANAU, embed=6, hidden=10),
    "deep": _with_defaults(BAHDANAU, embed=6, hidden=10, deep_readout=True, bidirectional=True),
    "luong": _with_defaults(LUONG, embed=6, hidden=10),
    "lstm": _with_defaults(LUONG, embed=6, hidden=10, layers=2, cell="lstm"),
    "convolutional": _with_defaults(CONV_SEQ2SEQ, embed=6, hidden=10, kernel=4),
    "transformer": _with_defaults(TRANSFORMER, **SMALL),
    "normalised first, tied": _with_defaults(TRANSFORMER, **SMALL, pre_norm=True, tied=True),
    "grouped queries": _with_defaults(GROUPED_QUERY, **SMALL, key_heads=2),
    "multi-query": _with_defaults(GROUPED_QUERY, **SMALL, key_heads=1),
    "pre-norm": _with_defaults(PRE_NORM, **SMALL),
    "prefix": _with_defaults(PREFIX_LM, **SMALL),
    "prefix, normalised first": _with_defaults(PREFIX_LM, **SMALL, pre_norm=True, tied=True),
    "decoder": _with_defaults(DECODER, **SMALL, pre_norm=True, tied=True),
    "shared layers": _with_defaults(SHARED_LAYERS, **SMALL, layers=3),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
# What takes a second a model: of every design one by default, its variants in the slow run.
VARIANTS = {"deep", "lstm", "normalised first, tied", "multi-query", "prefix, normalised first"}
every_design = pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[pytest.mark.slow] * (k in VARIANTS)) for k in KINDS],
)


# A recurrent model and a Transformer meet every plugin; the others one for each way in which a
# plugin enters a model: what it asks for, and what it does besides scores.
MEETING_ALL = ("bahdanau", "transformer")


def _way_of_scoring(spec):
    made = spec.create(Sizes(12, 12, 12, heads=4))
    own = (getattr(type(made), name) is not getattr(Scoring, name) for name in _BESIDE_SCORES)
    return made.needs, *own, spec.same_size, spec.own_normaliser


def _way_of_normalising(spec):
    return spec.sums_to_one, any(True for _ in spec.create().parameters())


_BESIDE_SCORES = ("normalise", "pool")


def _pairs(records, way):
    first = {way(spec): name for name, spec in reversed(records.items())}
    return [
        pytest.param(kind, name, marks=[pytest.mark.slow] * (kind in VARIANTS))
        for kind in KINDS
        for name in records
        if kind in MEETING_ALL or name in first.values()
    ]


@pytest.mark.slow
@every_design
def test_it_keeps_every_rule_of_the_kit(kind):
    assert [finding for finding in check_model(KINDS[kind]) if not finding.passed] == []


def _model(kind, scoring=ADDITIVE, normaliser=None, **values):
    torch.manual_seed(5)
    factory = scoring.factory(None, normaliser and normaliser.factory())
    model = KINDS[kind].create(factory, ModelSizes(19, 13), {"dropout": 0.0, **values})
    with torch.no_grad():  # what a scoring learns starts small, or at 0: it must matter
        for name, parameter in model.named_parameters():
            if "scoring" in name:
                parameter.copy_(torch.randn_like(parameter))
    return model.double().eval()


@pytest.mark.parametrize(("kind", "scoring"), _pairs(BUILT_IN.scorings, _way_of_scoring))
def test_at_once_and_word_by_word_are_one_loss_with_every_scoring(kind, scoring, batch):
    found = losses(_model(kind, BUILT_IN.scorings[scoring]), batch)
    assert found.agree
    assert found.at_once > 0.1


@pytest.mark.parametrize(("kind", "normaliser"), _pairs(BUILT_IN.normalisers, _way_of_normalising))
def test_at_once_and_word_by_word_are_one_loss_with_every_normaliser(kind, normaliser, batch):
    model = _model(kind, normaliser=BUILT_IN.normalisers[normaliser])
    assert losses(model, batch).agree


@every_kind
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_loss_is_torchs_token_by_token(kind, smoothing, batch):
    """Of what each step says of all words: the mean over target tokens, padding not counted."""
    model, tap = _model(kind), Tap()
    state = model.start(batch.source, batch.source_lengths, tap)
    last, scores = torch.full_like(batch.target[:, 0], BOS_ID), []
    for wanted in batch.target.T:
        found, state = model.step(state, last, tap)
        scores.append(found)
        last = wanted
    counted = torch.arange(5) < batch.target_lengths[:, None]
    expected = cross_entropy(
        torch.stack(scores, dim=1)[counted], batch.target[counted], label_smoothing=smoothing
    )
    torch.testing.assert_close(model.loss(batch, smoothing), expected, rtol=1e-9, atol=1e-10)


@every_kind
@pytest.mark.parametrize("scoring", ["scaled_dot", "additive", "rope", "location_sensitive"])
def test_a_search_sums_what_its_words_cost_when_forced(kind, scoring, batch):
    model = _model(kind, BUILT_IN.scorings[scoring])
    with torch.no_grad():  # it writes on, and another word changes what it sees
        for name, parameter in model.named_parameters():
            parameter.mul_(1.0 if "scoring" in name or "norm" in name else 3.0)
        model.output.bias[EOS_ID] = -5.0
    source, lengths = batch.source[:1, :6], torch.tensor([6])
    hypotheses = beam(model, source, lengths, width=4, limit=6)[0]
    for found in hypotheses:
        scores, _ = force(model, source, lengths, torch.tensor([found.ids]))
        assert float(scores.sum()) == pytest.approx(found.log_probability, abs=1e-9)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(k, marks=[pytest.mark.slow] * (k not in ("bahdanau", "transformer")))
        for k in KINDS
    ],
)
def test_a_short_training_learns_to_copy(kind):
    torch.manual_seed(0)
    model = KINDS[kind].create(BUILT_IN.scorings["scaled_dot"].factory(), ModelSizes(13, 13))
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    costs = []
    for _ in range(60):
        source = torch.randint(4, 13, (16, 5))
        source[:, -1] = EOS_ID
        lengths = torch.full((16,), 5)
        loss = model.loss(Batch(source, lengths, source, lengths))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        costs.append(loss.item())
    assert sum(costs[-5:]) / 5 < 0.8 * costs[0]


@every_kind
def test_dropout_draws_in_training(kind, batch):
    model = _model(kind, dropout=0.5)
    model.train()
    assert model.loss(batch) != model.loss(batch)


@every_design
def test_two_users_may_share_one_model(kind, batch):
    model = _model(kind)

    def decode(row):
        n = batch.source_lengths[row]
        return greedy(model, batch.source[row : row + 1, :n], n[None], limit=11)[0]

    alone = [decode(row) for row in (0, 1, 2)] * 3
    often = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)  # so that few searches meet each other often
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(decode, [0, 1, 2] * 3))
    finally:
        sys.setswitchinterval(often)
    assert together == alone


@every_kind
@pytest.mark.parametrize("scoring", ["additive", "rope", "coverage"])
def test_forced_at_once_every_word_and_weight_is_that_of_the_steps(kind, scoring, batch):
    model = _model(kind, BUILT_IN.scorings[scoring])
    assert isinstance(model, ForcedModel)
    given = batch.source, batch.source_lengths, batch.target
    # What a row or a column is may depend on the sentence's length.
    if kind == "decoder" or getattr(model, "joined", False):
        given = tuple(part[:1] for part in given)
    _, sites = force(model, *given)
    changes = [
        [],
        *(
            [Intervention(site=site, action=action, key=key, **where) for site in sites]
            for action, key in (("off", None), ("uniform", None), ("pin", 0), ("pin", 2))
            for where in ({}, {"row": 1})
        ),
        [Intervention(site=site, action="pin", key=6) for site in sites if site.kind == "cross"],
    ]
    for change in changes:
        stepwise, maps = force(model, *given, interventions=change, by_steps=True)
        at_once, found = force(model, *given, interventions=change)
        torch.testing.assert_close(at_once, stepwise, atol=1e-11, rtol=1e-11)
        assert found.keys() == maps.keys()
        for site in maps:
            torch.testing.assert_close(found[site], maps[site], atol=1e-11, rtol=1e-11)


@every_kind
def test_steps_are_asked_where_steps_are_wanted(kind, batch, monkeypatch):
    """The comparison of training with decoding would otherwise compare training with itself."""
    model = _model(kind)
    monkeypatch.setattr(type(model), "forced_log_probabilities", None)
    assert losses(model, batch).agree
