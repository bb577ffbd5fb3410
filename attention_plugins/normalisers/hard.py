"""Hard attention: all weight on the best key, with gradients as if it were a softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.contract import normaliser


def one_hot(weights: Tensor) -> Tensor:
    """1 on the first of the largest of each row, 0 elsewhere; the gradient is that of weights."""
    best = weights.argmax(dim=-1, keepdim=True)
    hard = torch.zeros_like(weights).scatter_(-1, best, 1.0)
    return hard + (weights - weights.detach())


@normaliser(
    "hard",
    title="Hard (straight-through)",
    formula=r"\mathbb{1}\left[i=\arg\max_j s_j\right]",
    reference="Xu et al. 2015, Show, attend and tell, section 4.1; Bengio, Léonard & Courville "
    "2013, Estimating or propagating gradients through stochastic neurons, section 4",
    description="All weight lies on the best key; gradients flow as through a softmax.",
)
def hard(scores: Tensor) -> Tensor:
    """One-hot at the largest score; the gradient of a softmax."""
    return one_hot(scores.softmax(dim=-1))
