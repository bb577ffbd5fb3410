"""Scorings by position: each against its paper's formula, and all at once against one by one."""

from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import Sizes, attend, scorings
from attention_plugins.attention import Inputs, Positions, needs_of
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import beam, force
from attention_plugins.models.protocols import Batch
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.scorings.local import LOCAL_PREDICTED, local_monotonic
from attention_plugins.scorings.position_biases import (
    ALIBI,
    FIRE,
    KERPLE_LOG,
    KERPLE_POWER,
    SWIN_V2,
    T5_BIAS,
    alibi_slopes,
    bucket,
)
from attention_plugins.scorings.relative_positions import ROPE, SHAW, TRANSFORMER_XL, XPOS
from attention_plugins.scorings.synthesizer import SYNTHESIZER_DENSE, SYNTHESIZER_RANDOM
from attention_plugins.scorings.talking_heads import TALKING_HEADS
from attention_plugins.text import PAD_ID

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}
MODEL = {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10, "dropout": 0.0}
# Windows so narrow, and distances so near, that a sentence of seven words meets their ends.
NARROW = {
    "local_monotonic": {"window": 1},
    "local_predicted": {"window": 2, "length": 6},
    "shaw": {"farthest": 2},
    "fire": {"threshold": 3.0},
    "synthesizer_dense": {"longest": 5},
    "synthesizer_random": {"longest": 5},
    "xpos": {"base": 32},
    "cosformer": {"longest": 16},
}
BY_POSITION = [
    name for name, spec in SPECS.items() if "positions" in spec.create(Sizes(4, 4, 4)).needs
]
EACH = [*BY_POSITION, "talking_heads"]
each = pytest.mark.parametrize("name", EACH)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(spec, size=5, heads=1, value=3, **values):
    """In float64, every weight moved off where it starts."""
    return shaken(spec.create(Sizes(size, size, 11, heads, value), values).double().eval())


def shaken(module):
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return module


def scored(scoring, queries, keys, first=0):
    projected = scoring.project_queries(queries), scoring.project_keys(keys)
    needs = needs_of(scoring, queries.shape[-2], keys, first)
    return scoring(*projected, **needs).detach()


def dot(queries, keys):
    return queries @ keys.mT / math.sqrt(queries.shape[-1])


def away(n_queries, n_keys, first=0):
    """Key minus query, in plain Python."""
    return [[j - i for j in range(n_keys)] for i in range(first, first + n_queries)]


