"""What a scoring may ask for besides: at once, in blocks, in linear time, word by word."""

import pytest
import torch

from attention_plugins import (
    ContractError,
    KernelScoring,
    NormaliserSpec,
    Positions,
    Scoring,
    ScoringSpec,
    Site,
    Sizes,
    Tap,
    attend,
    normaliser,
)
from attention_plugins.attention import (
    Inputs,
    attend_with,
    needs_memory,
    weights_are_signed,
)
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.checking import check
from attention_plugins.checking.findings import draw
from attention_plugins.contract import CONTRACT_VERSION
from attention_plugins.linear_time import attend_in_linear_time, runs_in_linear_time
from attention_plugins.scorings import combination
from attention_plugins.scorings.combination import COMBINATION
from attention_plugins.scorings.kernels import GAUSSIAN
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.tap import Recorder

SITE = Site("decoder", 0)


class Near(Scoring):
    def forward(self, queries, keys, positions):
        return queries @ keys.mT - positions.distances.abs()


def test_a_record_says_what_its_class_leaves_open():
    def near(**more):
        return ScoringSpec(
            name="near", title="Near", formula="q", build=lambda sizes, values: Near(),
            reference="nobody", same_size=True, tasks=("translation",), **more,
        )  # fmt: skip

    assert near(needs=("positions",)).create(Sizes(4, 4, 4)).needs == ("positions",)
    assert all(found.passed for found in check("scorings", near(needs=("positions",))))
    with pytest.raises(ContractError, match="its forward takes positions"):
        near().create(Sizes(4, 4, 4))
    with pytest.raises(ContractError, match="nothing is called 'places'"):
        near(needs=("places",)).create(Sizes(4, 4, 4))


class Everything(Scoring):
    """Its scores count allowed keys, its output is gated by the query."""

    needs = ("queries", "mask", "positions")

    def forward(self, queries, keys, mask, positions):
        count = mask.sum(-1, keepdim=True).to(queries)
        return (queries @ keys.mT) * count.log() - positions.distances.abs()

    def pool(self, weights, values, queries, mask, positions):
        return weights @ values * queries.sum(-1, keepdim=True).sigmoid()


class Selective(Scoring):
    """What earlier queries scored above 0 is taken off, as in Leviathan et al. 2025."""

    needs = ("scores",)

    def forward(self, queries, keys, scores):
        return queries @ keys.mT - scores.relu().sum(dim=-2, keepdim=True)


class Waits(Scoring):
    """It favours keys that earlier queries could not see, which had not come or were masked."""

    needs = ("scores",)

    def forward(self, queries, keys, scores):
        return queries @ keys.mT + scores.isneginf().sum(dim=-2, keepdim=True)


class CosFormer(KernelScoring):
    """Qin et al. 2022, equation 10, its cosine of the distance as a product of features."""

    needs = ("positions",)

    def query_features(self, queries, positions):
        return self._turned(queries, positions.queries)

    def key_features(self, keys, positions):
        return self._turned(keys, positions.keys)

    def _turned(self, points, places):
        angles = (places * (torch.pi / 2 / 64))[:, None].to(points)
        features = points.relu() + 0.01
        return torch.cat([features * angles.cos(), features * angles.sin()], dim=-1)


class Negative(Scoring):
    signed, sums_to_one = True, False

    def normalise(self, scores):
        return scores.tanh().masked_fill(scores == torch.finfo(scores.dtype).min, 0.0)

    def forward(self, queries, keys):
        return queries @ keys.mT


def spec(kind, **more):
    return ScoringSpec(
        name="mine", title="Mine", formula="q", reference="nobody", same_size=True,
        build=lambda sizes, values: kind(), **more,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [Everything, Selective, CosFormer, Negative])
def test_a_scoring_of_contract_1_2_keeps_every_rule(kind):
    assert CONTRACT_VERSION == (1, 2)
    tasks = ("translation", "encoding") if "positions" in kind.needs else ("translation",)
    found = check("scorings", spec(kind, tasks=tasks))
    assert [(one.rule, one.message) for one in found if not one.passed] == []
    assert {"rows_do_not_meet"} <= {one.rule for one in found} or kind is Selective


def given(n_queries=7, n_keys=7):
    return draw(2, 3, n_queries, 5), draw(2, 3, n_keys, 5, seed=1), draw(2, 3, n_keys, 4, seed=2)


