from __future__ import annotations

import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_plugins import Sizes, attend
from attention_plugins.scorings.dot import dot_product
from attention_plugins.scorings.scaled_dot import scaled_dot_product

QUERIES = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
KEYS = torch.randn(2, 13, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
VALUES = torch.randn(2, 13, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def test_dot_is_the_sum_of_products():
    expected = torch.einsum("bqd,bkd->bqk", QUERIES, KEYS)
    torch.testing.assert_close(dot_product.create(Sizes(5, 5, 1))(QUERIES, KEYS), expected)


def test_scaled_dot_is_dot_over_the_root_of_the_size():
    expected = torch.einsum("bqd,bkd->bqk", QUERIES, KEYS) / math.sqrt(5)
    torch.testing.assert_close(scaled_dot_product.create(Sizes(5, 5, 1))(QUERIES, KEYS), expected)


def test_dot_agrees_with_torch_at_scale_one():
    ours, _ = attend(dot_product.create(Sizes(5, 5, 1)), QUERIES, KEYS, VALUES)
    theirs = scaled_dot_product_attention(QUERIES, KEYS, VALUES, scale=1.0)
    torch.testing.assert_close(ours, theirs, atol=1e-14, rtol=1e-13)
