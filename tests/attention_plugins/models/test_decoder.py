"""The decoder against torch's encoder under a causal mask, over each pair in a row."""

import math

import pytest
import torch
from torch import nn

from attention_plugins import Positions, Scoring, ScoringSpec
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import force, greedy
from attention_plugins.models.decoder import DECODER
from attention_plugins.models.parts import sinusoidal_positions
from attention_plugins.record import Axes
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site
from attention_plugins.text import BOS_ID

SCORINGS = load(allow=[]).scorings
SIZES = ModelSizes(source=19, target=13)
ONE = ModelSizes(19, 19, tuple(range(19)))
POST = {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10, "dropout": 0.0}
PRE = {**POST, "layers": 3, "pre_norm": True, "tied": True}


def _model(scoring="scaled_dot", values=POST, sizes=SIZES):
    torch.manual_seed(5)
    spec = scoring if isinstance(scoring, ScoringSpec) else SCORINGS[scoring]
    model = DECODER.create(spec.factory(), sizes, values).double().eval()
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
    """Log-probabilities of one pair: ``<bos>``, the source without ``<eos>``, the target."""
    n, m = len(source), len(target)
    before = torch.cat([torch.tensor([BOS_ID]), source[:-1]])
    words = torch.cat([model.source_embedding(before), model.target_embedding(target[:-1])])
    row = words * math.sqrt(12)
    row = (row + sinusoidal_positions(torch.arange(n + m - 1), 12, torch.float64))[None]
    hidden = torch.ones(n + m - 1, n + m - 1, dtype=torch.bool).triu(1)
    for layer in model.layers:
        row = _torchs(layer, values)(row, src_mask=hidden)
    said = model.output(model.norm(row[0, n - 1 :])).log_softmax(dim=-1)
    return said.gather(1, target[:, None])[:, 0]


@pytest.mark.parametrize("values", [POST, PRE])
@pytest.mark.parametrize("by_steps", [False, True])
def test_it_is_torchs_encoder_under_a_causal_mask(values, by_steps, batch):
    model = _model(values=values)
    found, _ = force(
        model, batch.source, batch.source_lengths, batch.target, by_steps=by_steps
    )  # fmt: skip
    for row in range(3):
        n, m = batch.source_lengths[row], batch.target_lengths[row]
        expected = _reference(model, values, batch.source[row, :n], batch.target[row, :m])
        torch.testing.assert_close(found[row, :m], expected, rtol=1e-9, atol=1e-10)


# Of each way in which a place in the row can enter a score: absolute, relative, by memory.
@pytest.mark.parametrize("scoring", ["local_predicted", "rope", "monotonic"])
def test_a_pair_costs_alone_what_it_costs_in_a_batch(scoring, batch):
    model = _model(scoring)
    for by_steps in (False, True):
        together, _ = force(
            model, batch.source, batch.source_lengths, batch.target, by_steps=by_steps
        )
        for row in range(3):
            n, m = batch.source_lengths[row], batch.target_lengths[row]
            alone, _ = force(
                model, batch.source[row : row + 1, :n], n[None], batch.target[row : row + 1, :m]
            )
            torch.testing.assert_close(together[row, :m], alone[0], rtol=1e-9, atol=1e-10)


def test_rows_and_columns_of_its_sites_are_one_text(batch):
    model = _model()
    _, sites = force(model, batch.source, batch.source_lengths, batch.target)
    assert {site: tuple(found.shape) for site, found in sites.items()} == {
        Site("decoder", layer): (3, 3, 11, 11) for layer in range(2)
    }
    assert model.axes(Site("decoder", 1)) == Axes(("text",), ("text",))
    for weights in sites.values():
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 3, 11).double())
        assert weights.triu(1).abs().max() == 0
        assert (weights + torch.ones(11, 11).triu(1) > 0).all()


def test_both_sides_share_their_embedding_where_they_share_their_words():
    one, two = _model(sizes=ONE), _model()
    assert one.source_embedding is one.target_embedding
    assert two.source_embedding.weight.shape == (19, 12)
    other = _model(sizes=ModelSizes(19, 19, (*range(18), 0)))
    assert other.source_embedding is not other.target_embedding


def test_where_a_beginning_ends_changes_nothing(batch):
    """Of one vocabulary, the words of a sentence cost the same wherever it was cut."""
    model = _model(sizes=ONE, values=PRE)
    words, end = batch.source[:1, :6], torch.tensor([[3]])
    costs = []
    for cut in (1, 2, 4):
        source = torch.cat([words[:, :cut], end], dim=1)
        target = torch.cat([words[:, cut:], end], dim=1)
        costs.append(force(model, source, torch.tensor([cut + 1]), target)[0][0, 4 - cut :])
    torch.testing.assert_close(costs[0], costs[1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(costs[0], costs[2], rtol=1e-12, atol=1e-12)


class Watched(Scoring):
    """Dot products; the positions that were handed over go into a list of the test's."""

    needs = ("positions",)

    def __init__(self, seen):
        super().__init__()
        self.note = seen.append

    def forward(self, queries, keys, *, positions: Positions):
        self.note(positions)
        return queries @ keys.mT


def test_the_row_is_counted_through_both_parts(batch):
    seen = []
    spec = ScoringSpec(
        name="watched", title="W", formula="q", build=lambda sizes, values: Watched(seen)
    )
    model = _model(spec, {**POST, "layers": 1})
    model.loss(batch)
    force(model, batch.source, batch.source_lengths, batch.target, by_steps=True)
    counts = [[*range(count)] for count in (11, *range(7, 12))]
    assert [one.queries.tolist() for one in seen] == counts
    assert [one.keys.tolist() for one in seen] == counts


def test_a_change_to_a_row_is_a_change_to_its_word(batch):
    """Row 6 is the source's last word: it alone is changed, and what is written follows."""
    model, (source, lengths, target) = _model(), (part[:1] for part in batch[:3])
    lengths = lengths.clone()
    change = [Intervention(site=Site("decoder", 0), action="pin", key=1, row=6)]
    usual, before = force(model, source, lengths, target)
    changed, after = force(model, source, lengths, target, interventions=change)
    first, second = (found[Site("decoder", 0)][0] for found in (before, after))
    assert second[:, 6].argmax(dim=-1).eq(1).all()
    assert second[:, 6].amax(dim=-1).eq(1).all()
    assert first[:, [*range(6), *range(7, 11)]].equal(second[:, [*range(6), *range(7, 11)]])
    assert not torch.isclose(usual, changed).any()


def test_a_search_of_unequal_beginnings_finds_what_each_finds_alone(batch):
    model = _model("alibi", PRE)
    with torch.no_grad():
        model.output.bias[3] = -5.0  # it writes on
    together = greedy(model, batch.source, batch.source_lengths, limit=9)
    for row in range(3):
        n = batch.source_lengths[row]
        (alone,) = greedy(model, batch.source[row : row + 1, :n], n[None], limit=9)
        assert together[row].ids == alone.ids
        assert together[row].log_probability == pytest.approx(alone.log_probability, abs=1e-9)
