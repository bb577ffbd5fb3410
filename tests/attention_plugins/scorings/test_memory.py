"""Scorings that know the weights of earlier queries: alone, inside models, and in a search."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_plugins import Site, Sizes, Tap, attend, scorings
from attention_plugins.attention import Earlier, Scoring
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import beam, force
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.protocols import Batch
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.text import EOS_ID, PAD_ID

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}
NAMES = ("coverage", "location_sensitive", "monotonic", "forward_attention")
every_scoring = pytest.mark.parametrize("name", NAMES)
MODELS = {
    "bahdanau": (BAHDANAU, {"embed": 6, "hidden": 10, "layers": 2, "dropout": 0.0}),
    "transformer": (TRANSFORMER, {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10,
                                  "dropout": 0.0}),
}  # fmt: skip
every_model = pytest.mark.parametrize("kind", MODELS)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(name, **values):
    """A scoring whose weights are large enough to matter."""
    torch.manual_seed(3)
    built = SPECS[name].create(Sizes(5, 3, 7), values).double()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.mul_(2.0)
    return built


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    parts = np.exp(x - x.max())
    return parts / parts.sum()


def weights_of(built):
    return {name: part.detach().numpy() for name, part in built.named_parameters()}


def additive(known, query, keys, extra=0.0):
    """``v . tanh(W_q q + W_k k + extra)`` of one query and every key."""
    hidden = known["from_query.weight"] @ query + keys @ known["from_key.weight"].T + extra
    return np.tanh(hidden) @ known["weight.weight"][0]


def coverage(known, queries, keys):
    rows, seen = [], np.zeros(len(keys))
    for query in queries:
        extra = seen[:, None] * known["from_coverage.weight"][:, 0]
        rows.append(softmax(additive(known, query, keys, extra)))
        seen = seen + rows[-1]
    return rows


def location_sensitive(known, queries, keys):
    rows, last = [], np.zeros(len(keys))
    filters = known["slide.weight"][:, 0]
    reach = filters.shape[1] // 2
    for query in queries:
        seen = np.zeros((len(keys), len(filters)))
        for key in range(len(keys)):
            for place in range(-reach, reach + 1):
                if 0 <= key + place < len(keys):
                    seen[key] += filters[:, place + reach] * last[key + place]
        last = softmax(additive(known, query, keys, seen @ known["from_location.weight"].T))
        rows.append(last)
    return rows


def monotonic(known, queries, keys):
    """Equation 8 of the paper, as a sum over all ways to come there."""
    rows, last = [], np.eye(len(keys))[0]
    for query in queries:
        stop = sigmoid(additive(known, query, keys) + known["offset"])
        row = np.zeros(len(keys))
        for here in range(len(keys)):
            for start in range(here + 1):
                row[here] += last[start] * np.prod(1 - stop[start:here]) * stop[here]
        rows.append(row)
        last = row
    return rows


def forward_attention(known, queries, keys):
    """Algorithm 1 of the paper."""
    rows, last = [], np.eye(len(keys))[0]
    for query in queries:
        row = softmax(additive(known, query, keys)) * (last + np.append(0.0, last[:-1]))
        last = row / row.sum()
        rows.append(last)
    return rows


@every_scoring
def test_weights_are_those_of_a_plain_loop(name):
    built, (queries, keys) = make(name), (draw(7, 5), draw(11, 3, seed=1))
    expected = np.stack(globals()[name](weights_of(built), queries.numpy(), keys.numpy()))
    found = attend(built, queries, keys, keys)[1]
    torch.testing.assert_close(found, torch.from_numpy(expected), atol=1e-10, rtol=0)


@every_scoring
def test_padding_changes_no_weight(name):
    built, (queries, keys) = make(name), (draw(1, 7, 5), draw(1, 11, 3, seed=1))
    alone = attend(built, queries, keys[:, :6], keys[:, :6])[1]
    padded = attend(built, queries, keys, keys, torch.tensor([6]))[1]
    torch.testing.assert_close(padded[..., :6], alone, atol=1e-12, rtol=0)
    assert not padded[..., 6:].any()


def test_forward_attention_moves_by_one_key_at_most():
    built, keys = make("forward_attention"), draw(11, 3, seed=1)
    with torch.no_grad():
        built.weight.weight.mul_(8.0)  # a way is none the less one for being unlikely
    weights = attend(built, draw(7, 5), keys, keys)[1]
    assert weights[weights > 0].min() < 1e-9
    reachable = torch.ones(7, 11, dtype=torch.bool).tril(1)
    assert torch.equal(weights > 0, reachable)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(7).double())


def test_monotonic_attention_may_pass_the_last_key_and_says_so():
    built, keys = make("monotonic", offset=-3.0), draw(11, 3, seed=1)
    weights = attend(built, draw(7, 5), keys, keys)[1]
    assert not built.sums_to_one
    sums = weights.sum(dim=-1)
    assert (sums.diff() < 0).all()
    assert ((sums > 0) & (sums < 1)).all()


@every_scoring
def test_long_inputs_of_all_sizes_leave_gradients_finite(name):
    built = SPECS[name].create(Sizes(5, 5, 7))
    queries, keys = draw(2, 60, 5).float() * 20, draw(2, 300, 5, seed=1).float() * 20
    queries.requires_grad_()
    keys.requires_grad_()
    output, weights = attend(built, queries, keys, keys, torch.tensor([300, 3]))
    output.square().sum().backward()
    assert weights.isfinite().all()
    for tensor in (queries, keys, *built.parameters()):
        assert tensor.grad.isfinite().all()


@every_scoring
def test_weights_that_vanish_leave_gradients_finite(name):
    """Scores far apart: weights underflow to 0, and so does what is remembered of them."""
    built = SPECS[name].create(Sizes(5, 5, 7))
    with torch.no_grad():
        built.weight.weight.mul_(1000.0)
    queries, keys = draw(2, 20, 5).float().requires_grad_(), draw(2, 30, 5, seed=1).float()
    output, weights = attend(built, queries, keys.requires_grad_(), keys.detach())
    assert (weights == 0).any()
    (output * draw(2, 20, 5, seed=2)).sum().backward()
    for tensor in (queries, keys, *built.parameters()):
        assert tensor.grad.isfinite().all()


def _model(kind, name):
    spec, values = MODELS[kind]
    torch.manual_seed(5)
    model = spec.create(SPECS[name].factory(), ModelSizes(source=19, target=13), values)
    with torch.no_grad():  # memory must matter, or a search that loses it would go unnoticed
        for part, parameter in model.named_parameters():
            if "scoring" in part:
                parameter.mul_(3.0)
    return model.double().eval()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(7)
    source = torch.randint(4, 19, (3, 7), generator=generator)
    target = torch.randint(4, 13, (3, 5), generator=generator)
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([2, 5, 3])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)


@every_model
@every_scoring
def test_the_loss_at_once_is_that_word_by_word(name, kind, batch):
    model = _model(kind, name)
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    counts = torch.arange(5) < batch.target_lengths[:, None]
    torch.testing.assert_close(model.loss(batch), -found[counts].mean(), atol=1e-10, rtol=0)


def _beam_and_forced(model, batch):
    """Log-probabilities of the same words: as the search summed them, and forced."""
    source, lengths = batch.source[:1, :6], torch.tensor([6])
    hypotheses = beam(model, source, lengths, width=4, limit=6)[0]
    forced = []
    for decoded in hypotheses:
        scores, _ = force(model, source, lengths, torch.tensor([decoded.ids]))
        forced.append(float(scores.sum()))
    return [decoded.log_probability for decoded in hypotheses], forced


def _eager_to_write(model):
    """A model that ends late, and whose hypotheses look elsewhere after another word."""
    with torch.no_grad():
        for part, parameter in model.named_parameters():
            parameter.mul_(1.0 if "scoring" in part or "norm" in part else 3.0)
        model.output.bias[EOS_ID] = -5.0
    return model


@every_model
@every_scoring
def test_a_search_remembers_its_own_hypotheses(name, kind, batch):
    found, forced = _beam_and_forced(_eager_to_write(_model(kind, name)), batch)
    assert found == pytest.approx(forced, abs=1e-9)


@every_model
@every_scoring
def test_a_search_that_mixes_memories_up_would_be_noticed(name, kind, batch, monkeypatch):
    def first_rows(self, rows):
        self._earlier = {
            site: Earlier(weights.index_select(0, torch.zeros_like(rows)), scores)
            for site, (weights, scores) in self._earlier.items()
        }

    monkeypatch.setattr(Tap, "reorder", first_rows)
    found, forced = _beam_and_forced(_eager_to_write(_model(kind, name)), batch)
    assert found != pytest.approx(forced, abs=1e-5)


@every_scoring
def test_a_tap_asked_word_by_word_gives_what_it_gives_at_once(name):
    site, keys = Site("cross", 0), draw(2, 11, 3, seed=1)
    built, queries, lengths = make(name), draw(2, 7, 5), torch.tensor([11, 4])
    at_once = Tap().attend(site, built, queries, keys, keys, lengths)
    tap = Tap()
    parts = [tap.attend(site, built, part, keys, keys, lengths) for part in queries.split(2, 1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), at_once, atol=1e-12, rtol=0)
    torch.testing.assert_close(attend(built, queries, keys, keys, lengths)[0], at_once)


@every_scoring
def test_it_is_for_sequences_only(name):
    assert SPECS[name].tasks == ("translation", "encoding")
    assert SPECS[name].own_normaliser == (name == "monotonic")


class Placed(Scoring):
    """Scores of where the query stands, and of what was looked at before."""

    needs = ("positions", "memory")

    def forward(self, queries, keys, *, positions, memory):
        places = positions.queries[:, None] * torch.sin(positions.keys + 1.0)
        return queries @ keys.mT + places - 3 * memory.sum(dim=-2, keepdim=True)


@pytest.mark.parametrize("cut", [0, 1, 2, 5])
def test_queries_that_come_in_parts_know_their_places_and_what_was_before(cut):
    queries, keys, values = draw(2, 5, 3), draw(2, 7, 3, seed=1), draw(2, 7, 11, seed=2)
    outputs, weights = attend(Placed(), queries, keys, values)
    parts, memory = [], weights[:, :0]
    for part in (slice(0, cut), slice(cut, 5)):
        if queries[:, part].shape[1]:
            output, found = attend(
                Placed(), queries[:, part], keys, values, first=part.start, memory=memory
            )
            memory = torch.cat([memory, found], dim=1)
            parts.append(output)
    torch.testing.assert_close(memory, weights)
    torch.testing.assert_close(torch.cat(parts, dim=1), outputs)
