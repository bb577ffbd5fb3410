"""Softmax off by one: a head may say nothing."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import normaliser


@normaliser(
    "off_by_one",
    title="Softmax off by one",
    formula=r"\frac{e^{s_i}}{1+\sum_j e^{s_j}}",
    reference="Miller 2023, Attention is off by one",
    description="As if one more key with score 0 and value 0 stood by: weights may sum to less "
    "than 1.",
    sums_to_one=False,
)
def off_by_one(scores: Tensor) -> Tensor:
    """``exp(s_i) / (1 + sum_j exp(s_j))``."""
    best = scores.amax(dim=-1, keepdim=True).clamp_min(0.0).detach()
    parts = (scores - best).exp()
    return parts / ((-best).exp() + parts.sum(dim=-1, keepdim=True))
