"""LSH attention: a softmax over the keys that share a bucket with the query."""

from __future__ import annotations

import math

import torch

from attention_plugins import Sizes, attend
from attention_plugins.scorings.local import LSH


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(size=5, seed=7, **values):
    torch.manual_seed(seed)
    return LSH.create(Sizes(size, size, 11), values).double()


def bucket(point, rotation):
    """Section 2 of the paper: the largest of the turned coordinates and their opposites."""
    turned = [
        sum(x * row[c] for x, row in zip(point, rotation, strict=True))
        for c in range(len(rotation[0]))
    ]
    both = turned + [-x for x in turned]
    return both.index(max(both))


def test_weights_are_a_softmax_over_the_keys_that_meet_the_query_in_some_round():
    scoring = make(buckets=6, rounds=2)
    queries, keys, lengths = draw(2, 7, 5), draw(2, 13, 5, seed=1), (13, 6)
    _, weights = attend(scoring, queries, keys, keys, torch.tensor(lengths))
    met = []
    for row, length in enumerate(lengths):
        for i, query in enumerate(queries[row].tolist()):
            kept = {}
            for j, key in enumerate(keys[row, :length].tolist()):
                rounds = scoring.rotations.tolist()
                if any(bucket(query, one) == bucket(key, one) for one in rounds):
                    kept[j] = math.exp(sum(map(float.__mul__, query, key)) / math.sqrt(5))
            wanted = torch.zeros(13).double()
            for j, part in kept.items():
                wanted[j] = part / sum(kept.values())
            torch.testing.assert_close(weights[row, i], wanted, rtol=1e-9, atol=1e-9)
            met.append(len(kept))
    assert min(met) == 0  # its buckets hold no key: it reads nothing
    assert 0 < sum(met) < 0.6 * (7 * 13 + 7 * 6)


def test_more_rounds_find_more_of_the_weight_and_more_buckets_look_at_fewer_keys():
    """Shared queries and keys, as the paper's: how much of the softmax's weight is among them."""
    points = torch.nn.functional.normalize(draw(1, 200, 16), dim=-1) * 4
    dots = (points @ points.mT / 0.25).softmax(-1)  # sharp, so that near keys are what counts

    def found(**values):
        scored = [make(16, seed, **values)(points, points) for seed in range(5)]
        seen = torch.stack([~each.isneginf() for each in scored])
        return float((seen * dots).sum(-1).mean()), float(seen.double().mean())

    by_rounds = [found(buckets=16, rounds=rounds) for rounds in (1, 2, 4, 8)]
    assert by_rounds == sorted(by_rounds)
    by_buckets = [found(buckets=buckets, rounds=2)[1] for buckets in (2, 4, 8, 16, 32)]
    assert by_buckets == sorted(by_buckets, reverse=True)
    share, pairs = by_rounds[0]
    assert share > 2 * pairs  # near keys meet far more often than others


def test_a_key_that_points_the_way_of_the_query_is_always_met():
    scoring = make(buckets=64, rounds=1)
    points = draw(50, 5)
    assert scoring(points, 3 * points).diagonal().isfinite().all()
    assert scoring(points, -points).diagonal().isneginf().all()


def test_half_precision_puts_points_into_the_same_buckets():
    scoring = make(buckets=64, rounds=3).float()
    assert scoring.elements_per_pair == 3  # how many buckets of a pair are compared
    points = draw(500, 5).bfloat16()
    expected = scoring.buckets(points.float())
    assert torch.equal(scoring.buckets(points), expected)
    assert torch.equal(scoring.bfloat16().buckets(points), expected)
