"""cosFormer against its formula in loops; its linear form against its weights."""

import math

import pytest
import torch

from attention_plugins import Site, Sizes, Tap, attend
from attention_plugins.scorings.linear_attention import COSFORMER
from attention_plugins.tap import Recorder

SIZES = Sizes(5, 5, 5)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("longest", [4, 13, 512])
def test_weights_are_the_published_ones(longest):
    scoring = COSFORMER.create(SIZES, {"longest": longest})
    queries, keys, values = draw(7, 5), draw(11, 5, seed=1), draw(11, 3, seed=2)
    output, weights = attend(scoring, queries[None], keys[None], values[None], first=2)
    for i in range(7):
        row = []
        for j in range(11):
            pairs = zip(queries[i].tolist(), keys[j].tolist(), strict=True)
            near = sum(max(a, 0) * max(b, 0) for a, b in pairs)
            apart = min(i + 2, longest) - min(j, longest)
            row.append(near * math.cos(math.pi / 2 * apart / longest))
        expected = torch.tensor(row, dtype=torch.float64) / sum(row)
        torch.testing.assert_close(weights[0, i], expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(output[0, i], expected @ values, rtol=0, atol=1e-12)


def test_the_linear_form_gathers_what_the_weights_do():
    """Also where nothing in a query, or in a key, is positive."""
    scoring, site = COSFORMER.create(SIZES), Site("encoder", 0)
    queries, keys, values = draw(2, 7, 5), draw(2, 11, 5, seed=1), draw(2, 11, 3, seed=2)
    queries[0, 3], keys[1, 2] = -1.0, -1.0
    lengths, recorder = torch.tensor([11, 4]), Recorder()
    linear = Tap().attend(site, scoring, queries, keys, values, lengths)
    whole = Tap(recorder).attend(site, scoring, queries, keys, values, lengths)
    torch.testing.assert_close(linear, whole, rtol=0, atol=1e-12)
    assert (recorder.weights()[site][0, 3] == 0).all()
    assert (recorder.weights()[site][1, :, 2] == 0).all()
    assert (linear[0, 3] == 0).all()