def same(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


# Each against its paper.


def test_alibis_slopes_are_the_papers():
    assert alibi_slopes(8) == [1 / 2**n for n in range(1, 9)]
    assert alibi_slopes(12) == [
        *(1 / 2**n for n in range(1, 9)), *(2**-0.5 / 2**n for n in range(4)),
    ]  # fmt: skip
    assert alibi_slopes(1) == [1 / 256]


@pytest.mark.parametrize("first", [0, 4])
def test_alibi_costs_a_slope_per_word(first):
    queries, keys = draw(2, 8, 7, 5), draw(2, 8, 13, 5, seed=1)
    cost = torch.tensor(
        [[[abs(d) / 2**n for d in row] for row in away(7, 13, first)] for n in range(1, 9)],
        dtype=torch.float64,
    )
    same(scored(make(ALIBI, heads=8), queries, keys, first), dot(queries, keys) - cost)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("first", [0, 4])
def test_rope_turns_pairs_as_complex_numbers(size, first):
    def turned(vectors, first):
        paired = size // 2 * 2
        places = torch.arange(first, first + vectors.shape[-2], dtype=torch.float64)
        angles = places[:, None] * 10000.0 ** (-torch.arange(0, paired, 2).double() / size)
        numbers = torch.view_as_complex(vectors[..., :paired].unflatten(-1, (-1, 2)).contiguous())
        points = torch.view_as_real(numbers * torch.polar(torch.ones_like(angles), angles))
        return torch.cat([points.flatten(-2), vectors[..., paired:]], dim=-1)

    queries, keys = draw(2, 3, 7, size), draw(2, 3, 13, size, seed=1)
    expected = dot(turned(queries, first), turned(keys, 0))
    same(scored(make(ROPE, size), queries, keys, first), expected)


def test_ropes_scores_follow_from_the_distance_alone():
    rope, queries, keys = make(ROPE), draw(1, 7, 5), draw(1, 13, 5, seed=1)
    near, far = (
        rope(queries, keys, positions=Positions(torch.arange(7) + n, torch.arange(13) + n))
        for n in (0, 1000)
    )
    same(near, far)


def t5s_bucket(distance):
    """The T5 authors' function for one distance, with 32 buckets up to 128, in both directions."""
    side, single, n = 16, 8, abs(distance)
    if n >= single:
        grown = math.log(n / single) / math.log(128 / single) * (side - single)
        n = min(single + math.floor(grown + 1e-12), side - 1)
    return n + side * (distance > 0)


def test_t5s_buckets_are_the_papers():
    distances = torch.arange(-300, 301)
    assert bucket(distances).tolist() == [t5s_bucket(d) for d in distances.tolist()]
    assert bucket(torch.tensor([0, -7, -8, -300, 1, 300])).tolist() == [0, 7, 8, 15, 17, 31]


@pytest.mark.parametrize("heads", [1, 3])
def test_t5_adds_the_number_of_the_bucket(heads):
    scoring, queries, keys = make(T5_BIAS, heads=heads), draw(2, 3, 7, 5), draw(2, 3, 40, 5)
    table = scoring.table.detach()
    bias = torch.stack([
        torch.stack([torch.stack([row[t5s_bucket(d)] for d in line]) for line in away(7, 40, 30)])
        for row in table
    ])  # fmt: skip
    same(scored(scoring, queries, keys, 30), dot(queries, keys) + bias)


def test_shaws_keys_and_values_are_those_of_a_loop():
    shaw = make(SHAW, farthest=2)
    queries, keys, values = draw(2, 7, 5), draw(2, 9, 5, seed=1), draw(2, 9, 3, seed=2)
    output, weights = attend(shaw, queries, keys, values, first=2)
    for row in range(2):
        for i in range(7):
            clipped = [max(-2, min(2, j - (i + 2))) + 2 for j in range(9)]
            scores = torch.stack([
                queries[row, i] @ (keys[row, j] + shaw.keys_table[clipped[j]]) / math.sqrt(5)
                for j in range(9)
            ])  # fmt: skip
            same(weights[row, i], scores.softmax(0))
            summed = sum(
                weights[row, i, j] * (values[row, j] + shaw.values_table[clipped[j]])
                for j in range(9)
            )
            same(output[row, i], summed)


def test_shaws_values_have_the_size_that_they_are_told():
    wide = SHAW.create(Sizes(5, 4, 11))  # the keys are resized to 5, the values are not
    assert wide.inner.values_table.shape[-1] == 4
    assert SHAW.create(Sizes(5, 5, 11, value=3)).values_table.shape[-1] == 3


def test_swin_is_a_cosine_and_a_network_of_log_distance():
    swin, queries, keys = make(SWIN_V2, heads=3), draw(2, 3, 7, 5), draw(2, 3, 13, 5, seed=1)
    cosine = torch.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=-1)
    found = scored(swin, queries, keys, 4)
    for head in range(3):
        for i, line in enumerate(away(7, 13, 4)):
            for j, d in enumerate(line):
                spaced = torch.tensor(
                    [math.copysign(math.log(1 + abs(d)), d)], dtype=torch.float64
                )
                bias = swin.fall(torch.relu(swin.rise(spaced)))[head]
                tau = 1 / swin.log_scale[head].exp()
                same(found[:, head, i, j], (cosine[:, head, i, j] / tau + bias).detach())
    same(scored(swin, 1e-4 * queries, 1e-4 * keys, 4), found)  # short vectors have directions too


def test_swins_temperature_stays_above_a_hundredth():
    swin = SWIN_V2.create(Sizes(5, 5, 11)).double()
    swin.log_scale.data.fill_(50.0)
    swin.fall.weight.data.zero_()
    same(scored(swin, draw(1, 1, 5), draw(1, 1, 5)), torch.full((1, 1, 1), 100.0).double())


def test_kerple_costs_the_logarithm_of_the_distance():
    kerple, queries, keys = make(KERPLE_LOG, heads=3), draw(2, 3, 7, 5), draw(2, 3, 13, 5)
    costs, paces = kerple.log_cost.exp().tolist(), kerple.log_pace.exp().tolist()
    cost = torch.tensor([
        [[r * math.log(1 + s * abs(d)) for d in row] for row in away(7, 13, 4)]
        for r, s in zip(costs, paces, strict=True)
    ], dtype=torch.float64)  # fmt: skip
    same(scored(kerple, queries, keys, 4), dot(queries, keys) - cost)


