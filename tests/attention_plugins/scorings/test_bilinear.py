from __future__ import annotations

import torch

from attention_plugins import Sizes
from attention_plugins.scorings.bilinear import BILINEAR


def test_bilinear_is_a_product_of_three():
    scoring = BILINEAR.create(Sizes(query=3, key=5, hidden=7)).double()
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(2, 11, 3, generator=generator, dtype=torch.float64)
    keys = torch.randn(2, 13, 5, generator=generator, dtype=torch.float64)
    (matrix,) = scoring.parameters()
    expected = torch.einsum("bqi,ij,bkj->bqk", queries, matrix, keys)
    found = scoring(scoring.project_queries(queries), scoring.project_keys(keys))
    torch.testing.assert_close(found, expected)


def test_scores_start_with_the_variance_of_their_inputs():
    torch.manual_seed(0)
    scoring = BILINEAR.create(Sizes(query=67, key=131, hidden=7))
    queries, keys = torch.randn(401, 67), torch.randn(397, 131)
    found = scoring(scoring.project_queries(queries), scoring.project_keys(keys))
    assert 0.95 < found.std() < 1.05
