"""Each figure at its ends, and against independent references."""

import math

import numpy as np
import pytest
import torch

from attention_plugins.health import (
    column_concentration,
    diagonality,
    entropy,
    figures,
    relative_entropy,
    row_error,
    share,
    verdicts,
)

QUERIES, KEYS = 5, 7


def _random():
    scores = torch.randn(3, QUERIES, KEYS, dtype=torch.float64, generator=torch.manual_seed(3))
    return scores.softmax(dim=-1)


def test_entropy_of_one_key_is_zero_and_of_all_alike_the_logarithm():
    rows = torch.stack([torch.eye(KEYS)[2], torch.full((KEYS,), 1 / KEYS)])
    torch.testing.assert_close(entropy(rows), torch.tensor([0.0, math.log(KEYS)]))


def test_relative_entropy_knows_how_many_keys_a_row_may_choose_from():
    causal = torch.ones(QUERIES, QUERIES, dtype=torch.bool).tril()
    spread = causal / causal.sum(dim=-1, keepdim=True)
    torch.testing.assert_close(relative_entropy(spread[None], causal), torch.ones(1))
    assert relative_entropy(torch.eye(QUERIES)[None], causal) == 0
    alone = torch.ones(2, 1, dtype=torch.bool)
    assert relative_entropy(torch.ones(1, 2, 1), alone).isnan()


def test_a_row_that_does_not_sum_to_one_is_measured():
    weights = _random()
    assert row_error(weights).max() < 1e-12
    weights[1, 2] *= 0.75
    torch.testing.assert_close(row_error(weights)[1].item(), 0.25)


def test_the_share_of_some_keys_is_the_mean_over_rows():
    weights = _random()
    last = torch.arange(KEYS) == KEYS - 1
    torch.testing.assert_close(share(weights, last), weights[..., -1].mean(dim=-1))


def test_all_rows_on_one_key_are_stuck():
    stuck = torch.zeros(1, QUERIES, KEYS)
    stuck[..., 4] = 1
    assert column_concentration(stuck) == 1
    uniform = torch.full((1, QUERIES, KEYS), 1 / KEYS)
    assert column_concentration(uniform).item() == pytest.approx(1 / KEYS)


def test_rows_on_a_key_each_are_sharp_and_not_stuck():
    """The mean of each column counts, not the largest weight of each row."""
    diagonal = torch.eye(QUERIES)[None]
    assert column_concentration(diagonal).item() == pytest.approx(1 / QUERIES)
    two = torch.eye(KEYS)[[3, 3, 3, 1, 0]][None]
    assert column_concentration(two).item() == pytest.approx(3 / QUERIES)


def test_diagonality_is_the_correlation_of_positions():
    square = torch.eye(QUERIES, dtype=torch.float64)
    found = diagonality(torch.stack([square, square.flip(0), torch.full_like(square, 0.2)]))
    torch.testing.assert_close(found, torch.tensor([1.0, -1.0, 0.0], dtype=torch.float64))
    weights = _random()
    rows, columns = np.indices((QUERIES, KEYS))
    for head, value in zip(weights, diagonality(weights), strict=True):
        covariance = np.cov(rows.ravel(), columns.ravel(), aweights=head.numpy().ravel(), ddof=0)
        expected = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
        assert value.item() == pytest.approx(expected, abs=1e-12)


def test_one_position_has_no_direction():
    assert diagonality(torch.ones(1, 1, 1)) == 0
    assert diagonality(torch.full((1, 1, KEYS), 1 / KEYS)) == 0


def _one(**figures):
    usual = {"row_error": 0.0, "padding": 0.0, "eos": 0.1, "entropy": 0.5, "concentration": 0.3,
             "diagonality": 0.2, "distance": 0.4}  # fmt: skip
    return verdicts(usual | figures)


def test_a_healthy_head_gets_no_verdict_and_an_unhealthy_one_its_own():
    assert _one() == []
    assert _one(row_error=0.01) == _one(row_error=math.nan) == ["row_sums"]
    assert _one(padding=1e-4) == ["padding"]
    assert _one(eos=0.95, concentration=0.95) == ["eos"]
    assert _one(eos=math.nan, concentration=0.95) == ["stuck"]
    assert _one(entropy=0.99, distance=0.001, padding=math.nan) == ["uniform", "untrained"]


@pytest.mark.parametrize(
    ("figure", "below", "above", "said"),
    [
        ("row_error", 0.9e-3, 1.1e-3, "row_sums"),
        ("padding", 0.9e-6, 1.1e-6, "padding"),
        ("eos", 0.49, 0.51, "eos"),
        ("concentration", 0.74, 0.76, "stuck"),
        ("entropy", 0.89, 0.91, "uniform"),
    ],
)
def test_a_verdict_begins_at_its_threshold(figure, below, above, said):
    assert _one(**{figure: below}) == []
    assert _one(**{figure: above}) == [said]


def test_a_head_is_as_untrained_up_to_a_twentieth_of_a_bit():
    assert _one(distance=0.051) == []
    assert _one(distance=0.049) == ["untrained"]


def test_the_entropy_of_a_decoder_is_relative_to_the_words_so_far():
    """Even weight on all that may be seen is 1; the words to come allow no more."""
    spread = torch.ones(1, QUERIES, QUERIES).tril()
    spread = spread / spread.sum(dim=-1, keepdim=True)
    assert figures(spread, spread, causal=True, eos=None)["entropy"].item() == pytest.approx(1)
    rows = [math.log(n) / math.log(QUERIES) for n in range(1, QUERIES + 1)]
    found = figures(spread, spread, causal=False, eos=QUERIES - 1)["entropy"].item()
    assert found == pytest.approx(sum(rows) / QUERIES, abs=1e-6)


def test_every_figure_of_a_map_is_there_and_a_decoder_has_no_eos():
    weights = _random()[:, :, :QUERIES]
    whole = figures(weights, weights, causal=False, eos=2)
    torch.testing.assert_close(whole["eos"], weights[..., 2].mean(dim=-1))
    assert whole["distance"].abs().max() < 1e-12
    causal = figures(weights.tril(), weights, causal=True, eos=None)
    assert causal["eos"].isnan().all()
    assert (causal["row_error"] > 0.1).all()
    assert {len(values) for values in causal.values()} == {3}
