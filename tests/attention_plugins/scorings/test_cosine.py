from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_similarity

from attention_plugins import ContractError, Sizes
from attention_plugins.scorings.dot import COSINE

GENERATOR = torch.Generator().manual_seed(0)
QUERIES = torch.randn(2, 7, 5, generator=GENERATOR, dtype=torch.float64)
KEYS = torch.randn(2, 13, 5, generator=GENERATOR, dtype=torch.float64)


def scores(queries, keys, **values):
    scoring = COSINE.create(Sizes(5, 5, 1), values)
    return scoring(scoring.project_queries(queries), scoring.project_keys(keys)).detach()


def test_cosine_is_torchs_times_the_scale():
    expected = cosine_similarity(QUERIES.unsqueeze(-2), KEYS.unsqueeze(-3), dim=-1)
    torch.testing.assert_close(scores(QUERIES, KEYS), expected)
    torch.testing.assert_close(scores(QUERIES, KEYS, scale=7.0), 7 * expected)


def test_lengths_do_not_count():
    torch.testing.assert_close(scores(3.0 * QUERIES, 0.01 * KEYS), scores(QUERIES, KEYS))


def test_a_vector_of_length_zero_scores_zero():
    assert not scores(torch.zeros_like(QUERIES), KEYS).any()


def test_a_vector_of_length_zero_gets_no_exploding_gradient():
    queries = torch.zeros(3, 5, requires_grad=True)
    scoring = COSINE.create(Sizes(5, 5, 1))
    scoring(
        scoring.project_queries(queries), scoring.project_keys(KEYS[0].float())
    ).sum().backward()
    assert queries.grad.abs().max() < 1e8


@pytest.mark.parametrize("scale", [0.5, 51.0])
def test_the_scale_has_bounds(scale):
    with pytest.raises(ContractError, match="need 1 <= scale <= 50"):
        COSINE.create(Sizes(5, 5, 1), {"scale": scale})
