from __future__ import annotations

import torch

from attention_plugins import Sizes
from attention_plugins.scorings.kernels import LAPLACIAN


def test_scores_are_laplace_densities_along_the_axes():
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    keys = torch.randn(13, 3, generator=generator, dtype=torch.float64)
    laplace = torch.distributions.Laplace(keys.unsqueeze(-3), 0.5)
    expected = laplace.log_prob(queries.unsqueeze(-2)).sum(dim=-1)  # each axis adds log(2 * 0.5)
    found = LAPLACIAN.create(Sizes(3, 3, 1), {"width": 0.5})(queries, keys)
    torch.testing.assert_close(found, expected)


def test_a_weight_that_training_made_negative_still_favours_near_keys():
    scoring = LAPLACIAN.create(Sizes(1, 1, 1), {"width": 0.5})
    with torch.no_grad():
        scoring.inverse_width.neg_()
        near, far = scoring(torch.zeros(1, 1), torch.tensor([[0.1], [3.0]]))[0]
        assert near > far
        assert scoring.width == 0.5
