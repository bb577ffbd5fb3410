"""Weights of keys that do not compete: sigmoid and ReLU."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.contract import normaliser
from attention_plugins.normalisers.support import allowed_keys


@normaliser(
    "relu",
    title="ReLU over n",
    formula=r"\frac{\max(s_i,0)}{n}",
    reference="Wortsman et al. 2023, Replacing softmax with ReLU in vision transformers, "
    "section 3",
    description="Keys with negative scores get exactly 0; the others do not compete.",
    sums_to_one=False,
)
def relu(scores: Tensor) -> Tensor:
    """``max(s_i, 0) / n`` with the number ``n`` of keys that are not ruled out."""
    return scores.clamp_min(0.0) / allowed_keys(scores)


@normaliser(
    "sigmoid",
    formula=r"\sigma(s_i-\ln n)",
    reference="Ramapuram et al. 2024, Theory, analysis, and best practices for sigmoid "
    "self-attention, equation 3",
    description="Keys do not compete: each is let in or not; ln n, with n keys that may be "
    "attended to, keeps the sum near 1 at first.",
    sums_to_one=False,
)
def sigmoid(scores: Tensor) -> Tensor:
    """``sigmoid(s_i - log n)`` with the number ``n`` of keys that are not ruled out."""
    return torch.sigmoid(scores - allowed_keys(scores).log())
