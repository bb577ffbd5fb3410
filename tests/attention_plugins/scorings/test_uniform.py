from __future__ import annotations

import torch

from attention_plugins import Sizes, attend
from attention_plugins.scorings.dot import average_pooling


def test_the_output_is_the_mean_of_the_allowed_values():
    values = torch.randn(2, 13, 3, generator=torch.Generator().manual_seed(0))
    scoring = average_pooling.create(Sizes(5, 2, 1))
    output, _ = attend(
        scoring, torch.randn(2, 7, 5), torch.randn(2, 13, 2), values, torch.tensor([13, 4])
    )
    assert not scoring(torch.randn(7, 5), torch.randn(13, 2)).any()
    torch.testing.assert_close(output[0], values[0].mean(dim=0).expand(7, 3))
    torch.testing.assert_close(output[1], values[1, :4].mean(dim=0).expand(7, 3))


def test_there_is_nothing_to_learn():
    assert not list(average_pooling.create(Sizes(5, 2, 1)).parameters())