@pytest.mark.parametrize("kind", [Everything, Selective, Waits, CosFormer, Negative])
def test_word_by_word_gives_what_all_at_once_gives_also_in_blocks(kind):
    made, (queries, keys, values) = kind(), given()
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    expected, weights = attend(made, queries, keys, values, causal)
    recorder = Recorder()
    tap = Tap(recorder)
    rows = [
        tap.attend(SITE, made, queries[..., n : n + 1, :], keys[..., : n + 1, :],
                   values[..., : n + 1, :])
        for n in range(7)
    ]  # fmt: skip
    torch.testing.assert_close(torch.cat(rows, dim=-2), expected)
    torch.testing.assert_close(recorder.weights()[SITE], weights)
    inputs = Inputs(made, queries, keys, values, causal)
    torch.testing.assert_close(attend_in_blocks(inputs, block=3), expected)
    alone, _ = attend(made, queries[:1, :1, :1], keys[:1, :1, :1], values[:1, :1, :1])
    torch.testing.assert_close(alone[0, 0, 0], expected[0, 0, 0])


def test_pool_is_given_the_projected_queries_and_the_mask_as_it_is():
    made, (queries, keys, values) = Everything(), given()
    lengths = torch.tensor([4, 7])
    output, weights = attend(made, queries, keys, values, lengths)
    gates = queries.sum(-1, keepdim=True).sigmoid()
    torch.testing.assert_close(output, weights @ values * gates)
    distances = (torch.arange(7) - torch.arange(7)[:, None]).abs()
    scores = queries @ keys.mT * lengths.log()[:, None, None, None] - distances
    hidden = torch.arange(7) >= lengths[:, None, None, None]
    torch.testing.assert_close(weights, scores.masked_fill(hidden, -torch.inf).softmax(-1))


def test_earlier_scores_are_those_of_a_loop():
    made, (queries, keys, values) = Selective(), given()
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    assert needs_memory(torch.nn.ModuleList([made]))
    _, weights = attend(made, queries, keys, values, causal)
    taken = torch.zeros(2, 3, 7, dtype=torch.float64)
    for n in range(7):
        scores = (queries[..., n, None, :] * keys).sum(-1) - taken
        scores[..., n + 1 :] = -torch.inf
        torch.testing.assert_close(weights[..., n, :], scores.softmax(-1))
        taken = taken + scores.relu()


def test_a_search_takes_earlier_scores_along():
    made, (queries, keys, values) = Selective(), given()
    tap, swapped, order = Tap(), Tap(), torch.tensor([1, 0])
    for n in range(3):
        one = queries[..., n : n + 1, :], keys[..., : n + 1, :], values[..., : n + 1, :]
        tap.attend(SITE, made, *one)
        swapped.attend(SITE, made, *(part[order] for part in one))
    swapped.reorder(order)
    one = queries[..., 3:4, :], keys[..., :4, :], values[..., :4, :]
    torch.testing.assert_close(swapped.attend(SITE, made, *one), tap.attend(SITE, made, *one))


def test_cosformer_is_linear_and_gives_its_authors_weights():
    made, (queries, keys, values) = CosFormer(), given()
    inputs = Inputs(made, queries, keys, values, torch.arange(7) < 5, first=2)
    assert runs_in_linear_time(inputs)
    expected, weights = attend_with(inputs)
    torch.testing.assert_close(attend_in_linear_time(inputs), expected)
    i, j = torch.arange(7)[:, None] + 2.0, torch.arange(5)
    plain = (queries.relu() + 0.01) @ (keys[..., :5, :].relu() + 0.01).mT
    kernel = plain * (torch.pi / 2 * (i - j).double() / 64).cos()
    torch.testing.assert_close(weights[..., :5], kernel / kernel.sum(-1, keepdim=True))


class Old(KernelScoring):
    """As contract 1.1 had it: positions for forward alone, none for features."""

    needs = ("positions",)

    def query_features(self, queries):
        return queries.exp()

    key_features = query_features

    def forward(self, queries, keys, positions):
        return super().forward(queries, keys) - positions.distances.abs()


def test_features_of_1_1_are_given_no_more_than_they_take():
    queries, keys, values = given()
    made = spec(Old).create(Sizes(5, 5, 5))
    _, weights = attend(made, queries, keys, values)
    kernel = queries.exp() @ keys.exp().mT
    distances = (torch.arange(7) - torch.arange(7)[:, None]).abs()
    torch.testing.assert_close(weights, (kernel.log() - distances).softmax(-1))