def test_kerples_other_form_costs_a_power_of_the_distance():
    kerple, queries, keys = make(KERPLE_POWER, heads=3), draw(2, 3, 7, 5), draw(2, 3, 13, 5)
    costs, powers = kerple.log_cost.exp().tolist(), (2 * kerple.bend.sigmoid()).tolist()
    assert len({round(power, 3) for power in powers}) == 3
    cost = torch.tensor([
        [[r * abs(d) ** p for d in row] for row in away(7, 13, 4)]
        for r, p in zip(costs, powers, strict=True)
    ], dtype=torch.float64)  # fmt: skip
    same(scored(kerple, queries, keys, 4), dot(queries, keys) - cost)


def test_kerples_power_starts_as_alibi_with_a_slope_of_its_own():
    kerple, alibi = KERPLE_POWER.create(Sizes(5, 5, 11)).double(), make(ALIBI)
    alibi.slopes.fill_(kerple.log_cost.exp().item())
    queries, keys = draw(7, 5), draw(13, 5, seed=1)
    same(scored(kerple, queries, keys), scored(alibi, queries, keys))


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_xpos_sums_over_pairs_that_turn_and_fade(size):
    """The torchscale authors' definition, pair by pair: queries grow where keys shrink."""
    queries, keys = draw(2, 7, size), draw(2, 9, size, seed=1)
    found = scored(make(XPOS, size, base=32), queries, keys, 4)
    for i in range(7):
        for j in range(9):
            total = queries[:, i, size - 1] * keys[:, j, size - 1] if size % 2 else 0.0
            for p in range(size // 2):
                q = torch.complex(queries[:, i, 2 * p], queries[:, i, 2 * p + 1])
                k = torch.complex(keys[:, j, 2 * p], keys[:, j, 2 * p + 1])
                fade = ((2 * p / size + 0.4) / 1.4) ** ((i + 4 - j) / 32)
                angle = (i + 4 - j) * 10000.0 ** (-2 * p / size)
                turn = complex(math.cos(angle), math.sin(angle))
                total = total + fade * (q * k.conj() * turn).real
            same(found[:, i, j], total / math.sqrt(size))


def test_xpos_fades_to_two_sevenths_over_its_reach_and_stays_finite_far_away():
    xpos, ones = make(XPOS, 2, base=100), torch.ones(1, 2).double()
    near, far = (
        xpos(ones, ones, positions=Positions(torch.tensor([at]), torch.tensor([0])))
        for at in (0, 100)
    )
    same(far / near, draw(1, 1) * 0 + 2 / 7 * math.cos(100))
    xpos, places = make(XPOS, 4).float(), torch.arange(0, 60_000, 599)
    scores = xpos(ones.repeat(101, 2).float(), ones.repeat(101, 2).float(),
                  positions=Positions(places, places))  # fmt: skip
    assert scores.tril().isfinite().all()


@pytest.mark.parametrize("first", [0, 30])
def test_fire_is_its_authors_code_in_a_loop(first):
    fire, queries, keys = make(FIRE, heads=3, threshold=5.0), draw(2, 3, 7, 5), draw(2, 3, 40, 5)
    pace, threshold = float(fire.pace.detach()), float(fire.threshold.detach())
    rise, bent, fall = (w.detach().tolist() for w in (fire.rise.weight, fire.rise.bias,
                                                      fire.fall.weight))  # fmt: skip
    bias = torch.empty(3, 7, 40).double()
    for i, line in enumerate(away(7, 40, first)):
        for j, d in enumerate(line):
            reach = math.log(abs(pace * max(threshold, first + i)) + 1) + 1e-6
            share = math.log(abs(pace * d) + 1) / reach
            hidden = [max(w[0] * share + b, 0) for w, b in zip(rise, bent, strict=True)]
            for head in range(3):
                bias[head, i, j] = sum(map(float.__mul__, fall[head], hidden))
    same(scored(fire, queries, keys, first), dot(queries, keys) + bias)
    fire.share.data.neg_()  # where descent may carry it: the threshold is as far
    same(scored(fire, queries, keys, first), dot(queries, keys) + bias)


def test_fire_asks_nothing_new_of_longer_sequences():
    """Beyond the threshold all shares lie within 0 and 1, wherever the query stands."""
    fire = FIRE.create(Sizes(5, 5, 11), {"threshold": 8.0}).double()
    halves = []
    for at in (10, 1000, 100_000):
        positions = Positions(torch.tensor([at]), torch.tensor([0, at]))
        queries = torch.zeros(1, 5).double()
        halves.append(fire(queries, queries.expand(2, 5), positions=positions))
    for one in halves[1:]:
        torch.testing.assert_close(one, halves[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("heads", [1, 3])
def test_synthesizers_are_those_of_a_loop(heads):
    queries, keys = draw(2, 3, 7, 5), draw(2, 3, 9, 5, seed=1)
    dense = make(SYNTHESIZER_DENSE, heads=heads, longest=6)
    table = make(SYNTHESIZER_RANDOM, heads=heads, longest=6)
    by_words, by_places = scored(dense, queries, keys, 2), scored(table, queries, keys, 2)
    for head in range(3):
        own = head if heads > 1 else ...
        rise, bent, fall, last = (
            part[own].detach().tolist()
            for part in (dense.rise, dense.rise_bias, dense.fall, dense.fall_bias)
        )
        for i in range(7):
            query = queries[1, head, i].tolist()
            hidden = [
                max(sum(q * row[h] for q, row in zip(query, rise, strict=True)) + bent[0][h], 0)
                for h in range(5)
            ]
            for j in range(9):
                place = min(j, 5)
                score = sum(x * row[place] for x, row in zip(hidden, fall, strict=True))
                assert float(by_words[1, head, i, j]) == pytest.approx(score + last[0][place])
                read = table.table[own][min(i + 2, 5), place]
                same(by_places[:, head, i, j], read.detach().expand(2))


def test_the_random_synthesizer_looks_at_no_word_and_the_dense_one_at_the_querys():
    queries, keys = draw(1, 7, 5), draw(1, 9, 5, seed=1)
    table, dense = make(SYNTHESIZER_RANDOM), make(SYNTHESIZER_DENSE)
    assert torch.equal(scored(table, queries, keys), scored(table, -2 * queries, keys + 1))
    assert torch.equal(scored(dense, queries, keys), scored(dense, queries, keys + 1))
    assert not torch.allclose(scored(dense, queries, keys), scored(dense, -2 * queries, keys))
    for scoring in (table, dense):  # of keys alone there may be several
        assert scored(scoring, queries[0], keys.expand(2, 9, 5)).shape == (2, 7, 9)


@pytest.mark.parametrize("size", [1, 5, 6])
@pytest.mark.parametrize("heads", [1, 3])
def test_transformer_xl_is_its_four_terms(heads, size):
    scoring = make(TRANSFORMER_XL, size, heads)
    queries, keys = draw(2, 3, 7, size), draw(2, 3, 9, size, seed=1)
    frequencies = 10000.0 ** (-2 * torch.arange(size // 2).double() / size)
    found = scored(scoring, queries, keys, 2)
    for head in range(3):
        own = head if heads > 1 else ...
        u, v = scoring.content_bias[own].flatten(), scoring.place_bias[own].flatten()
        w = scoring.from_place[own].reshape(size, -1)
        for i, line in enumerate(away(7, 9, 2)):
            for j, d in enumerate(line):
                r = torch.cat([torch.sin(-d * frequencies), torch.cos(-d * frequencies)])
                q, k = queries[:, head, i], keys[:, head, j]
                terms = (q * k).sum(-1) + q @ (w @ r) + (k * u).sum(-1) + v @ (w @ r)
                same(found[:, head, i, j], (terms / math.sqrt(size)).detach())


def test_local_m_gives_the_window_all_weight():
    scoring = make(local_monotonic, window=2)
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    _, weights = attend(scoring, queries, keys, draw(2, 13, 3), first=3)
    inside = torch.tensor([[abs(d) <= 2 for d in row] for row in away(7, 13, 3)])
    expected = dot(queries, keys).masked_fill(~inside, -torch.inf).softmax(-1)
    same(weights, expected)
    assert not weights[:, ~inside].any()


def test_local_m_beyond_the_end_looks_at_the_last_word_whatever_pads_it():
    scoring, queries = make(local_monotonic, window=2), draw(1, 12, 5)
    keys, values = draw(1, 20, 5, seed=1), draw(1, 20, 3, seed=2)
    alone, weights = attend(scoring, queries, keys[:, :4], values[:, :4])
    padded, _ = attend(scoring, queries, keys, values, torch.tensor([4]))
    same(padded, alone)
    assert weights[0, 6:].argmax(-1).eq(3).all()
    assert weights[0, 6:, 3].eq(1).all()


def test_local_p_is_a_bell_around_the_place_predicted():
    scoring = make(LOCAL_PREDICTED, window=5, length=10)
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    hidden = torch.tanh(queries @ scoring.from_query.weight.T)
    centres = 10 * torch.sigmoid(hidden @ scoring.centre.weight[0])
    assert centres.max() - centres.min() > 1
    bell = torch.exp(-((torch.arange(13) - centres[..., None]) ** 2) / (2 * 2.5**2))
    _, weights = attend(scoring, queries, keys, draw(2, 13, 3))
    expected = dot(queries, keys).exp() * bell
    same(weights, (expected / expected.sum(-1, keepdim=True)))


def test_talking_heads_mix_scores_and_weights():
    scoring = make(TALKING_HEADS, heads=3)
    queries, keys = draw(2, 3, 7, 5), draw(2, 3, 13, 5, seed=1)
    _, weights = attend(scoring, queries, keys, draw(2, 3, 13, 3))
    plain = dot(queries, keys)
    mixed = [sum(scoring.mix_scores[g, h] * plain[:, h] for h in range(3)) for g in range(3)]
    apart = [scores.softmax(-1) for scores in mixed]
    shares = scoring.mix_weights.softmax(-1)
    for head in range(3):
        same(weights[:, head], sum(shares[head, h] * apart[h] for h in range(3)))
    same(weights.sum(-1), torch.ones(2, 3, 7).double())
    (weights * draw(2, 3, 7, 13)).sum().backward()
    assert all(weight.grad.any() for weight in scoring.parameters())


def test_one_head_has_nobody_to_talk_to():
    scoring = make(TALKING_HEADS)
    queries, keys = draw(2, 7, 5), draw(2, 13, 5, seed=1)
    same(scored(scoring, queries, keys), scoring.mix_scores.detach() * dot(queries, keys))


# What is known of where weights start, and what they lie between where they are drawn.
STARTS = {
    ("kerple_log", "log_cost"): (math.log(0.02), math.log(2.0)),
    ("kerple_log", "log_pace"): (math.log(0.01), 0.0),
    ("kerple_power", "log_cost"): (math.log(0.02), math.log(2.0)),
    ("kerple_power", "bend"): 0.0,
    ("t5_bias", "table"): 0.0,
    ("swin_v2", "log_scale"): math.log(10.0),
    ("fire", "pace"): 0.1,
    ("fire", "share"): 1.0,
    ("transformer_xl", "content_bias"): 0.0,
    ("transformer_xl", "place_bias"): 0.0,
    ("synthesizer_dense", "rise_bias"): 0.0,
    ("synthesizer_dense", "fall_bias"): 0.0,
    ("talking_heads", "mix_scores"): torch.eye(300),
    ("talking_heads", "mix_weights"): 4.0 * torch.eye(300),
}


@pytest.mark.parametrize(("name", "weight"), STARTS)
def test_weights_start_where_they_are_said_to(name, weight):
    torch.manual_seed(0)
    scoring, expected = SPECS[name].create(Sizes(5, 5, 11, heads=300)), STARTS[name, weight]
    found = dict(scoring.named_parameters())[weight].detach()
    if isinstance(expected, tuple):  # drawn: the smallest and the largest
        ends = [found.min().item(), found.max().item()]
        assert ends == pytest.approx(expected, abs=0.05)
    else:
        torch.testing.assert_close(found, torch.as_tensor(expected).expand_as(found))


@pytest.mark.parametrize("name", ["rope", "transformer_xl", "xpos"])
def test_places_far_away_are_told_apart_in_half_precision(name):
    scoring = SPECS[name].create(Sizes(8, 8, 11)).requires_grad_(False).bfloat16()
    queries, keys = draw(7, 8).bfloat16(), draw(9, 8, seed=1).bfloat16()
    positions = Positions(torch.arange(7) + 1000, torch.arange(9) + 995)
    found = scoring(queries, keys, positions=positions).float()
    expected = scoring.float()(queries.float(), keys.float(), positions=positions)
    torch.testing.assert_close(found, expected, atol=0.06, rtol=0)


# All at once, one by one, in blocks, in a beam: the same numbers.


@each
@pytest.mark.parametrize("leading", [(2,), (2, 1), (2, 3)])
def test_blocks_give_what_the_whole_gives(name, leading):
    heads = leading[1] if len(leading) > 1 else 1
    scoring = make(SPECS[name], heads=heads, **NARROW.get(name, {}))
    queries, keys, values = (
        draw(*leading, 7, 5),
        draw(*leading, 13, 5, seed=1),
        draw(*leading, 13, 3, seed=2),
    )
    mask = torch.arange(13) < 9
    whole, _ = attend(scoring, queries, keys, values, mask, first=2)
    parts = attend_in_blocks(Inputs(scoring, queries, keys, values, mask, first=2), block=3)
    assert whole.shape == (*leading, 7, 3)
    same(parts, whole)
    if name in BY_POSITION:
        elsewhere, _ = attend(scoring, queries, keys, values, mask, first=0)
        # Whose places follow from the query's content.
        moves = name not in ("local_predicted", "synthesizer_dense")
        assert ((elsewhere - whole).detach().abs().max().item() > 1e-3) == moves


def _model(name, heads=3):
    torch.manual_seed(5)
    factory = SPECS[name].factory(NARROW.get(name, {}))
    values = {**MODEL, "heads": heads}
    return shaken(TRANSFORMER.create(factory, ModelSizes(19, 13), values).double().eval())


def _batch():
    """Targets longer than their sources, and padding on both sides."""
    torch.manual_seed(7)
    source, target = torch.randint(4, 19, (3, 7)), torch.randint(4, 13, (3, 9))
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([4, 9, 6])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)


@each
@pytest.mark.parametrize("heads", [1, 3])
def test_the_loss_at_once_is_the_loss_word_by_word(name, heads):
    model, batch = _model(name, heads), _batch()
    found, _ = force(model, batch.source, batch.source_lengths, batch.target)
    counted = torch.arange(9) < batch.target_lengths[:, None]
    same(-found[counted].mean(), model.loss(batch).detach())


@each
def test_a_sentence_translates_alone_as_among_others(name):
    model, batch = _model(name), _batch()
    together, _ = force(model, batch.source, batch.source_lengths, batch.target)
    for row, n in enumerate(batch.source_lengths.tolist()):
        one = slice(row, row + 1)
        lengths = batch.source_lengths[one]
        alone, _ = force(model, batch.source[one, :n], lengths, batch.target[one])
        same(alone, together[one])


@each
def test_a_beam_says_what_forcing_its_words_says(name):
    model, batch = _model(name), _batch()
    for row, hypotheses in enumerate(
        beam(model, batch.source, batch.source_lengths, width=3, limit=7)
    ):
        for hypothesis in hypotheses:
            one = slice(row, row + 1)
            found, _ = force(
                model, batch.source[one], batch.source_lengths[one], torch.tensor([hypothesis.ids])
            )
            assert found.sum().item() == pytest.approx(hypothesis.log_probability, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in EACH if list(make(SPECS[name]).parameters())])
@pytest.mark.parametrize("heads", [1, 3])
def test_every_weight_of_every_head_learns(name, heads):
    scoring = make(SPECS[name], heads=heads, **NARROW.get(name, {}))
    queries, keys, values = (
        draw(2, heads, 7, 5),
        draw(2, heads, 13, 5, seed=1),
        draw(2, heads, 13, 3, seed=2),
    )
    output, _ = attend(scoring, queries, keys, values)
    (output * draw(2, heads, 7, 3, seed=4) + 0 * queries.sum()).sum().backward()
    for weight in scoring.parameters():
        assert weight.grad.isfinite().all()
        rows = weight.grad if weight.shape[:1] == (heads,) else weight.grad[None]
        assert all(row.any() for row in rows)


def test_every_scoring_by_position_is_tested():
    assert BY_POSITION == [
        "alibi", "fire", "kerple_log", "kerple_power", "local_monotonic", "local_predicted",
        "rope", "xpos", "shaw", "swin_v2", "t5_bias", "transformer_xl", "synthesizer_dense",
        "synthesizer_random", "cosformer",
    ]  # fmt: skip
    assert all("regression" not in SPECS[name].tasks for name in EACH)
