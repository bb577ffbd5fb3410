"""Sums over many keys without their n x n weights, for scorings of a distance."""

from __future__ import annotations

from attention_plugins.sums.attending import (
    MANY_SCORES,
    Pooled,
    has_fast_sum,
    pool_with_and_without,
    pool_without_weights,
    pools_without_weights,
    runs_without_weights,
)

__all__ = [
    "MANY_SCORES",
    "Pooled",
    "has_fast_sum",
    "pool_with_and_without",
    "pool_without_weights",
    "pools_without_weights",
    "runs_without_weights",
]