def test_a_combination_gives_its_parts_what_they_need_and_refuses_earlier_scores(monkeypatch):
    named = {"mine": spec(Everything), "gaussian": GAUSSIAN, "other": spec(Selective)}
    monkeypatch.setattr(combination, "get_scoring", named.__getitem__)
    queries, keys, values = given()
    made = COMBINATION.create(Sizes(5, 5, 5), {"first": "mine", "second": "gaussian"})
    lengths = torch.tensor([4, 7])
    _, weights = attend(made.double(), queries, keys, values, lengths)
    scores = Everything()(
        queries, keys, mask=torch.arange(7) < lengths[:, None, None, None],
        positions=Positions(torch.arange(7), torch.arange(7)),
    )  # fmt: skip
    both = (scores - torch.cdist(queries, keys).square() / 2) / 2
    hidden = torch.arange(7) >= lengths[:, None, None, None]
    torch.testing.assert_close(weights, both.masked_fill(hidden, -torch.inf).softmax(-1))
    with pytest.raises(ContractError, match="has none of its own in a combination"):
        COMBINATION.create(Sizes(5, 5, 5), {"first": "mine", "second": "other"})


class TakesTheMask(Scoring):
    def forward(self, queries, keys):
        return queries @ keys.mT

    def pool(self, weights, values, mask):
        return weights @ values


class FeaturesOfPositions(KernelScoring):
    def query_features(self, queries, positions):
        return queries

    def key_features(self, keys):
        return keys


class KeysOfPositions(FeaturesOfPositions):
    def query_features(self, queries):
        return queries

    def key_features(self, keys, positions):
        return keys


class FactorsOfPositions(Scoring):
    def forward(self, queries, keys):
        return queries @ keys.mT

    def factors(self, queries, keys, positions):
        return queries, keys


class PoolOfLess(TakesTheMask):
    needs = ("mask", "queries")

    def forward(self, queries, keys, mask):
        return queries @ keys.mT


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        (TakesTheMask, 'its pool takes mask, but it does not ask for them; write needs = ."mask"'),
        (FeaturesOfPositions, "its query_features takes positions, but it does not ask"),
        (KeysOfPositions, "its key_features takes positions, but it does not ask"),
        (FactorsOfPositions, "its factors takes positions, but it does not ask"),
        (PoolOfLess, r"needs queries, but its pool does not take them; write pool\(self, weights"),
    ],
)
def test_a_method_that_takes_other_needs_is_refused_by_name(kind, phrase):
    with pytest.raises(ContractError, match=phrase):
        spec(kind).create(Sizes(5, 5, 5))


def test_a_signed_scoring_says_so_to_whoever_draws():
    assert weights_are_signed(torch.nn.ModuleList([Negative()]))
    assert not weights_are_signed(torch.nn.ModuleList([Selective()]))
    resized = spec(Negative).create(Sizes(5, 3, 5))
    assert (resized.signed, resized.sums_to_one) == (True, False)
    with pytest.raises(ContractError, match="signed is True or False"):
        spec(type("Odd", (Negative,), {"signed": "yes"})).create(Sizes(5, 5, 5))


class Temperatures(torch.nn.Module):
    """A softmax with a temperature for each head."""

    def __init__(self, sizes, values):
        super().__init__()
        shape = (sizes.heads, 1, 1) if sizes.heads > 1 else (1, 1)
        self.heat = torch.nn.Parameter(torch.linspace(0.5, 2.0, sizes.heads).reshape(shape))

    def forward(self, scores):
        return (scores.clamp_min(-1e9) * self.heat).softmax(-1)


BY_HEAD = NormaliserSpec(
    name="by_head", title="By head", formula="s", reference="nobody", build=Temperatures
)


def test_a_normaliser_may_learn_a_number_for_every_head():
    assert [one.message for one in check("normalisers", BY_HEAD) if not one.passed] == []
    made = scaled_dot_product.create(Sizes(5, 5, 5, heads=3, value=4), None, BY_HEAD.factory())
    made = made.double()
    queries, keys, values = given()
    _, weights = attend(made, queries, keys, values)
    for head, heat in enumerate((0.5, 1.25, 2.0)):
        scores = queries[:, head] @ keys[:, head].mT / 5**0.5 * heat
        torch.testing.assert_close(weights[:, head], scores.softmax(-1))
    assert BY_HEAD.takes_sizes
    assert sum(weight.numel() for weight in BY_HEAD.create().parameters()) == 1


def test_a_normaliser_may_be_signed_and_is_named_where_it_does_not_say_so():
    tanh = normaliser("tanh", formula="s", reference="nobody", sums_to_one=False, signed=True)
    made = tanh(lambda scores: scores.clamp_min(-1e9).tanh())
    assert [one.message for one in check("normalisers", made) if not one.passed] == []
    chosen = scaled_dot_product.create(Sizes(5, 5, 5), None, made.factory())
    assert (chosen.signed, chosen.sums_to_one) == (True, False)
    unsaid = normaliser("tanh", formula="s", reference="nobody", sums_to_one=False)
    (found,) = [one for one in check("normalisers", unsaid(torch.tanh)) if not one.passed]
    assert "say signed=True on the record" in found.message
