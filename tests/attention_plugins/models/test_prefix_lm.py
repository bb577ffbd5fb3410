"""The prefix language model against torch's encoder over each sentence pair in a row."""

import math

import pytest
import torch
from torch import nn

from attention_plugins import Positions, Scoring, ScoringSpec
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.decoder import PREFIX_LM
from attention_plugins.models.parts import sinusoidal_positions
from attention_plugins.record import Axes
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site, Tap
from attention_plugins.text import BOS_ID

SCORINGS = load(allow=[]).scorings
SIZES = ModelSizes(source=19, target=13)
POST = {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10, "dropout": 0.0}
PRE = {**POST, "layers": 3, "pre_norm": True, "tied": True}


def _model(scoring="scaled_dot", values=POST):
    torch.manual_seed(5)
    spec = scoring if isinstance(scoring, ScoringSpec) else SCORINGS[scoring]
    model = PREFIX_LM.create(spec.factory(), SIZES, values).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "scoring" in name:  # tables start at 0
                parameter.copy_(torch.randn_like(parameter))
    return model


def _torchs(mine, values):
    theirs = nn.TransformerEncoderLayer(
        12, 3, 10, dropout=0.0, batch_first=True, norm_first=values.get("pre_norm", False)
    ).double()
    theirs.self_attn.in_proj_weight.data.copy_(mine.attention.projections.weight)
    theirs.self_attn.in_proj_bias.data.copy_(mine.attention.projections.bias)
    theirs.self_attn.out_proj.load_state_dict(mine.attention.output.state_dict())
    theirs.linear1.load_state_dict(mine.feed_forward.rise.state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward.fall.state_dict())
    for number, residual in enumerate(mine.residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())
    return theirs


def _reference(model, values, source, target):
    """Log-probabilities of one pair without padding, its words in one row of torch's encoder."""
    n, m = len(source), len(target)
    read = torch.cat([torch.tensor([BOS_ID]), target[:-1]])
    words = torch.cat([model.source_embedding(source), model.target_embedding(read)])
    row = words * math.sqrt(12) + sinusoidal_positions(torch.arange(n + m), 12, torch.float64)
    hidden = torch.ones(n + m, n + m, dtype=torch.bool).triu(1)
    hidden[:n, :n] = False
    row = row[None]
    for layer in model.layers:
        row = _torchs(layer, values)(row, src_mask=hidden)
    said = model.output(model.norm(row[0, n:])).log_softmax(dim=-1)
    return said.gather(1, target[:, None])[:, 0]


@pytest.mark.parametrize("values", [POST, PRE])
def test_it_is_torchs_encoder_over_both_in_a_row(values, batch):
    model = _model(values=values)
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference(model, values, batch.source[row, :n], batch.target[row, :m])
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_pair_costs_alone_what_it_costs_in_a_batch(scoring, batch):
    model = _model(scoring)
    together, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        alone, _ = force(
            model, batch.source[row : row + 1, :n], n[None], batch.target[row : row + 1, :m]
        )
        torch.testing.assert_close(together[row, :m], alone[0], rtol=1e-9, atol=1e-10)


def test_its_sites_are_the_sources_and_the_targets_rows(batch):
    model = _model(values={**POST, "layers": 3})
    _, sites = force(model, batch.source, batch.source_lengths, batch.target)
    shapes = {site: tuple(weights.shape) for site, weights in sites.items()}
    cross = {Site("cross", layer): (3, 3, 5, 12) for layer in range(3)}
    encoder = {Site("encoder", layer): (3, 3, 7, 7) for layer in range(2)}  # the last is not read
    assert shapes == {**cross, **encoder}
    assert model.axes(Site("cross", 1)) == Axes(("target",), ("source", "target"))
    assert model.axes(Site("encoder", 1)) == Axes(("source",), ("source",))
    weights = sites[Site("cross", 2)]
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 3, 5).double())
    assert weights[..., 7:].triu(1).abs().max() == 0
    assert weights[1, :, :, 3:7].abs().max() == 0
    assert (weights[1, :, :, :3] > 0).all()


class Watched(Scoring):
    """Dot products; the positions that were handed over go into a list of the test's."""

    needs = ("positions",)

    def __init__(self, seen):
        super().__init__()
        self.note = seen.append

    def forward(self, queries, keys, *, positions: Positions):
        self.note(positions)
        return queries @ keys.mT


def test_source_and_target_are_counted_each_from_its_start(batch):
    seen = []
    spec = ScoringSpec(
        name="watched", title="W", formula="q", build=lambda sizes, values: Watched(seen)
    )
    model = _model(spec, {**POST, "layers": 1})
    expected = [*range(7), *range(5)]
    model.loss(batch)
    assert seen[0].queries.tolist() == [*range(5)]
    assert seen[0].keys.tolist() == expected
    force(model, batch.source, batch.source_lengths, batch.target, by_steps=True)
    assert [one.queries.tolist() for one in seen[1:]] == [[t] for t in range(5)]
    assert [one.keys.tolist() for one in seen[1:]] == [expected[: 8 + t] for t in range(5)]


@pytest.mark.parametrize("scoring", ["scaled_dot", "coverage"])
def test_a_target_word_can_be_pinned_once_it_is_there(scoring, batch):
    pin = Intervention(site=Site("cross", 0), action="pin", key=8)  # after seven words and <bos>
    source, lengths, target = (part[:1] for part in batch[:3])
    _, sites = force(_model(scoring), source, lengths, target, interventions=[pin])
    pinned = sites[Site("cross", 0)][0]
    assert pinned[:, 1:, 8].eq(1).all()
    assert pinned[:, 0, 8].eq(0).all()


@pytest.mark.parametrize("scoring", ["scaled_dot", "coverage"])
def test_a_later_word_changes_nothing_before_it(scoring, batch):
    model = _model(scoring)
    state = model.start(batch.source, batch.source_lengths, Tap())
    changed = batch.target.clone()
    changed[:, 2] = (changed[:, 2] - 3) % 9 + 4
    before, after = (model.write(words, state, Tap())[0] for words in (batch.target, changed))
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:], after[:, 2:])
