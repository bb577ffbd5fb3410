import math

import numpy as np
import pytest
import torch
from torch.nn.functional import kl_div

from dashboard.charts.divergence import correlations, jensen_shannon, match_heads

QUERIES, KEYS = 5, 7


@pytest.fixture
def weights():
    """Two models' weights, ``(2, 3, queries, keys)``, whose rows sum to 1."""
    return np.random.default_rng(3).dirichlet(np.full(KEYS, 0.3), size=(2, 3, QUERIES))


def test_the_divergence_is_torchs_mean_of_two_relative_entropies(weights):
    one, other = torch.tensor(weights[0]), torch.tensor(weights[1])
    middle = (one + other) / 2
    nats = sum(kl_div(middle.log(), rows, reduction="none").sum(-1) / 2 for rows in (one, other))
    found = jensen_shannon(weights[0], weights[1])
    assert found.shape == (3, QUERIES)
    np.testing.assert_allclose(found, nats.numpy() / math.log(2), atol=1e-12)
    np.testing.assert_allclose(found, jensen_shannon(weights[1], weights[0]), atol=1e-12)


def test_rows_by_hand():
    rows = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]])
    others = np.array([[1.0, 0, 0, 0], [0, 0, 0.5, 0.5], [1.0, 0, 0, 0], [1.0, 0, 0, 0]])
    # H(3/4, 1/4) - H(1/2, 1/2) / 2
    third = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)) - 0.5
    np.testing.assert_allclose(jensen_shannon(rows, others), [0, 1, third, np.nan], atol=1e-12)


def test_what_is_masked_has_no_weight_and_rows_need_not_sum_to_one(weights):
    one, other = weights[0, 0].copy(), weights[1, 0].copy()
    one[:, 3] = other[:, 3] = np.nan
    kept = [0, 1, 2, 4, 5, 6]
    np.testing.assert_allclose(
        jensen_shannon(one, other), jensen_shannon(5 * one[:, kept], other[:, kept]), atol=1e-12
    )


def test_the_correlation_is_numpys_over_all_cells(weights):
    one, other = weights[0], weights[1][:2]
    r = correlations(one, other)
    assert r.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        assert r[i, j] == pytest.approx(np.corrcoef(one[i].ravel(), other[j].ravel())[0, 1])


def test_masked_cells_do_not_count(weights):
    one, other = weights[0].copy(), weights[1].copy()
    one[:, ~np.tri(QUERIES, KEYS, dtype=bool)] = np.nan
    seen = np.tri(QUERIES, KEYS, dtype=bool)
    wanted = np.corrcoef(one[1][seen], other[2][seen])[0, 1]
    assert correlations(one, other)[1, 2] == pytest.approx(wanted)


def test_heads_in_another_order_are_found_and_a_constant_one_has_no_match(weights):
    others = weights[0][[2, 0, 1]] * 0.5 + 0.1
    uniform = np.full((QUERIES, KEYS), np.float32(1 / KEYS))
    uniform[0, 0] += 1e-8  # what float32 makes of a softmax of equal scores
    found = match_heads(np.concatenate([weights[0], uniform[None]]), others)
    assert [match.head for match in found] == [1, 2, 0, None]
    np.testing.assert_allclose([match.r for match in found], [1, 1, 1, np.nan])
    assert [match.head for match in match_heads(weights[0], uniform[None])] == [None] * 3


def test_maps_of_other_shapes_are_refused(weights):
    for compare in (jensen_shannon, correlations):
        with pytest.raises(ValueError, match=r"one shape to compare.*5, 7\).*5, 6\)"):
            compare(weights[0][:1], weights[1][:1, :, :-1])
