"""Gumbel-softmax: hard attention that explores while it trains."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.contract import NormaliserSpec, Parameter, Scalar
from attention_plugins.normalisers.hard import one_hot


class Gumbel(nn.Module):
    """A key is drawn by its weight in training; otherwise the best one is taken."""

    def __init__(self, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.temperature = float(values["temperature"])

    def forward(self, scores: Tensor) -> Tensor:
        """Scores to one-hot weights, with the gradient of a softmax at the temperature."""
        if self.training:
            tiny = torch.finfo(scores.dtype).tiny
            drawn = -torch.empty_like(scores).exponential_().clamp_min_(tiny).log()
            scores = torch.where(scores > torch.finfo(scores.dtype).min, scores + drawn, scores)
        best = scores.amax(dim=-1, keepdim=True).detach()
        return one_hot(((scores - best) / self.temperature).softmax(dim=-1))


GUMBEL = NormaliserSpec(
    name="gumbel",
    title="Hard, drawn in training (Gumbel)",
    formula=r"\mathbb{1}\left[i=\arg\max_j (s_j+g_j)\right],\ g_j\sim\text{Gumbel}",
    build=Gumbel,
    parameters=(
        Parameter(
            name="temperature",
            title="Temperature of the gradient",
            default=1.0,
            low=0.1,
            high=10.0,
            step=0.1,
            help="Of the softmax that gradients flow through.",
        ),
    ),
    reference="Jang, Gu & Poole 2017, Categorical reparameterization with Gumbel-softmax, "
    "section 2.2",
    description="Trains on keys drawn by their weight, and takes the best one afterwards.",
)
