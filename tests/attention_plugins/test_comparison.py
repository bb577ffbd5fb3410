"""Divergences and correlations of maps, at their ends and against independent references."""

import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch.nn.functional import kl_div

from attention_plugins.comparison import correlations, jensen_shannon, match_heads

QUERIES, KEYS = 5, 7


@pytest.fixture
def weights():
    """Two models' weights, ``(2, 3, queries, keys)``, whose rows sum to 1."""
    drawn = np.random.default_rng(3).dirichlet(np.full(KEYS, 0.3), size=(2, 3, QUERIES))
    return torch.tensor(drawn)


def test_the_divergence_is_torchs_mean_of_two_relative_entropies(weights):
    one, other = weights
    middle = (one + other) / 2
    nats = sum(kl_div(middle.log(), rows, reduction="none").sum(-1) / 2 for rows in (one, other))
    found = jensen_shannon(one, other)
    assert found.shape == (3, QUERIES)
    torch.testing.assert_close(found, nats / math.log(2), rtol=0, atol=1e-12)
    torch.testing.assert_close(found, jensen_shannon(other, one), rtol=0, atol=1e-12)


def test_the_divergence_agrees_with_scipy(weights):
    one, other = weights[0, 0], weights[1, 0]
    found = jensen_shannon(one, other)
    for row in range(QUERIES):
        expected = jensenshannon(one[row], other[row], base=2) ** 2
        assert found[row].item() == pytest.approx(expected, abs=1e-12)
    assert jensen_shannon(torch.eye(2), torch.eye(2).flip(0)).tolist() == [1, 1]


def test_rows_by_hand():
    rows = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]])
    others = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0.5, 0.5], [1.0, 0, 0, 0], [1.0, 0, 0, 0]])
    # H(3/4, 1/4) - H(1/2, 1/2) / 2
    third = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)) - 0.5
    found = jensen_shannon(rows.double(), others.double())
    np.testing.assert_allclose(found, [0, 1, third, math.nan], atol=1e-12)


def test_what_is_masked_has_no_weight_and_rows_need_not_sum_to_one(weights):
    one, other = weights[0, 0].clone(), weights[1, 0].clone()
    one[:, 3] = other[:, 3] = 0
    kept = [0, 1, 2, 4, 5, 6]
    torch.testing.assert_close(
        jensen_shannon(one, other), jensen_shannon(5 * one[:, kept], other[:, kept]),
        rtol=0, atol=1e-12,
    )  # fmt: skip


def test_the_correlation_is_numpys_over_all_cells(weights):
    one, other = weights[0], weights[1][:2]
    r = correlations(one, other)
    assert r.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        expected = np.corrcoef(one[i].flatten(), other[j].flatten())[0, 1]
        assert r[i, j].item() == pytest.approx(expected)


def test_masked_cells_do_not_count(weights):
    seen = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril()
    wanted = np.corrcoef(weights[0, 1][seen], weights[1, 2][seen])[0, 1]
    assert correlations(*weights, seen)[1, 2].item() == pytest.approx(wanted)
    assert correlations(*weights, torch.zeros_like(seen)).isnan().all()


def test_heads_in_another_order_are_found_and_a_constant_one_has_no_match(weights):
    others = weights[0][[2, 0, 1]] * 0.5 + 0.1
    uniform = torch.full((1, QUERIES, KEYS), 1 / KEYS, dtype=torch.float64)
    uniform[0, 0, 0] += 1e-8  # what float32 makes of a softmax of equal scores
    found = match_heads(torch.cat([weights[0], uniform]), others)
    assert [match.head for match in found] == [1, 2, 0, None]
    np.testing.assert_allclose([match.r for match in found], [1, 1, 1, math.nan])
    assert [match.head for match in match_heads(weights[0], uniform)] == [None] * 3


def test_of_equal_heads_the_first_is_the_match(weights):
    twice = torch.cat([weights[1], weights[0], weights[0] * 3])
    assert [match.head for match in match_heads(weights[0], twice)] == [3, 4, 5]


def test_a_head_that_is_a_little_more_alike_is_the_match(weights):
    away = weights[0][:1] + 0.01 * weights[1][:1]
    near = weights[0][:1] + 0.009 * weights[1][:1]
    one, other = correlations(weights[0][:1], torch.cat([away, near]))[0].tolist()
    assert 0 < other - one < 1e-3
    assert match_heads(weights[0][:1], torch.cat([away, near]))[0].head == 1


def test_maps_of_other_shapes_are_refused(weights):
    for compare in (jensen_shannon, correlations):
        with pytest.raises(ValueError, match=r"one shape to compare.*5, 7\).*5, 6\)"):
            compare(weights[0][:1], weights[1][:1, :, :-1])
