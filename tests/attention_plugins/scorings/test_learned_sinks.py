"""Learned sinks: a softmax with one more score for each head."""

from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import Sizes, attend, registry
from attention_plugins.scorings.talking_heads import LEARNED_SINKS


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(heads=3, normaliser=None):
    scoring = LEARNED_SINKS.create(Sizes(5, 5, 11, heads), {}, normaliser).double()
    with torch.no_grad():
        scoring.sinks.copy_(torch.tensor([0.5, -1.0, 2.0])[:heads])
    return scoring


def test_weights_are_those_of_a_loop_and_sum_to_less_than_one():
    queries, keys, values = draw(2, 3, 7, 5), draw(2, 3, 13, 5, seed=1), draw(2, 3, 13, 3, seed=2)
    scoring, lengths = make(), (13, 0)
    _, weights = attend(scoring, queries, keys, values, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        for head, sink in enumerate(scoring.sinks.tolist()):
            for i in range(7):
                scores = [
                    math.fsum((queries[row, head, i] * keys[row, head, j]).tolist()) / math.sqrt(5)
                    for j in range(length)
                ]
                total = math.exp(sink) + math.fsum(map(math.exp, scores))
                wanted = [math.exp(s) / total for s in scores] + [0.0] * (13 - length)
                assert weights[row, head, i].tolist() == pytest.approx(wanted, abs=1e-12)
    assert not scoring.sums_to_one
    assert (weights[0].sum(-1) < 1).all()
    assert weights[0].sum(-1)[1].mean() > weights[0].sum(-1)[2].mean()  # a lower sink takes less


def test_at_first_it_is_a_softmax_off_by_one():
    queries, keys = draw(7, 5), draw(13, 5, seed=1)
    fresh = LEARNED_SINKS.create(Sizes(5, 5, 11)).double()
    installed = registry.installed()
    other = installed.scoring("scaled_dot").create(
        Sizes(5, 5, 11), {}, installed.normaliser("off_by_one").factory()
    )
    found, wanted = (attend(each, queries, keys, keys)[1] for each in (fresh, other))
    torch.testing.assert_close(found, wanted)


def test_beside_another_normaliser_the_sink_is_one_more_key():
    sparsemax = registry.installed().normaliser("sparsemax").factory()
    scoring = make(1, sparsemax)
    queries, keys = draw(7, 5), draw(13, 5, seed=1)
    scores = queries @ keys.T / math.sqrt(5)
    wanted = sparsemax().module(torch.cat([scores, torch.full((7, 1), 0.5).double()], dim=-1))
    torch.testing.assert_close(attend(scoring, queries, keys, keys)[1], wanted[:, :-1])
